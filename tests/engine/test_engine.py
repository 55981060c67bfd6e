"""One loop, one step: runs end with right answers, and nothing but the seed decides them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise.engine.batch import Seeding, run_batch
from stopwise.engine.design import Design, Setting, prepare
from stopwise.engine.loop import run_rounds
from stopwise.engine.worker import Worker, new_outcome

NORMALS = [[0.8, 0.2], [0.2, 0.8]]
CASES = [
    (sw.BestArm(3), [0.9, 0.3, 0.2], sw.Bernoulli()),
    (sw.BestArm(3, 0.5), [1.5, 1.4, 0.0], sw.Gaussian()),
    (sw.BestArm(3, 0.2), [0.9, 0.8, 0.1], sw.Bernoulli()),
    (sw.Thresholding(3, 1.0), [2.5, 0.3, 0.2], sw.Poisson()),
    (sw.MinimumThreshold(2, 0.5, 0.1), [0.2, 0.9], sw.Bernoulli()),
    (sw.MinimumThreshold(2, 0.5), [0.2, 0.9], sw.Bernoulli()),
    (sw.AnyLowArm(3, 1.0), [0.2, 0.2, 2.0], sw.Exponential()),
    (sw.AnyLowArm(2, 0.5), [0.9, 0.8], sw.Bernoulli()),
    (sw.AnySign(3), [-1.0, 1.0, 0.2], sw.Gaussian()),
    (sw.AnyHalfSpace(NORMALS), [-1.0, -1.0], sw.Gaussian()),
    (sw.AnyHalfSpace(NORMALS, [0.5, 0.5]), [0.9, 0.9], sw.Bernoulli()),
    (sw.AllHalfSpaces(NORMALS), [1.0, 1.0], sw.Gaussian()),
    (sw.Sphere(2), [0.1, 0.2], sw.Gaussian(0.2)),
    (sw.Product([(sw.BestArm(2), [0, 2]), (sw.AnyLowArm(1, 0.5), [1])]), [0.9, 0.1, 0.2],
     sw.Bernoulli()),
    (sw.Cells(2, {"up": sw.Polyhedron([[-1, -1]]), "down": sw.Polyhedron([[1, 1]])}), [1.0, 0.5],
     sw.Gaussian()),
]  # fmt: skip
STRATEGIES = [
    sw.TrackAndStop(),
    sw.TrackAndStop("D"),
    sw.StickyTrackAndStop(),
    sw.Uniform(),
    sw.OracleWeights(),
]


def plainly(plan: Design, seed: int, repetition: int) -> tuple[Any, Any, Any]:
    """One run without the compiler."""
    worker = Worker(plan)
    worker.kernel = run_rounds
    outcome = new_outcome(plan)
    for _ in worker.run(seed, 0, repetition, outcome, lambda: False):
        pass
    return outcome.times, outcome.codes, outcome.counts


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
@pytest.mark.parametrize(("problem", "means", "family"), CASES, ids=str)
def test_runs_end_with_a_correct_answer(
    problem: Any, means: Any, family: Any, strategy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proven threshold at delta = 1e-7: a wrong answer here has that probability."""
    monkeypatch.setattr("stopwise.engine.worker.kernel", lambda *_: run_rounds)
    plan = prepare(Setting(problem, family, strategy, sw.Mixture()), means, (1e-3, 1e-7), 3000)
    times, codes, counts = plainly(plan, 7, 0)
    assert 0 < times[0] <= times[1]
    np.testing.assert_array_equal(counts.sum(axis=1), times)

    assert problem.decode(codes[1]) in sw.correct_answers(problem, means)


def test_a_tie_is_undecided() -> None:
    found = sw.simulate(
        sw.BestArm(2),
        [0.5, 0.5],
        family=sw.Bernoulli(),
        strategy=sw.TrackAndStop(),
        stopping=sw.Mixture(),
        delta=1e-9,
        repetitions=3,
        seed=1,
        max_rounds=300,
    )
    assert found.undecided.all()
    assert found.stopping_times.tolist() == [0, 0, 0]
    assert list(found.answers) == [None] * 3
    assert not found.correct.any()
    assert found.counts.sum(axis=1).tolist() == [300.0] * 3
    (row,) = found.summary()
    assert row.undecided == 3
    assert row.mean == 300
    one = sw.run(
        sw.BestArm(2),
        [0.5, 0.5],
        family=sw.Gaussian(),
        strategy=sw.Uniform(),
        stopping=sw.Mixture(),
        delta=1e-9,
        seed=1,
        max_rounds=50,
    )
    assert (one.status, one.answer, one.stopping_time) == ("undecided", None, 50)


