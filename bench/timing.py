"""``stopwise bench`` beside hyperfine: wrong claims, runs needed, and what measuring costs.

python bench/timing.py [COMPARISONS] [SECONDS]: so many of each true ratio, each within so many seconds.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from stopwise.core.tables import text_table
from stopwise.timing.commands import Command, measure
from stopwise.timing.race import Race, Rules

LOOP = """#include <stdlib.h>
int main(int c, char **v) {
  volatile unsigned x = 1;
  for (long i = 0, n = atol(v[1]); i < n; i++) x = x * 1664525u + 1013904223u;
  return c > 2;
}
"""
COUNT = 4_000_000


def build(folder: str) -> str:
    """A program whose time is proportional to its argument."""
    source, program = Path(folder, "loop.c"), str(Path(folder, "loop"))
    source.write_text(LOOP)
    subprocess.run([shutil.which("cc") or "gcc", "-O1", "-o", program, str(source)], check=True)
    return program


def overhead() -> None:
    """Beside a bare spawn and wait, in turn on one machine; medians of 300 runs."""
    command, bare, ours = Command("true", ("/bin/true",), timeout=60.0), [], []
    for _ in range(300):
        begun = time.perf_counter()
        os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
        middle = time.perf_counter()
        measure(command)
        bare.append(middle - begun)
        ours.append(time.perf_counter() - middle)
    spent = np.median(ours) - np.median(bare)
    print(
        f"one run beyond spawning and waiting: {1e3 * spent:.2f} ms (bare: {1e3 * np.median(bare):.2f})"
    )


def ours(program: str, ratio: float, seconds: float, seed: int) -> tuple[str, int]:
    """What we claim of the slower one against the faster one: "right", "wrong", "near" or nothing."""
    counts = (COUNT, round(COUNT * ratio))
    crew = [Command(str(n), (program, str(n))) for n in counts]
    race = Race(("fast", "slow"), Rules(budget=seconds, seed=seed))
    race.run([lambda each=each: measure(each) for each in crew])
    verdict = race.session.verdict()
    if not verdict.decided:
        return "nothing", verdict.items
    if len(verdict.winners) == 2:
        return "near", verdict.items
    return ("right" if verdict.winners == (0,) and ratio > 1.0 else "wrong"), verdict.items


def theirs(program: str, ratio: float) -> tuple[str, int]:
    """hyperfine's own count of runs; the claim is of means whose deviations do not overlap."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        commands = [f"{program} {n}" for n in (COUNT, round(COUNT * ratio))]
        more = ["--style", "none", "-N", "-w", "3", "--export-json", file.name]
        subprocess.run(["hyperfine", *more, *commands], check=True, capture_output=True)
        fast, slow = json.load(file)["results"]
    runs = len(fast["times"])
    errors = [each["stddev"] / len(each["times"]) ** 0.5 for each in (fast, slow)]
    apart = abs(fast["mean"] - slow["mean"]) > 1.96 * (errors[0] ** 2 + errors[1] ** 2) ** 0.5
    if not apart:
        return "nothing", runs
    return ("right" if fast["mean"] < slow["mean"] and ratio > 1.0 else "wrong"), runs


def main(comparisons: int, seconds: float) -> None:
    """Print both."""
    overhead()
    with tempfile.TemporaryDirectory() as folder:
        program, rows = build(folder), []
        for ratio in (1.0, 1.02, 1.1):
            for name in ("stopwise", "hyperfine"):
                found = [
                    ours(program, ratio, seconds, k)
                    if name == "stopwise"
                    else theirs(program, ratio)
                    for k in range(comparisons)
                ]
                said = [claim for claim, _ in found]
                counts = [str(said.count(each)) for each in ("right", "wrong", "near", "nothing")]
                runs = f"{np.mean([runs for _, runs in found]):,.0f}"
                rows.append([f"{ratio:.2f}", name, *counts, runs])
    header = ["ratio", "", "right", "wrong", "no difference above 2 %", "nothing", "runs of each"]
    print(text_table(header, rows))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, float((sys.argv[2:] or ["20"])[0]))
