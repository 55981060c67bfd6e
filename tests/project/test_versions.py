"""What pyproject.toml allows is what was run: its oldest versions are in constraints-oldest.txt."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import stopwise

ROOT = Path(__file__).parents[2]
OURS = ("examples", "dask", "plots", "postgresql", "service", "sklearn", "tables")
NEEDED = re.compile(r"([A-Za-z0-9_-]+)(?:\[[a-z]+\])?(>=[^;]+?)(?:;.*)?")


def needed(lines: list[str]) -> dict[str, str]:
    """Versions that are allowed, by the package's name."""
    found = [NEEDED.fullmatch(line.strip()) for line in lines]
    assert all(found), "every package has a lower bound"
    return {each[1].lower(): each[2].strip() for each in found if each}


def project() -> dict[str, dict[str, str]]:
    """The same of every group; the packages that all users need are the group ''."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = {"": table["dependencies"], **table["optional-dependencies"]}
    return {group: needed(lines) for group, lines in groups.items()}


def pinned(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text().splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith("#")]
    return {package.lower(): version for package, version in pairs}


def test_the_oldest_versions_are_those_that_were_run() -> None:
    found = project()
    bounds = {name: text for group in ("", *OURS) for name, text in found[group].items()}
    oldest = {name: text.removeprefix(">=").split(",")[0] for name, text in bounds.items()}
    assert oldest == pinned("constraints-oldest.txt")


def test_a_package_has_one_bound() -> None:
    """Whoever needs it, developers included."""
    seen: dict[str, str] = {}
    for packages in project().values():
        for name, text in packages.items():
            assert seen.setdefault(name, text) == text, name


def test_numba_has_an_upper_bound_that_was_run() -> None:
    """Its insides are used: a version that was never tried is not allowed."""
    below = project()[""]["numba"].partition("<")[2]
    major, minor, _ = pinned("constraints.txt")["numba"].split(".")
    assert below == f"{major}.{int(minor) + 1}"


def test_the_version_is_written_once() -> None:
    """Installers get the package's own, which needs no import of importlib.metadata at run time."""
    assert "version" not in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [sys.executable, "-m", "hatchling", "metadata", "version"]
    told = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert told.strip() == stopwise.__version__
