"""Compiled code and plain Python give the same numbers; users' types are compiled in."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stopwise as sw
from instances import PAIRS, SETTINGS, Setting, draw_instance, pair_id
from stopwise.core import functions
from stopwise.core.compile.kernels import compiled, switched_on
from stopwise.core.data import Data
from stopwise.engine.worker import CannotCompile
from stopwise.sampling.strategy import Direct


def sample(family: Any, mean: float, count: int, rng: np.random.Generator) -> Any:
    values = np.empty(count)
    for place in range(count):
        values[place] = family.draw(mean, rng)
    return values


def divergences(family: Any, mu: float, lam: float) -> Any:
    return family.divergence(mu, lam), family.upper(mu, 0.3), family.lower(mu, 0.3)


def solve(problem: Any, family: Any, means: Any, code: Any, weights: Any, closest: Any) -> Any:
    value = problem.optimise(family, means, code, weights)
    return value, problem.transport_cost(family, Data(weights, means), code, closest)


@pytest.mark.parametrize("setting", SETTINGS, ids=pair_id)
def test_samplers_and_functions_are_identical(setting: Setting) -> None:
    mean = setting.low + 0.37 * setting.width
    fast = compiled(sample)(setting.family, mean, 200, np.random.default_rng(5))
    slow = sample(setting.family, mean, 200, np.random.default_rng(5))
    np.testing.assert_array_equal(fast, slow)
    lam = setting.low + 0.71 * setting.width
    assert compiled(divergences)(setting.family, mean, lam) == divergences(
        setting.family, mean, lam
    )


LEFT_OUT = ("product", "cells_with_models", "top_arms", "lowest_arms", "better")  # alike, or slow
CHOSEN = [p for p in PAIRS if p[1] in SETTINGS[1:3] and p[0] not in LEFT_OUT]


@pytest.mark.parametrize(("kind", "setting"), CHOSEN, ids=pair_id)
def test_solvers_are_identical(kind: str, setting: Setting) -> None:
    problem, means = draw_instance(kind, setting, 4, 9)
    code = problem.encode(sw.correct_answers(problem, means)[0])
    fast_w, slow_w, fast_c, slow_c = (np.full(4, 0.25) for _ in range(4))
    fast = compiled(solve)(problem, setting.family, means, code, fast_w, fast_c)
    slow = solve(problem, setting.family, means, code, slow_w, slow_c)
    np.testing.assert_array_equal(fast, slow)
    np.testing.assert_array_equal(fast_w, slow_w)
    np.testing.assert_array_equal(fast_c, slow_c)


USER_FAMILY = """
    import numpy as np
    import stopwise as sw
    from stopwise.core.compile.kernels import compiled

    class Mine(sw.Family, listed=False):
        scale: float

        def divergence(self, mu, lam):
            return FACTOR * self.scale * (mu - lam) ** 2

    def total(family, xs):
        result = 0.0
        for x in xs:
            result += family.divergence(x, 0.0)
        return result

    print(compiled(total)(Mine(2.0), np.array([1.0, 2.0])))
"""


def test_editing_a_users_function_changes_the_next_process(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    environment = {**os.environ, "STOPWISE_CACHE_DIR": str(tmp_path / "cache")}
    for factor, expected in (("1.0", "10.0"), ("3.0", "30.0")):
        script.write_text(textwrap.dedent(USER_FAMILY).replace("FACTOR", factor))
        result = subprocess.run(
            [sys.executable, str(script)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stdout.strip() == expected


def _unknown(rounds: int) -> int:
    return rounds % 2


@pytest.mark.skipif(not switched_on(), reason="nothing is compiled")
def test_what_cannot_be_compiled_is_named_by_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "foreign", {})

    class Calling(Direct, listed=False):
        def next_arm(self, instance: Any, state: Any, rounds: int, rng: Any) -> int:
            return _unknown(rounds)

    with pytest.raises(CannotCompile) as caught:
        sw.simulate(
            *(sw.BestArm(2), [0.7, 0.2]),
            family=sw.Bernoulli(),
            strategy=Calling(),
            repetitions=1,
        )
    first, second, third = str(caught.value).splitlines()
    assert first.startswith("test_compiled.py, line ")
    assert first.endswith("in next_arm: return _unknown(rounds)")
    assert second.startswith("  Untyped global name '_unknown'")
    assert "BestArm, Bernoulli, Calling" in third
    assert "jitable" in third
    assert "NUMBA_DISABLE_JIT=1" in third
