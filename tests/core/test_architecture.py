"""Rooms, and who may look into whom (docs/architecture.md)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import stopwise
from stopwise.core import registry

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
    "engine": {"sampling", "stopping"},
    "paired": {"stopping"},
    "studies": {"engine", "paired"},
    "timing": {"paired"},
    "evals": {"campaign"},
    "campaign": {"engine", "paired"},
    "testing": {"campaign", "studies"},
    "web": {"campaign", "studies"},
    "cli": {"campaign", "studies", "timing", "web"},
}
PRINTING = ("studies", "campaign", "timing", "evals", "cli", "web")
FORBIDDEN_BELOW = {"matplotlib", "pandas", "time", "datetime", "random", "sqlite3", "rich", "typer"}
# modules in which problems, families, strategies and stopping rules are not named: declarations of
# verbs, and what the kinds of a room share
SHARED = {
    *("families.verbs", "families.checks", "families.laws", "families.mirror", "families.mixtures"),
    *("families.students_t", "families.priced", "families.bets", "families.posterior"),
    *("families.surprise", "families.spacings"),
    *("problems.verbs", "problems.rounds", "problems.limits", "problems.asked", "problems.ranking"),
    *("sampling.verbs", "sampling.tracking", "sampling.thrift", "sampling.with_radius"),
    *("stopping.verbs", "stopping.likelihood", "stopping.constants", "stopping.intervals"),
    *("stopping.purse", "stopping.missing"),
}
ROLES = ("families", "problems", "sampling", "stopping")


@cache
def allowed(room: str) -> set[str]:
    return BELOW[room] | {far for near in BELOW[room] for far in allowed(near)}


def place(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(path: Path) -> set[str]:
    """Modules of this package that a file imports, also inside functions, without the package."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
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


@pytest.mark.parametrize("path", FILES, ids=place)
def test_arrows_between_rooms(path: Path) -> None:
    room = place(path).split(".")[0]
    if room not in BELOW:  # the package itself
        return
    rooms = {name.split(".")[0] for name in own_modules(path)} - {room}
    assert rooms <= allowed(room)


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


@pytest.mark.parametrize("path", FILES, ids=place)
def test_nobody_knows_a_problem_family_strategy_or_rule_by_name(path: Path) -> None:
    """Concrete ones are imported in their own room only, and there by what they are made of.

    The paper's experiments are about concrete ones, which they take from the package as users do.
    """
    here = place(path)
    homes = set(registry.public().values())
    taken = set() if here.startswith("studies.paper") else taken_from_package(path)
    concrete = {
        name
        for name in own_modules(path) | taken
        if name.split(".")[0] in ROLES
        and name not in (*SHARED, *ROLES)
        and (f"stopwise.{name}" in homes or name.split(".")[0] != here.split(".")[0])
    }
    same_folder = {name for name in concrete if here.split(".")[:2] == name.split(".")[:2]}
    related = {  # one law is a special case of the other; Sticky's region is the engine's to set
        "families.exponential": {"families.gamma"},
        "families.binomial": {"families.bernoulli"},
        "families.bounded": {"families.bounded_coin", "families.gaussian"},
        "families.bounded_coin": {"families.bernoulli"},
        "families.priced": {"families.gaussian"},
        "engine.region": {"sampling.sticky"},
        "studies.paper.figure1": {"sampling.sticky"},
    }
    assert concrete - same_folder <= related.get(here, set())


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


@pytest.mark.parametrize("path", FILES, ids=place)
def test_no_files_clocks_or_printing_below_studies_and_campaigns(path: Path) -> None:
    if place(path).split(".")[0] in PRINTING or place(path) == "core.waiting":
        return
    assert not {name.split(".")[0] for name in imports(path)} & FORBIDDEN_BELOW
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    assert not [node for node in calls if getattr(node.func, "id", "") == "print"]


def test_no_file_is_long() -> None:
    for path in FILES:
        assert len(path.read_text().splitlines()) <= 600, path


def test_dispatch_does_not_depend_on_what_was_imported() -> None:
    """The engine alone once chose another function for a user's cells than the whole package did."""
    script = """
import sys
from stopwise.core import registry
from stopwise.engine import loop
if sys.argv[1] == "all":
    from importlib import import_module
    for module in set(registry.public().values()):
        import_module(module)
from stopwise.problems import verbs
problems, families = registry.load("problem"), registry.load("family")
for name in sorted(vars(verbs)):
    verb = getattr(verbs, name)
    if hasattr(verb, "dispatch"):
        for problem in sorted(problems):
            for family in sorted(families):
                found = verb.dispatch(problems[problem], families[family]) if verb.on == 2 else (
                    verb.dispatch(problems[problem]))
                print(name, problem, family, found.__module__, found.__qualname__)
"""
    printed = [
        subprocess.run(
            [sys.executable, "-c", script, which], capture_output=True, text=True, check=True
        ).stdout
        for which in ("engine", "all")
    ]
    assert printed[0] == printed[1]
    assert printed[0].count("\n") > 1000


def test_every_public_name_is_there() -> None:
    for name in stopwise.__all__:
        assert getattr(stopwise, name) is not None
    assert set(stopwise.__all__) <= set(dir(stopwise))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = stopwise.nothing
