"""``tools/counts.py`` on a small checkout, of which every count is known."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "counts.py"
FAMILIES = '''"""A family."""
import importlib
from typing import Any, NamedTuple

from numba import njit, types
from stopwise.core.verbs import verb


class _Coin(NamedTuple):
    bias: float


class Coin(_Coin):
    extra: list[Any]


class Lone(NamedTuple):
    place: int


@verb(inline=True)
def draw(family: Any, a: int, b: int, c: int, d: int, e: int, *f: int) -> Any: ...


@draw.register(Coin)
def _draw(self, a, b, c, d, e, f): ...


def startswith_is_no_import(name: str) -> bool:
    return name.startswith("numba.core")
'''
INTERNALS = """import importlib

def internal(name):
    return importlib.import_module(f"numba.core.{name}")

def replacements():
    return []
"""
READING = 'from numba.core import compiler\nname = "a"\n'


def counts(checkout: Path, *options: str) -> dict[str, list[str]]:
    """The report's rows, by their names."""
    command = [sys.executable, str(TOOL), str(checkout), "--quick", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [re.split(r"\s{2,}", line) for line in done.stdout.splitlines()[2:]]
    return {name: cells for name, *cells in rows}


def test_counts_of_a_small_checkout(tmp_path: Path) -> None:
    package = tmp_path / "src" / "stopwise"
    files = {
        "families/coin.py": FAMILIES,
        "core/deep/inside.py": INTERNALS,
        "core/cache.py": READING,
        "web/app.py": "def page(a, b, c, d, e, f, g): ...\n",  # no numerical room
    }
    for name, text in files.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    found = counts(tmp_path)
    lines = {name: text.count("\n") for name, text in files.items()}
    assert found["lines of core"] == [str(7 + 2), "-"]
    assert found["lines of families"] == [str(lines["families/coin.py"]), "-"]
    assert found["lines of the numerical rooms"][0] == str(9 + lines["families/coin.py"])
    assert found["functions with 7 parameters or more"] == ["1", "<= 20", "yes"]
    assert found["Any in annotations"] == ["3", "<= 250", "yes"]
    assert found["lines of modules that replace numba's internals"] == ["7", "<= 330", "yes"]
    assert found["lines of modules that read numba's internals"] == ["2", "-"]
    assert [found[name][0] for name in ("verbs", "registrations", "twins of fields")] == ["1"] * 3
    (package / "core" / "cache.py").unlink()
    compared = counts(tmp_path, "--against", str(TOOL.parents[1]))
    assert compared["lines of core"][1] == "7"
    assert int(compared["lines of core"][0].replace(",", "")) > 7
