"""Problem, family, strategy and stopping rule are roles that a type checker knows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SNIPPET = """
import stopwise as sw

good = sw.simulate(sw.BestArm(2), [1.0, 0.0], family=sw.Gaussian([1.0, 2.0]))
sw.simulate(sw.BestArm, "hello", family=sw.Gaussian())  # problem
sw.simulate(sw.BestArm(2), [1.0, 0.0])  # family
sw.simulate(sw.BestArm(2), [1.0, 0.0], family="gaussian")  # family
sw.simulate(sw.BestArm(2), [1.0, 0.0], family=sw.Gaussian(), strategy=sw.Mixture())  # strategy
sw.run(sw.BestArm(2), [1.0, 0.0], family=sw.Gaussian(), stopping=sw.Uniform())  # stopping
sw.oracle(sw.Gaussian(), [1.0], family=sw.Gaussian())  # problem
sw.oracle(sw.BestArm(2), [1.0, 0.0], sw.Gaussian())  # keyword-only
sw.plan(sw.BestArm(2), [1.0, 0.0], family=sw.BestArm(2))  # family
reveal = good.stopping_times.sum()
"""


def test_wrong_roles_are_refused_by_the_type_checker(tmp_path: Path) -> None:
    (tmp_path / "snippet.py").write_text(SNIPPET)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--show-error-codes",
         "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache"),
         str(tmp_path / "snippet.py")],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    lines = {int(found) for found in re.findall(r"snippet\.py:(\d+): error", done.stdout)}
    wrong = {place for place, line in enumerate(SNIPPET.splitlines(), 1) if "#" in line}
    assert lines == wrong, done.stdout
