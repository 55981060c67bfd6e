"""Rooms, and who may look into whom (docs/architecture.md)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import stopwise
from stopwise.core import registry
from stopwise.core.values import Value

ROOT = Path(stopwise.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
# every room with the rooms that it may import; what those may import it may too
BELOW: dict[str, set[str]] = {
    "core": set(),
    "families": {"core"},
    "cells": {"families"},
    "problems": {"cells"},
    "oracles": {"problems"},
    "sampling": {"oracles"},
    "stopping": {"problems"},
    "baselines": {"sampling", "stopping"},
    "engine": {"sampling", "stopping"},
    "paired": {"stopping"},
    "studies": {"engine", "paired"},
    "reproduce": {"studies"},
    "timing": {"paired"},
    "evals": {"campaign"},
    "campaign": {"engine", "paired"},
    "testing": {"campaign", "studies"},
    "web": {"campaign", "studies"},
    "cli": {"campaign", "reproduce", "timing", "web"},
}
PRINTING = ("studies", "reproduce", "campaign", "timing", "evals", "cli", "web")
FORBIDDEN_BELOW = {"matplotlib", "pandas", "time", "datetime", "random", "sqlite3", "rich", "typer"}


@cache
def allowed(room: str) -> set[str]:
    return BELOW[room] | {far for near in BELOW[room] for far in allowed(near)}


def place(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def run_time(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under ``if TYPE_CHECKING``."""
    yield tree
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield from run_time(node)


