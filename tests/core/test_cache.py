"""Kernels on disk: found again in another process, never after an edit of what they are made from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise.core import functions
from stopwise.core.compile import kernels
from stopwise.core.compile.digest import Unclear, digest
from stopwise.sampling.strategy import CTracking, Direct, Explored

pytestmark = pytest.mark.skipif(not kernels.switched_on(), reason="nothing is compiled")

HELPER = """
from stopwise.core.functions import jitable
WIDTH = 1

@jitable
def shifted(arm, arms):
    return (arm + WIDTH) % arms
"""
STRATEGY = """
import helper
from stopwise.sampling.strategy import Direct
START = 0

class Turns(Direct, listed=False):
    late: int = 0
    step: int = 1

    def first(self):
        return 0

    def next_arm(self, instance, state, rounds, rng):
        start = START + self.first() + self.late
        return helper.shifted(start + self.step * rounds, instance.problem.arms)
"""
SCRIPT = """
import stopwise as sw
from stopwise.core.compile import linking
from own import Turns

compilations = []
once = linking.once
linking.once = lambda *given: compilations.append(1) or once(*given)
settings = dict(family=sw.Bernoulli(), stopping=sw.Stylized(), delta=0.1, repetitions=3, seed=1)
for strategy in (Turns(), sw.Uniform()):
    found = sw.simulate(sw.AnyLowArm(2, 0.5), [0.1, 0.9], strategy=strategy, **settings)
    print(len(compilations), found.counts.sum(axis=(0, 1)).tolist())
"""


def test_an_edit_is_never_missed(tmp_path: Path) -> None:
    def run() -> tuple[list[int], list[str]]:
        environment = {
            **os.environ,
            "STOPWISE_CACHE_DIR": str(tmp_path / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        found = subprocess.run(
            [sys.executable, "script.py"], cwd=tmp_path, env=environment, capture_output=True, text=True
        )  # fmt: skip
        assert found.returncode == 0, found.stderr
        rows = [line.split(maxsplit=1) for line in found.stdout.splitlines()]
        return [int(count) for count, _ in rows], [counts for _, counts in rows]

    def edit(name: str, before: str, after: str) -> None:
        path = tmp_path / name
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))

    for name, text in (("helper.py", HELPER), ("own.py", STRATEGY), ("script.py", SCRIPT)):
        (tmp_path / name).write_text(text)
    compilations, first = run()
    assert compilations == [1, 2]
    assert run() == ([0, 0], first)
    edit("own.py", "class Turns", "# a remark\n\nclass Turns")
    assert run() == ([0, 0], first)
    for name, before, after in (
        ("own.py", "self.step * rounds", "3 * self.step * rounds"),  # the function
        # a function of a module that it imports
        ("helper.py", "(arm + WIDTH)", "(arm + 2 * WIDTH)"),
        ("helper.py", "WIDTH = 1", "WIDTH = 2"),  # a global which that one reads
        ("own.py", "START = 0", "START = 1"),  # a global of its own
        ("own.py", "return 0", "return 1"),  # a method that is too simple to be compiled
        # compiled code knows fields by their places
        ("own.py", "late: int = 0\n    step: int = 1", "step: int = 1\n    late: int = 0"),
    ):
        edit(name, before, after)
        compilations, _ = run()
        assert compilations == [1, 1], (name, after)  # and the built-in strategy is left alone
        assert run()[0] == [0, 0]


def test_a_damaged_file_is_compiled_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOPWISE_CACHE_DIR", str(tmp_path))

    def value() -> float:
        return float(kernels.compiled(_cost)(sw.Bernoulli(), 0.3))

    before = value()
    (path,) = (tmp_path / "stopwise").iterdir()
    for damage in (b"", path.read_bytes()[:500], b"nonsense"):
        path.write_bytes(damage)
        assert value() == before
        assert len(path.read_bytes()) > 1000


def _cost(family: sw.Family, mean: float) -> float:
    return 2.0 * family.divergence(mean, 0.5)


def test_a_class_of_the_same_name_counts_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "foreign", {})

    def counts(method: Any) -> list[float]:
        kind: Any = type(Direct)("Fixed", (Direct,), {"next_arm": method}, listed=False)
        found = sw.simulate(
            sw.AnyLowArm(2, 0.5),
            [0.1, 0.2],
            family=sw.Bernoulli(),
            strategy=kind(),
            stopping=sw.Stylized(),
            repetitions=1,
            seed=1,
        )
        return [float(count) for count in found.counts[0]]

    first, second = counts(_first), counts(_second)
    assert first[0] > first[1] == 1.0
    assert second[1] > second[0] == 1.0


def _first(self: Any, instance: Any, state: Any, rounds: int, rng: Any) -> int:
    return 0


def _second(self: Any, instance: Any, state: Any, rounds: int, rng: Any) -> int:
    return 1


def test_one_compilation_serves_every_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """2, 3 and 24 cells; answers that are words, numbers and tuples."""

    def strips(count: int, answers: list[object]) -> sw.Cells:
        edges = np.linspace(-1.0, 1.0, count + 1)[1:-1]
        alternatives = {}
        for place, answer in enumerate(answers):
            above = [sw.Polyhedron([[1.0, 0.3]], [edges[place] + 0.1])] if place < count - 1 else []
            below = [sw.Polyhedron([[-1.0, -0.3]], [0.1 - edges[place - 1]])] if place else []
            alternatives[answer] = above + below
        return sw.Cells(2, alternatives)

    made: list[int] = []
    held: dict[Any, Any] = {}
    plain = kernels.linking.once
    monkeypatch.setattr(kernels.linking, "once", lambda *given: made.append(1) or plain(*given))
    monkeypatch.setattr("stopwise.engine.worker._kernels", held)
    for problem in (
        strips(2, ["low", "high"]),
        strips(3, [0, 1, 2]),
        strips(13, [(place, "th") for place in range(13)]),  # 24 cells
    ):
        sw.simulate(
            problem,
            [0.5, 0.1],
            family=sw.Gaussian(),
            stopping=sw.MixtureMartingale(),
            delta=0.1,
            repetitions=1,
            max_rounds=2000,
            seed=1,
        )
    assert len(made) <= 1  # 0: it was on disk
    (kernel,) = held.values()
    assert len(kernel.signatures) == 1
    assert problem.kinds.size == 24


@pytest.mark.parametrize("value", [1, 2.5, "word", np.arange(3.0), (1, 2.0), np.float32(2.0), None])
def test_digests_know_globals(value: object) -> None:
    def made(constant: object) -> object:
        return lambda: constant

    assert digest(made(value)) == digest(made(value))  # type: ignore[arg-type]
    assert digest(made(value)) != digest(made("something else"))  # type: ignore[arg-type]


def test_what_is_unclear_is_not_kept() -> None:
    import numba

    vectorized = numba.vectorize(lambda x: 2.0 * x)  # its function may be edited
    for unclear in ([1, 2], {1: 2}, object(), _cost, vectorized):
        with pytest.raises(Unclear):
            digest(lambda given=unclear: given)


def test_a_field_named_like_a_global_does_not_read_it() -> None:
    """``tracker.tracker`` is no use of the function ``tracker``: what D-tracking runs in is kept."""
    assert digest(lambda value: value.unclear)
    with pytest.raises(Unclear):
        digest(lambda value: value.unclear + unclear[0])
    for chosen in Explored.follow, CTracking.follow:
        assert digest(chosen)


unclear = [1, 2]
