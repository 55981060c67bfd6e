"""Seconds from the start of a process to its first result: with an empty cache, and with a warm one.

python bench/first_result.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

from oracles import Row, limited, show

START = "import stopwise as sw\n"
CELLS = """
edges = [2.0 * place / {count} - 1.0 for place in range(1, {count})]
alternatives = {{}}
for place in range({count}):
    above = [sw.Polyhedron([[1.0, 0.3]], [edges[place] + 0.1])] if place < {count} - 1 else []
    below = [sw.Polyhedron([[-1.0, -0.3]], [0.1 - edges[place - 1]])] if place else []
    alternatives[{label}] = above + below
sw.run(sw.Cells(2, alternatives), [0.5, 0.1], family=sw.Gaussian(), delta=0.1, max_rounds=2000,
       strategy=sw.StickyTrackAndStop(), stopping=sw.MixtureMartingale(), seed=1)
"""
PRODUCT = """
sw.run(sw.Product([{parts}]), [0.9, 0.1, 0.2, 0.8, 0.3][: {arms}], family=sw.Bernoulli(), delta=0.1,
       seed=1)
"""
TWO = "(sw.BestArm(2), [0, 2]), (sw.AnyLowArm(1, 0.5), [1])"
PROGRAMS = {  # a program, and the most that it may take with an empty cache
    "best arm, K = 4": (
        "sw.run(sw.BestArm(4), [0.5, 0.45, 0.43, 0.4], family=sw.Bernoulli(), delta=0.1, seed=1)",
        6.0,
    ),
    "epsilon-best arm, K = 5, Sticky": (
        "sw.run(sw.BestArm(5, 0.1), [0.9, 0.5, 0.4, 0.4, 0.3], family=sw.Bernoulli(), seed=1)",
        6.0,
    ),
    "any low arm, K = 3, Gaussian": (
        "sw.run(sw.AnyLowArm(3, 0.0), [-1, 1, 1], family=sw.Gaussian(), delta=0.1, seed=1)",
        6.0,
    ),
    "Sticky, Figure 2": (
        """
normals = [[0.8 if k == m else 0.2 / 9 for k in range(10)] for m in range(10)]
sw.run(sw.AnyHalfSpace(normals), [-0.1] * 10, family=sw.Gaussian(), delta=2.718281828459045**-80,
       strategy=sw.StickyTrackAndStop(), stopping=sw.Stylized(), seed=1)
""",
        6.0,
    ),
    "Product of two": (PRODUCT.format(parts=TWO, arms=3), 10.0),
    "Product of three": (
        PRODUCT.format(parts=f"{TWO}, (sw.Thresholding(2, 0.5), [3, 4])", arms=5),
        18.0,
    ),
    "Cells": (CELLS.format(count=3, label="str(place)"), 18.0),
    "plan, three strategies": (
        "sw.plan(sw.BestArm(3), [0.7, 0.5, 0.3], family=sw.Bernoulli(), seed=1)",
        15.0,
    ),
}
OWN = """
import stopwise as sw

class Turns(sw.Direct):
    def next_arm(self, instance, state, rounds, rng):
        return rounds % state.taken.size

sw.run(sw.BestArm(4), [0.5, 0.45, 0.43, 0.4], family=sw.Bernoulli(), strategy=Turns(), delta=0.1,
       seed=1)
"""


def seconds(command: list[str], folder: str) -> float:
    """From the start of a process to its end, with kernels kept in this folder."""
    environment = {**os.environ, "STOPWISE_CACHE_DIR": folder, "STOPWISE_QUIET": "1"}
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def program(text: str) -> list[str]:
    """A command that runs it."""
    return [sys.executable, "-c", START + textwrap.dedent(text)]


def first_and_again(name: str) -> list[Row]:
    """A short run in a new process: nothing compiled before, and everything."""
    text, limit = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as folder:
        first = seconds(program(text), folder)
        again = min(seconds(program(text), folder) for _ in range(3))
        rows = [
            limited(f"{name}: empty cache", first, limit, " s"),
            limited(f"{name}: warm cache", again, 1.0 if "plan" not in name else 15.0, " s"),
        ]
        if name == "Cells":
            other = CELLS.format(count=24, label="(place, 'th')")
            rows.append(limited("other Cells, warm", seconds(program(other), folder), 1.5, " s"))
    return rows


def own_strategy() -> list[Row]:
    """A strategy of the user's own, in a file; the built-in ones are compiled."""
    with tempfile.TemporaryDirectory() as folder:
        seconds(program(PROGRAMS["best arm, K = 4"][0]), folder)
        script = Path(folder) / "script.py"
        script.write_text(OWN)
        command = [sys.executable, str(script)]
        return [
            limited("own strategy: first", seconds(command, folder), 3.0, " s"),
            limited("own strategy: next process", seconds(command, folder), 1.2, " s"),
        ]


def start_up() -> list[Row]:
    """Nothing is compiled for these."""

    def best(code: str) -> float:
        return min(seconds([sys.executable, "-c", code], "") for _ in range(7))

    bare = best("pass")
    shown = best(
        "import sys; sys.argv = ['stopwise', '--help']; from stopwise.cli.main import main; main()"
    )
    return [
        limited("stopwise --help", 1e3 * shown, 250.0, " ms"),
        limited(
            "import stopwise, beyond Python", 1e3 * (best("import stopwise") - bare), 100.0, " ms"
        ),
    ]


def main() -> None:
    """Measure everything and print the report."""
    rows = start_up()
    for name in PROGRAMS:
        rows += first_and_again(name)
    show([*rows, *own_strategy()])


if __name__ == "__main__":
    main()