def imports(path: Path) -> set[str]:
    """Modules that a file imports, also inside functions; not those for type checkers only."""
    found = set()
    for node in run_time(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {node.module, *names} if node.module.startswith("stopwise") else {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def own_modules(path: Path) -> set[str]:
    known = {place(file) for file in FILES}
    inside = {name.removeprefix("stopwise.") for name in imports(path)}
    return {name for name in inside if name in known and name}


def taken_from_package(path: Path) -> set[str]:
    """Where the names live of ``from stopwise import BestArm`` and ``sw.BestArm``."""
    used = {
        node.attr
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in ("sw", "stopwise")
    }
    used |= {name.removeprefix("stopwise.") for name in imports(path)}
    homes = registry.public()
    return {homes[name].removeprefix("stopwise.") for name in used if name in homes}


def test_arrows_between_rooms() -> None:
    assert {place(path).split(".")[0] for path in FILES} - {"__init__"} == set(BELOW)
    wrong = []
    for path in FILES:
        room = place(path).split(".")[0]
        rooms = {name.split(".")[0] for name in own_modules(path)} - {room}
        if room in BELOW and not rooms <= allowed(room):  # the package itself may import all
            wrong.append((place(path), rooms - allowed(room)))
    assert wrong == []


def test_no_two_modules_import_each_other() -> None:
    """Not even by a detour: the modules can be put in one order."""
    edges = {place(path): own_modules(path) - {place(path)} for path in FILES}
    # a package's own __init__ gathers what is below it
    for name, others in edges.items():
        edges[name] = {each for each in others if not name.startswith(f"{each}.")}
    left = dict(edges)
    while left:
        free = [name for name, others in left.items() if not others & set(left)]
        assert free, f"these import each other: {sorted(left)}"
        for name in free:
            del left[name]


# one law is a special case of the other; Sticky's region is the engine's to set
RELATED = {
    "families.bounded": {"families.gaussian"},
    "families.priced": {"families.gaussian"},
    "engine.region": {"sampling.sticky"},
    "reproduce.figure1": {"sampling.sticky"},
}


@cache
def concrete() -> set[str]:
    """Modules of concrete problems, families, strategies and stopping rules, with those of their folders."""
    kinds = [kind for role in registry.ROOMS for kind in registry.load(role).values()]
    homes = {kind.__module__.removeprefix("stopwise.") for kind in kinds}
    folders = {home.rpartition(".")[0] for home in homes if home.count(".") > 1}
    return homes | {name for name in map(place, FILES) if {name, name.rpartition(".")[0]} & folders}


def known_by_name(path: Path) -> set[str]:
    """Modules of concrete problems, families, strategies and rules that a file imports from elsewhere.

    The paper's experiments are about concrete ones, which they take from the package as users do.
    """
    here = place(path)
    taken = set() if here.split(".")[0] == "reproduce" else taken_from_package(path)
    homes = set(registry.public().values())
    return {
        name
        for name in concrete() & (own_modules(path) | taken)
        if (f"stopwise.{name}" in homes or name.split(".")[0] != here.split(".")[0])
        and name.split(".")[:2] != here.split(".")[:2]  # a folder's own
    }


def test_nobody_knows_a_problem_family_strategy_or_rule_by_name() -> None:
    """Concrete ones are imported in their own room only, and there by what they are made of."""
    known = {place(path): known_by_name(path) for path in FILES}
    surplus = {here: names - RELATED.get(here, set()) for here, names in known.items()}
    assert {here: names for here, names in surplus.items() if names} == {}


def test_the_page_knows_none_of_them_by_name() -> None:
    """Its words come from the service; only what an empty form chooses first is named."""
    names = [name for role in registry.ROOMS for name in registry.names(role)]
    said = {
        (path.name, name)
        for path in (ROOT / "web" / "static").glob("*.js")
        for name in names
        if re.search(rf"[\"'`]{name}[\"'`]|^ *{name}:", path.read_text(), re.M)
    }
    assert said == {("form.js", "best-arm"), ("form.js", "bernoulli")}


def test_no_files_clocks_or_printing_below_studies_and_campaigns() -> None:
    wrong = []
    for path in FILES:
        if place(path).split(".")[0] in PRINTING or place(path) == "core.waiting":
            continue
        tree = ast.parse(path.read_text())
        calls = [
            getattr(node.func, "id", "") for node in ast.walk(tree) if isinstance(node, ast.Call)
        ]
        found = {name.split(".")[0] for name in imports(path)} & FORBIDDEN_BELOW
        if found or "print" in calls:
            wrong.append((place(path), found))
    assert wrong == []


METHODS = """
import sys
from importlib import import_module
from stopwise.core import registry
from stopwise.core.values import Role
if sys.argv[1] == "all":
    for module in sorted(set(registry.public().values())):
        import_module(module)
problems, families = registry.load("problem"), registry.load("family")
for problem in sorted(problems):
    for name in sorted(dir(problems[problem])):
        method = getattr(problems[problem], name)
        for family in sorted(families if hasattr(method, "table") else ()):
            found = method.dispatch(families[family])
            print(problem, name, family, found.__module__, found.__qualname__)
"""


def test_variants_do_not_depend_on_what_was_imported() -> None:
    """The engine alone once chose another function for a user's cells than the whole package did."""
    printed = [
        subprocess.run(
            [sys.executable, "-c", METHODS, which], capture_output=True, text=True, check=True
        ).stdout
        for which in ("these", "all")
    ]
    assert printed[0] == printed[1]
    assert printed[0].count("\n") > 100


def values() -> list[type[Value]]:
    """Every class with methods that compiled code may call."""
    for path in FILES:
        if place(path).split(".")[0] in ("families", "cells", "problems", "sampling", "stopping"):
            import_module(f"stopwise.{place(path)}")

    def below(kind: type[Value]) -> list[type[Value]]:
        return [kind, *(each for near in kind.__subclasses__() for each in below(near))]

    return [kind for kind in below(Value) if kind.__module__.startswith("stopwise.")]


def test_a_method_has_the_parameters_of_the_one_that_it_replaces() -> None:
    """As many, also in variants for some families: compiled code gives arguments by their places."""
    wrong, compared = [], 0
    for kind in values():
        for name, method in vars(kind).items():
            if name.startswith("__") or not isinstance(method, FunctionType):
                continue
            table: dict[type, Any] = getattr(method, "table", {})
            replaced = [getattr(base, name) for base in kind.__mro__[1:] if name in vars(base)]
            for other in [*replaced, *table.values()]:
                compared += 1
                if len(signature(other).parameters) != len(signature(method).parameters):
                    wrong.append(f"{kind.__name__}.{name}")
    assert wrong == []
    assert compared > 300


def test_importing_stopwise_loads_no_heavy_library() -> None:
    heavy = {"numba", "scipy", "matplotlib", "rich", "pandas", "pyarrow"}
    code = f"import sys, stopwise; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there() -> None:
    for name in stopwise.__all__:
        assert getattr(stopwise, name) is not None
    assert set(stopwise.__all__) <= set(dir(stopwise))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = stopwise.nothing
