"""Kernels linked once give the numbers of kernels that numba links level by level."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stopwise.core import linking

SCRIPT = """
import numba
import stopwise as sw
from stopwise.core import linking
from stopwise.core.kernels import compiled
from stopwise.families.verbs import divergence

if {plain}:
    linking.replacements = lambda: []

@numba.njit
def own(x):
    return 2.0 * x

@numba.njit
def sums(values):
    return values.cumsum()

def both(family, x):
    return own(x) + divergence(family, x, 0.5)

print(compiled(both)(sw.Bernoulli(), 0.25), own(3.0), sums(__import__("numpy").arange(4.0)))
found = sw.simulate(
    sw.AnyLowArm(2, 0.5), [0.3, 0.4], family=sw.Bernoulli(), delta=0.1, repetitions=20, seed=1,
)
print(found.stopping_times.tolist(), found.counts.tolist())
"""


def test_numba_is_as_expected() -> None:
    assert len(linking.replacements()) == 7


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_linked_once_or_level_by_level(tmp_path: Path) -> None:
    printed = []
    for plain in (False, True):
        environment = {**os.environ, "STOPWISE_CACHE_DIR": str(tmp_path / str(plain))}
        command = [sys.executable, "-c", SCRIPT.replace("{plain}", str(plain))]
        for _ in range(2):  # compiled, and from the cache
            found = subprocess.run(command, env=environment, capture_output=True, text=True)
            assert found.returncode == 0, found.stderr
            printed.append(found.stdout)
    assert len(set(printed)) == 1
