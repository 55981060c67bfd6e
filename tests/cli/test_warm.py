"""``stopwise warm``: what it compiled, nobody compiles again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stopwise.core.compile import kernels

SCRIPT = """
import sys
import stopwise as sw
from stopwise.core.compile import linking
linking.once = lambda *given: sys.exit("something is compiled")  # no exception: those fall back
print(sw.simulate(
    sw.AnyLowArm(3, 0.4), [0.2, 0.7, 0.6], family=sw.Bernoulli(), strategy=sw.TrackAndStop(),
    repetitions=2, seed=1,
).complete)
"""


@pytest.mark.skipif(not kernels.switched_on(), reason="nothing is compiled")
def test_warm(tmp_path: Path) -> None:
    environment = {**os.environ, "STOPWISE_CACHE_DIR": str(tmp_path)}

    def run(*command: str) -> str:
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    main = "from stopwise.cli.main import main; main()"
    problem = "any-low-arm:threshold=0.5"
    said = run(sys.executable, "-c", main, "warm", problem, "--family", "bernoulli")
    assert said == f"3 settings are compiled, in {tmp_path / 'stopwise'}\n"
    assert run(sys.executable, "-c", SCRIPT) == "True\n"
