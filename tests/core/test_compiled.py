"""Compiled code and plain Python give the same numbers; users' types are compiled in."""

from __future__ import annotations

import math
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
from stopwise.core.data import Data
from stopwise.core.kernels import compiled, switched_on
from stopwise.core.values import Empty
from stopwise.core.verbs import foreign
from stopwise.engine.worker import CannotCompile
from stopwise.families.verbs import divergence, draw, lower, upper
from stopwise.problems import rounds, verbs
from stopwise.problems.best_arm.optimum import best_arm_optimum
from stopwise.sampling.verbs import Direct, pick


def sample(family: Any, mean: float, count: int, rng: np.random.Generator) -> Any:
    values = np.empty(count)
    for place in range(count):
        values[place] = draw(family, mean, rng)
    return values


def functions(family: Any, mu: float, lam: float) -> Any:
    return divergence(family, mu, lam), upper(family, mu, 0.3), lower(family, mu, 0.3)


def solve(problem: Any, family: Any, means: Any, code: Any, weights: Any, closest: Any) -> Any:
    value = verbs.optimise(problem, family, means, code, weights)
    return value, verbs.cost(problem, family, Data(weights, means), code, closest)


@pytest.mark.parametrize("setting", SETTINGS, ids=pair_id)
def test_samplers_and_functions_are_identical(setting: Setting) -> None:
    mean = setting.low + 0.37 * setting.width
    fast = compiled(sample)(setting.family, mean, 200, np.random.default_rng(5))
    slow = sample(setting.family, mean, 200, np.random.default_rng(5))
    np.testing.assert_array_equal(fast, slow)
    lam = setting.low + 0.71 * setting.width
    assert compiled(functions)(setting.family, mean, lam) == functions(setting.family, mean, lam)


LEFT_OUT = ("product", "cells_with_models", "top_arms", "lowest_arms", "better")  # alike, or slow
CHOSEN = [p for p in PAIRS if p[1] in SETTINGS[1:3] and p[0] not in LEFT_OUT]


@pytest.mark.parametrize(("kind", "setting"), CHOSEN, ids=pair_id)
def test_solvers_are_identical(kind: str, setting: Setting) -> None:
    problem, means = draw_instance(kind, setting, 4, 9)
    code = verbs.encode(problem, sw.correct_answers(problem, means)[0])
    fast_w, slow_w, fast_c, slow_c = (np.full(4, 0.25) for _ in range(4))
    fast = compiled(solve)(problem, setting.family, means, code, fast_w, fast_c)
    slow = solve(problem, setting.family, means, code, slow_w, slow_c)
    np.testing.assert_array_equal(fast, slow)
    np.testing.assert_array_equal(fast_w, slow_w)
    np.testing.assert_array_equal(fast_c, slow_c)


def test_warm_start_gives_what_a_cold_start_gives() -> None:
    """Also when a rival jumps past the place that was kept for it."""
    family, rng = sw.Bernoulli(), np.random.default_rng(2)
    for _ in range(200):
        means = np.array([0.6, *(0.6 - rng.uniform(1e-4, 0.3, 4))])
        warm, cold, state = np.zeros(5), np.zeros(5), np.zeros(15)
        best_arm_optimum(family, means, 0, 0.0, warm, state)
        means[1:] = np.minimum(means[1:] * (1 + 1e-2 * rng.normal(size=4)), 0.5999)
        value = best_arm_optimum(family, means, 0, 0.0, warm, state)
        expected = best_arm_optimum(family, means, 0, 0.0, cold, np.zeros(15))
        assert math.isclose(value, expected, rel_tol=1e-9)
        np.testing.assert_allclose(warm, cold, atol=1e-8)


USER_FAMILY = """
    import numpy as np
    from typing import NamedTuple
    import stopwise as sw
    from stopwise.families import verbs
    from stopwise.families.verbs import divergence
    from stopwise.core.kernels import compiled

    class Mine(NamedTuple):
        scale: float

    @verbs.divergence.register(Mine)
    def d(family, mu, lam):
        return FACTOR * family.scale * (mu - lam) ** 2

    def total(family, xs):
        result = 0.0
        for x in xs:
            result += divergence(family, x, 0.0)
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


def test_importing_stopwise_loads_no_heavy_library() -> None:
    heavy = ("numba", "scipy", "matplotlib")
    code = f"import sys, stopwise; print([m for m in {heavy} if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("family", [sw.Poisson(), sw.Gaussian(), sw.Binomial(4)], ids=repr)
@pytest.mark.parametrize("means", [[0.75, 2.0], [1.3, 0.925], [0.7, 1.075], [1.0, 1.0]], ids=repr)
def test_weights_at_means_that_lie_on_a_plane_but_for_rounding(
    family: Any, means: list[float]
) -> None:
    """An estimate there once gave weights that are no numbers, and the tracker never forgot them."""
    problem, mu = sw.AnyHalfSpace([[0.8, 0.2], [0.3, 0.4]], [1.0, 0.76]), np.array(means)
    kept, data = rounds.sketch(problem, family), Data(np.array([5.0, 5.0]), mu)
    rounds.rebuild(problem, family, data, kept)
    for place in range(4):
        weights = np.zeros(2)
        rounds.answer_weights(problem, family, data, kept, np.array([place]), weights)
        assert weights.sum() == pytest.approx(1.0)
        assert np.all(weights >= 0.0)


def _calls_what_numba_does_not_know(
    strategy: Any, problem: Any, family: Any, state: Any, rounds: int, rng: Any
) -> int:
    return _unknown(rounds)


def _unknown(rounds: int) -> int:
    return rounds % 2


@pytest.mark.skipif(not switched_on(), reason="nothing is compiled")
def test_what_cannot_be_compiled_is_named_by_its_line() -> None:
    class Calling(Empty, Direct):
        __slots__ = ()

    pick.register(Calling)(_calls_what_numba_does_not_know)
    with pytest.raises(CannotCompile) as caught:
        sw.simulate(
            *(sw.BestArm(2), [0.7, 0.2]),
            family=sw.Bernoulli(),
            strategy=Calling(),
            repetitions=1,
        )
    first, second, third = str(caught.value).splitlines()
    assert first.startswith("test_compiled.py, line ")
    assert first.endswith("in _calls_what_numba_does_not_know: return _unknown(rounds)")
    assert second.startswith("  Untyped global name '_unknown'")
    assert "BestArm, Bernoulli, Calling" in third
    assert "jitable" in third
    assert "NUMBA_DISABLE_JIT=1" in third
    foreign.pop((pick, Calling))