SETTINGS = [  # kinds that other tests compile too: the compiler's work is shared through its cache
    (sw.AnyLowArm(3, 0.5), sw.StickyTrackAndStop(), [0.3, 0.3, 0.7], sw.Bernoulli(), sw.Mixture()),
    (sw.BestArm(4), sw.TrackAndStop("D"), [0.6, 0.4, 0.4, 0.3], sw.Bernoulli(), sw.Stylized()),
    (sw.AnyHalfSpace(NORMALS), sw.StickyTrackAndStop(), [-0.5, -0.5], sw.Gaussian(), sw.Stylized()),
    (
        sw.Thresholding(3, 0.0),
        sw.StickyTrackAndStop(),
        [0.7, -0.6, 0.8],
        sw.Gaussian(),
        sw.Stylized(),
    ),
]


def test_only_the_seed_decides() -> None:
    """1, 2 and 5 workers, and blocks of any size, give the same runs."""
    problem, strategy, means, family, threshold = SETTINGS[0]
    plan = prepare(Setting(problem, family, strategy, threshold), means, (0.1,), 10**6)
    whole = run_batch(plan, Seeding(3), 0, 40, workers=1)[0]
    for workers in (2, 5):
        again = run_batch(plan, Seeding(3), 0, 40, workers)[0]
        for name in ("times", "codes", "counts", "finished"):
            np.testing.assert_array_equal(getattr(whole, name), getattr(again, name))
    for size in (1, 7, 16):
        blocks = [
            run_batch(plan, Seeding(3), first, min(size, 40 - first), 2)[0]
            for first in range(0, 40, size)
        ]
        np.testing.assert_array_equal(whole.times, np.concatenate([b.times for b in blocks]))
        np.testing.assert_array_equal(whole.counts, np.concatenate([b.counts for b in blocks]))
    assert np.any(run_batch(plan, Seeding(4), 0, 40, 1)[0].times != whole.times)
    assert np.any(run_batch(plan, Seeding(3, 1), 0, 40, 1)[0].times != whole.times)


def test_without_the_compiler_results_are_the_same() -> None:
    code = (
        "import stopwise as sw; r = sw.simulate(sw.AnyLowArm(3, 0.5), [0.3, 0.3, 0.7], "
        "family=sw.Bernoulli(), delta=0.1, repetitions=5, seed=3); "
        "print(r.stopping_times.tolist(), r.counts.tolist())"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_DISABLE_JIT": off},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for off in ("0", "1")
    ]
    assert printed[0] == printed[1] != ""


def test_many_deltas_come_from_one_trajectory() -> None:
    problem, strategy, means, family, threshold = SETTINGS[0]
    deltas = [0.01, 0.2, 1e-4]
    many = sw.simulate(
        problem,
        means,
        family=family,
        strategy=strategy,
        stopping=threshold,
        delta=deltas,
        repetitions=20,
        seed=2,
    )
    assert many.stopping_times.shape == (20, 3)
    for place, delta in enumerate(deltas):
        one = sw.simulate(
            problem,
            means,
            family=family,
            strategy=strategy,
            stopping=threshold,
            delta=delta,
            repetitions=20,
            seed=2,
        )
        np.testing.assert_array_equal(many.stopping_times[:, place], one.stopping_times)
        np.testing.assert_array_equal(many.counts[:, place], one.counts)
        np.testing.assert_array_equal(many.answers[:, place], one.answers)


