"""Kernels linked once give the numbers of kernels that numba links level by level."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from stopwise.core.arrays import Floats
from stopwise.core.compile import linking
from stopwise.core.compile.kernels import compiled, switched_on
from stopwise.core.data import Data
from stopwise.core.functions import jitable

needs_compiler = pytest.mark.skipif(not switched_on(), reason="nothing is compiled")

SCRIPT = """
import numba
import numpy as np
import stopwise as sw
from stopwise.core.compile import linking
from stopwise.core.functions import jitable
from stopwise.core.data import Data
from stopwise.core.compile.kernels import compiled

if {plain}:
    linking.TESTED = ("0.1.",)

@numba.njit
def own(x):
    return 2.0 * x

@numba.njit
def sums(values):
    return values.cumsum()

@numba.njit
def first(data):  # takes one of our tuples, from Python and from a kernel
    return data.counts[0] - data.means[-1]

@jitable
def mean(values):
    return values.sum() / values.size

def both(family, data, x):
    found = own(x) + family.divergence(x, 0.5) + first(data)
    for k in range(data.counts.size):
        if data.counts[k] > 1.0:
            found += mean(data.means * data.means)
            data.counts[k] = found
    return found

data = Data(np.arange(4.0), np.array([0.3, 0.7, 0.1, 0.9]))
print(first(data), compiled(both)(sw.Bernoulli(), data, 0.25), data, first(data))
print(own(3.0), sums(np.arange(4.0)))
found = sw.simulate(
    *(sw.BestArm(2), [0.3, 0.6]), family=sw.Bernoulli(), strategy=sw.Uniform(), stopping=sw.Stylized(),
    delta=0.1, repetitions=20, seed=1,
)
print(found.stopping_times.tolist(), found.counts.tolist())
"""


@jitable
def _mean(values: Floats) -> float:
    total = 0.0
    for each in values:
        total += each
    return total / values.size


@jitable
def _squares(values: Floats) -> Floats:  # creates an array, as its caller may
    return values * values


@jitable(allocates=True)
def _variance(values: Floats) -> float:
    return _mean(_squares(values)) - _mean(values) ** 2


def _moments(data: Data) -> float:
    found = 0.0
    for k in range(data.counts.size):
        if data.counts[k] > 1.0:
            found += _mean(data.means) + _variance(data.counts)
            data.counts[k] = found
    return found


def _data() -> Data:
    return Data(np.arange(4.0), np.array([0.3, 0.7, 0.1, 0.9]))


@needs_compiler
def test_who_listens_to_numba_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core import event

    monkeypatch.setenv("STOPWISE_CACHE_DIR", str(tmp_path))
    with event.install_recorder("numba:compile") as recorder:
        assert compiled(_moments)(_data()) == _moments(_data())
    names = {each.data["dispatcher"].py_func.__name__ for _, each in recorder.buffer}
    assert {"_moments", "_mean", "_squares", "_variance"} <= names


@needs_compiler
@pytest.mark.parametrize("error", [RuntimeError, TypeError, AttributeError, KeyError])
def test_whatever_goes_wrong_is_compiled_plainly(
    error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise error("one more keyword")

    monkeypatch.setenv("STOPWISE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(linking, "_implementation", broken)
    with pytest.warns(UserWarning, match="compiled as plain numba does"):
        assert compiled(_moments)(_data()) == _moments(_data())
    assert not list((tmp_path / "stopwise").iterdir())  # and nothing of it is kept


@needs_compiler
def test_another_numba_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOPWISE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(linking, "TESTED", ("0.1.",))
    monkeypatch.setattr(linking, "once", None)
    assert compiled(_moments)(_data()) == _moments(_data())


@needs_compiler
def test_linked_once_or_level_by_level(tmp_path: Path) -> None:
    printed = []
    for plain in (False, True):
        environment = {**os.environ, "STOPWISE_CACHE_DIR": str(tmp_path / str(plain))}
        command = [sys.executable, "-c", SCRIPT.replace("{plain}", str(plain))]
        for _ in range(
            1 if plain else 2
        ):  # compiled, and from the cache; plain numba keeps nothing
            found = subprocess.run(command, env=environment, capture_output=True, text=True)
            assert found.returncode == 0, found.stderr
            printed.append(found.stdout)
    assert len(set(printed)) == 1
