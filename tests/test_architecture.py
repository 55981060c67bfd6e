"""Rooms, and who may look into whom (docs/architecture.md)."""

from __future__ import annotations

import ast
from pathlib import Path

import stopwise

ROOT = Path(stopwise.__file__).parent
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "verbs": set(),
    "report": set(),
    "values": set(),
    "arrays": {"verbs"},
    "checks": {"errors", "families"},
    "families": {"errors", "verbs", "values", "checks"},
    "shapes": {"arrays", "verbs", "checks", "families"},
    "problems": {"arrays", "errors", "verbs", "values", "checks", "families", "shapes"},
    "oracles": {"arrays", "errors", "verbs", "checks", "families", "shapes", "problems"},
    "stopping": {"arrays", "errors", "verbs", "values", "checks", "families", "problems"},
    "sampling": {
        *("arrays", "errors", "verbs", "values", "checks"),
        *("families", "shapes", "problems", "oracles"),
    },
    "engine": {
        *("arrays", "errors", "verbs", "checks", "families"),
        *("problems", "oracles", "sampling", "stopping"),
    },
    "results": {"checks", "engine", "errors", "problems", "quantities", "report"},
    "simulation": {
        *("checks", "engine", "errors", "families", "pictures"),
        *("problems", "results", "stopping"),
    },
    "pictures": {"simulation"},
    "quantities": {"errors", "checks", "families", "problems", "oracles", "report"},
    "testing": {"campaign", "checks", "errors", "families", "oracles", "problems", "quantities"},
    "spelling": {"errors", "families", "problems", "sampling", "stopping"},
    "campaign": {
        *("", "checks", "engine", "errors", "families", "problems", "quantities"),
        *("report", "results", "sampling", "spelling", "verbs"),
    },
    "public": {
        *("errors", "families", "problems", "quantities", "results"),
        *("sampling", "simulation", "stopping", "studies"),
    },
    "web": {"", "campaign", "errors", "families", "problems", "quantities", "stopping"},
    "cli": {"", "campaign", "errors", "quantities", "spelling", "studies", "web"},
    "studies": {
        *("", "checks", "engine", "errors", "families", "pictures", "problems", "quantities"),
        *("report", "results", "sampling", "simulation", "spelling", "stopping", "values", "verbs"),
    },
}
FORBIDDEN_BELOW = {"matplotlib", "pandas", "time", "datetime", "random", "sqlite3", "rich", "typer"}


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            if node.module == "stopwise":
                found |= {f"stopwise.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def test_arrows_between_rooms() -> None:
    for path in ROOT.rglob("*.py"):
        if path == ROOT / "__init__.py":
            continue
        rooms = {
            name.split(".")[1] if "." in name else ""
            for name in imports(path)
            if name.split(".")[0] == "stopwise"
        }
        rooms.discard("__version__")
        if any(name != "" for name in rooms):
            rooms.discard("" if room(path) not in ("campaign", "cli", "studies", "web") else "-")
        assert rooms - {room(path)} <= ALLOWED[room(path)], path


def test_no_files_clocks_or_printing_below_the_command_line() -> None:
    for path in ROOT.rglob("*.py"):
        if room(path) in ("campaign", "cli", "pictures", "studies", "web"):
            continue
        assert not {name.split(".")[0] for name in imports(path)} & FORBIDDEN_BELOW, path
        assert "print(" not in path.read_text(), path


def test_no_file_is_long() -> None:
    for path in ROOT.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 420, path