def test_the_certificate_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solving for the reachable answers in every round gives the same runs."""
    import stopwise.sampling.sticky as sticky

    for problem, strategy, means, family, threshold in [*SETTINGS[2:], SETTINGS[0]]:
        plan = prepare(Setting(problem, family, strategy, threshold), means, (1e-4,), 1500)
        kept = [plainly(plan, 8, repetition) for repetition in range(3)]
        certify = sticky._certify
        solves = []

        def forget(*args: Any, certify: Any = certify, solves: Any = solves) -> None:
            args[1].strategy_state.certificate.known[sticky.TOTAL] = np.nan  # the point is not held
            certify(*args)
            solves.append(args[1].strategy_state.certificate.known.copy())
            args[1].strategy_state.certificate.known[sticky.TOTAL] = np.nan  # certified by nothing

        with monkeypatch.context() as patch:
            patch.setattr(sticky, "_certify", forget)
            fresh = [plainly(plan, 8, repetition) for repetition in range(3)]
        for ours, theirs in zip(kept, fresh, strict=True):
            for left, right in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(left, right)
        assert len(solves) > 50


def test_an_order_is_followed() -> None:
    """Two equal low arms: the answer pursued first is the one that is given."""
    problem, means = sw.AnyLowArm(2, 0.0), [-1.0, -1.0]
    for order, first in (([0, 1, "none"], 0), ([1, 0, "none"], 1)):
        found = sw.simulate(
            problem,
            means,
            family=sw.Gaussian(),
            strategy=sw.StickyTrackAndStop(order=order),
            stopping=sw.Stylized(),
            delta=1e-6,
            repetitions=30,
            seed=1,
        )
        assert np.mean(found.answers == first) > 0.9


def test_a_region_of_ones_own() -> None:
    """The smallest region: what is pursued is the oracle answer at the estimate."""
    problem, means = sw.BestArm(3), [1.0, 0.0, 0.5]
    plans = [
        prepare(Setting(problem, sw.Gaussian(), strategy, sw.Stylized()), means, (0.01,), 5000)
        for strategy in (sw.StickyTrackAndStop(region=lambda _: 1e-12), sw.TrackAndStop())
    ]
    for repetition in range(3):
        ours, theirs = (plainly(plan, 4, repetition) for plan in plans)
        np.testing.assert_array_equal(ours[2], theirs[2])


def test_a_trace_tells_the_run() -> None:
    problem, means, family = sw.AnyLowArm(3, 0.5), [0.3, 0.3, 0.7], sw.Bernoulli()
    strategy = sw.StickyTrackAndStop()
    found = sw.run(
        problem,
        means,
        family=family,
        strategy=strategy,
        stopping=sw.Mixture(),
        delta=0.01,
        seed=3,
        trace=True,
    )
    without = sw.run(
        problem, means, family=family, strategy=strategy, stopping=sw.Mixture(), delta=0.01, seed=3
    )
    assert without.trace is None
    assert (found.stopping_time, found.answer) == (without.stopping_time, without.answer)
    trace = found.trace
    assert trace is not None
    assert len(trace) == found.stopping_time
    np.testing.assert_array_equal(np.bincount(trace.arms, minlength=3), found.counts)
    for arm in range(3):
        assert trace.samples[trace.arms == arm].mean() == pytest.approx(found.estimates[arm])
    crossed = trace.evidence >= trace.level
    assert not crossed[2:-1].any()
    assert crossed[-1]
    assert trace.leading[-1] == found.answer
    last = sw.evidence(problem, found.estimates, family=family, counts=found.counts)
    assert trace.evidence[-1] == pytest.approx(max(last.values()), rel=1e-9)
    assert set(trace.pursued[3:]) <= set(sw.answers(problem))
    assert trace.plot()[0].get_legend() is not None


def test_results_as_tables(tmp_path: Any) -> None:
    import pandas as pd
    import pyarrow.parquet as pq

    problem, strategy, means, family, threshold = SETTINGS[0]
    found = sw.simulate(
        problem,
        means,
        family=family,
        strategy=strategy,
        stopping=threshold,
        delta=[0.1, 0.01],
        repetitions=25,
        seed=2,
    )
    table = found.to_pandas()
    assert len(table) == 50
    assert table["stopping_time"].sum() == found.stopping_times.sum()
    found.to_parquet(tmp_path / "runs.parquet")
    again = pd.read_parquet(tmp_path / "runs.parquet")
    pd.testing.assert_frame_equal(
        again.drop(columns="answer"), table.drop(columns="answer"), check_dtype=False
    )
    notes = pq.read_schema(tmp_path / "runs.parquet").metadata
    assert notes[b"stopwise.seed"] == b"2"
    assert "proven" in repr(found.summary())
    row = found.summary()[0]
    assert row.runs == 25
    low, high = row.error_interval
    assert low <= row.error_rate <= high
    assert row.mean == pytest.approx(found.stopping_times[:, 0].mean())
    assert "<table>" in found._repr_html_()


def test_exact_binomial_interval() -> None:
    """Against the defining tail probabilities."""
    from scipy.stats import binom

    from stopwise.studies.results import binomial_interval

    low, high = binomial_interval(7, 50)
    assert binom.sf(6, 50, low) == pytest.approx(0.025)
    assert binom.cdf(7, 50, high) == pytest.approx(0.025)
    assert binomial_interval(0, 10)[0] == 0.0
    assert binomial_interval(10, 10)[1] == 1.0


USER = """
import math, sys
import stopwise as sw
from stopwise.sampling.strategy import DTracking

