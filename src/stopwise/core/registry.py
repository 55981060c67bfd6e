"""Where everything lives that has a name: the public names, and what files and commands can spell.

``stopwise/__init__.pyi`` lists every public name with its module, once: type checkers read it, and so
does this. Problems, families, strategies and stopping rules, each in the rooms of its role, are known to
files, commands and forms by their names in small letters, ``best-arm`` for BestArm. An installed package
adds to them by entry points of the groups below, a program by defining the class.
"""

from __future__ import annotations

import ast
import functools
import re
from importlib import import_module
from pathlib import Path
from typing import Any

ROOMS = {
    "problem": ("stopwise.problems",),
    "family": ("stopwise.families",),
    "strategy": ("stopwise.sampling", "stopwise.baselines"),
    "stopping": ("stopwise.stopping", "stopwise.baselines"),
}
MIXED = "stopwise.baselines"  # strategies and their rules: the class itself says what it is
GROUPS = {
    "problem": "stopwise.problems",
    "family": "stopwise.families",
    "strategy": "stopwise.strategies",
    "stopping": "stopwise.stopping",
}
# modules whose public classes no file spells: the roles themselves, and parts of strategies
PARTS = (
    "stopwise.families.family",
    "stopwise.problems.problem",
    "stopwise.sampling.strategy",
    "stopwise.stopping.likelihood",
    "stopwise.stopping.rule",
)

_entered: dict[str, dict[str, type]] = {role: {} for role in ROOMS}


@functools.cache
def public() -> dict[str, str]:
    """Every public name with the module that it lives in."""
    listed = ast.parse((Path(__file__).parent.parent / "__init__.pyi").read_text(encoding="utf-8"))
    return {
        alias.name: node.module
        for node in listed.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def spelled(name: str) -> str:
    """BestArm -> best-arm, KLLUCB -> kllucb."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def enter(role: str, kind: type) -> None:
    """A class of this role has been defined."""
    _entered[role][spelled(kind.__name__)] = kind


@functools.cache
def _built_in(role: str) -> dict[str, tuple[str, str]]:
    return {
        spelled(name): (module, name)
        for room in ROOMS[role]
        for name, module in public().items()
        if module.startswith(f"{room}.") and module not in PARTS
        if room != MIXED or getattr(import_module(module), name).role == role
    }


@functools.cache
def _installed(role: str) -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUPS[role])}


def names(role: str) -> tuple[str, ...]:
    """The names of a role: the library's own, then others'."""
    return tuple(dict.fromkeys((*_built_in(role), *_installed(role), *_entered[role])))


def find(role: str, name: str) -> Any:
    """The class of this name; None if there is none."""
    if name in _built_in(role):
        module, attribute = _built_in(role)[name]
        return getattr(import_module(module), attribute)
    if name in _entered[role]:
        return _entered[role][name]
    if name not in _installed(role):
        return None
    kind = _installed(role)[name].load()
    _entered[role].pop(spelled(kind.__name__), None)  # its package gives it its name
    return kind


def load(role: str) -> dict[str, Any]:
    """Every class of a role by its name."""
    return {name: find(role, name) for name in names(role)}