class Mine(sw.Strategy):
    tracker: DTracking

    def target(self, instance, state, rounds, rng):
        weights = state.plan.weights
        {body}

try:
    found = sw.simulate(sw.AnyLowArm(3, 0.5), [0.3, 0.3, 0.7], family=sw.Bernoulli(),
                        strategy=Mine(DTracking()), delta=0.1, repetitions=4, seed=1, workers=1)
    print(found.counts.sum(axis=0).tolist())
except sw.StopwiseError as error:
    print(type(error).__name__, len(getattr(error, "results", [])), error)
"""


def user_script(tmp_path: Any, body: str, jit: str = "0") -> str:
    script = tmp_path / "mine.py"
    script.write_text(USER.format(body=body))
    return subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "NUMBA_DISABLE_JIT": jit},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize("jit", ["0", "1"])
def test_a_function_that_fails_is_named(tmp_path: Any, jit: str) -> None:
    raised = user_script(
        tmp_path,
        "weights[:] = 1.0 / 3.0\n        if rounds > 20:\n            raise ValueError('no idea')",
        jit,
    )
    assert raised.startswith("RunFailed")
    assert "target" in raised
    assert "no idea" in raised
    nan = user_script(tmp_path, "weights[:] = math.nan", jit)
    assert "target of Mine" in nan
    assert "nan" in nan


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_ctrl_c_returns_what_is_finished() -> None:
    import _thread
    import threading

    setting: dict[str, Any] = {
        "family": sw.Bernoulli(),
        "strategy": sw.StickyTrackAndStop(),
        "stopping": sw.Mixture(),
        "delta": 1e-3,
        "seed": 1,
    }
    problem, means = sw.AnyLowArm(3, 0.5), [0.3, 0.3, 0.7]
    sw.simulate(problem, means, repetitions=1, **setting)  # compiled before the clock is started
    timer = threading.Timer(1.5, _thread.interrupt_main)
    timer.start()
    found = sw.simulate(problem, means, repetitions=3_000_000, **setting)
    timer.join()
    assert not found.complete
    assert 0 < len(found) < 3_000_000
    assert (found.stopping_times > 0).all()
    assert found.summary()[0].runs == len(found)


def test_progress_is_reported() -> None:
    seen: list[int] = []
    problem, strategy, means, family, threshold = SETTINGS[0]
    sw.simulate(
        problem,
        means,
        family=family,
        strategy=strategy,
        stopping=threshold,
        delta=0.1,
        repetitions=9,
        seed=1,
        progress=seen.append,
    )
    assert seen[-1] == 9
    assert seen == sorted(seen)


def test_weights_keep_their_digits_after_a_mean_on_the_threshold() -> None:
    """Poisson means are often exactly 1: their weight is huge for a round, and then gone."""
    found = sw.simulate(
        sw.Thresholding(3, 1.0),
        [0.5, 1.4, 2.0],
        family=sw.Poisson(),
        strategy=sw.StickyTrackAndStop(),
        stopping=sw.Stylized(),
        delta=1e-3,
        repetitions=100,
        seed=1,
    )
    assert found.complete
    assert found.correct.mean() > 0.9
