"""Planning: the forecast is what simulation says, and what cannot end is refused with a reason."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from scipy.stats import binom
from typer.testing import CliRunner

import stopwise as sw
import stopwise.cli.names  # registers its command, as does the next
import stopwise.cli.plan
from stopwise.cli.main import app, main
from stopwise.cli.plan import read_guesses, read_strategies
from stopwise.engine.design import Setting, prepare
from stopwise.studies import planning
from stopwise.studies.expected import QUANTILES
from stopwise.studies.forecast import Forecast
from stopwise.studies.forecast_plot import picture
from stopwise.studies.guesses import read_guesses as checked_guesses
from stopwise.studies.planning import plan

mpl.use("Agg")

LOW, COINS = sw.AnyLowArm(3, 0.5), [0.3, 0.3, 0.7]  # kinds that other tests compile too
FAIR = [sw.StickyTrackAndStop(), sw.Uniform()]
PAIR = sw.BestArm(2)


@cache
def fixed() -> Forecast:
    return plan(
        PAIR,
        [0.7, 0.4],
        family=sw.Bernoulli(),
        strategies=FAIR,
        delta=0.1,
        repetitions=200,
        seed=3,
        costs=[1.0, 2.5],
    )


@cache
def ranged() -> Forecast:
    guesses = [(0.6, 0.8), 0.4]
    return plan(
        PAIR,
        guesses,
        family=sw.Bernoulli(),
        strategies=FAIR,
        delta=0.1,
        repetitions=30,
        draws=6,
        seed=3,
    )


@cache
def several() -> Forecast:
    return plan(
        LOW, COINS, family=sw.Bernoulli(), strategies=FAIR[:1], delta=0.1, repetitions=40, seed=1
    )


@cache
def undecided() -> Forecast:
    """Two coins that need more rounds than there are, mostly."""
    return plan(
        PAIR,
        [0.6, 0.5],
        family=sw.Bernoulli(),
        strategies=FAIR,
        delta=0.1,
        repetitions=50,
        seed=1,
        max_rounds=1200,
    )


def test_forecast_is_what_simulate_says() -> None:
    found = fixed()
    assert list(found.strategies) == ["sticky-track-and-stop", "uniform"]
    for strategy, each in zip(FAIR, found.strategies.values(), strict=True):
        runs = sw.simulate(
            PAIR,
            [0.7, 0.4],
            family=sw.Bernoulli(),
            strategy=strategy,
            stopping=sw.Wealth(),
            delta=0.1,
            repetitions=200,
            seed=3,
            costs=[1.0, 2.5],
            workers=1,
        )
        (row,) = runs.summary()
        np.testing.assert_array_equal(each.times, np.sort(runs.stopping_times))
        assert each.samples.mean == row.mean
        assert each.samples.standard_error == pytest.approx(row.standard_error, rel=1e-12)
        for q in (0.05, 0.5, 0.95):
            assert each.samples.quantiles[q] == row.quantiles[q]
        assert each.samples.quantiles[0.8] == np.quantile(runs.stopping_times, 0.8)
        assert (each.errors, each.undecided, each.runs) == (row.errors, 0, 200)
        assert each.error_interval == row.error_interval
        np.testing.assert_allclose(each.arm_means, runs.counts.mean(axis=0))
        np.testing.assert_allclose(each.arm_highs, np.quantile(runs.counts, 0.95, axis=0))
        assert each.cost is not None
        money = runs.counts @ [1.0, 2.5]
        assert each.cost.mean == pytest.approx(money.mean())
        for q in QUANTILES:
            assert each.cost.quantiles[q] == pytest.approx(np.quantile(money, q))
        assert (each.between, each.instance_means.size) == (0.0, 1)
        assert each.within == pytest.approx(runs.stopping_times.std(ddof=1))


def test_errors_of_a_proven_rule() -> None:
    """More errors than this have probability 1e-6 if delta were attained."""
    assert fixed().proven
    for each in fixed().strategies.values():
        assert each.errors <= binom.isf(1e-6, each.runs, 0.1)


def test_lower_bound_with_one_correct_answer_is_the_sharp_one() -> None:
    found, oracle = fixed(), sw.oracle(PAIR, [0.7, 0.4], family=sw.Bernoulli())
    kl = 0.1 * math.log(0.1 / 0.9) + 0.9 * math.log(0.9 / 0.1)
    assert found.sharp
    assert found.lower_bound == pytest.approx(oracle.time * kl)
    assert found.characteristic_time == oracle.time
    np.testing.assert_array_equal(found.oracle_weights, oracle.weights[0])
    assert "kl(delta, 1 - delta)" in found.bound_note
    for each in found.strategies.values():
        assert each.ratio == each.samples.mean / found.lower_bound
        # a theorem about the expectation: 5 standard errors below it have probability 3e-7
        assert each.samples.mean + 5 * each.samples.standard_error > found.lower_bound


def test_lower_bound_with_several_correct_answers_is_proven_too() -> None:
    found = several()
    assert not found.sharp
    scale = sw.oracle(LOW, COINS, family=sw.Bernoulli()).time * math.log(10)
    expected = sw.lower_bound(LOW, COINS, family=sw.Bernoulli(), delta=0.1)
    assert found.lower_bound == pytest.approx(expected)
    assert 0.0 < found.lower_bound < scale
    assert "no delta-correct method needs fewer" in found.bound_note
    assert f"T* log(1/delta), here {scale:,.0f}"[:30] in found.bound_note


def test_bound_of_bounded_rewards_says_for_which() -> None:
    found = replace(fixed(), family=sw.Bounded(0, 1))
    assert "ends of the interval" in found.bound_note


def test_ranges_are_simulated_instance_by_instance() -> None:
    found = ranged()
    assert len(found.instances) == 6
    assert len({each.seed for each in found.instances}) == 6
    for strategy, each in zip(FAIR, found.strategies.values(), strict=True):
        times = np.array(
            [
                sw.simulate(
                    PAIR,
                    one.means,
                    family=sw.Bernoulli(),
                    strategy=strategy,
                    stopping=sw.Wealth(),
                    delta=0.1,
                    repetitions=30,
                    seed=one.seed,
                ).stopping_times
                for one in found.instances
            ]
        )
        np.testing.assert_array_equal(each.times, np.sort(times.ravel()))
        means = times.mean(axis=1)
        np.testing.assert_allclose(each.instance_means, means)
        assert each.samples.mean == pytest.approx(times.mean())
        assert each.samples.standard_error == pytest.approx(means.std(ddof=1) / math.sqrt(6))
        within = times.var(axis=1, ddof=1).mean()
        assert each.within == pytest.approx(math.sqrt(within))
        between = max(means.var(ddof=1) - within / 30, 0.0)
        assert each.between == pytest.approx(math.sqrt(between))
    for one in found.instances:
        assert 0.6 <= one.means[0] <= 0.8
        assert one.means[1] == 0.4
    bounds = [one.lower_bound for one in found.instances]
    assert found.lower_bound == pytest.approx(np.mean(bounds))


def test_draws_are_uniform_and_independent() -> None:
    """Means and correlation of 2,000 draws; 5 standard deviations: false alarm below 2e-6 in all."""
    drawn = np.array([planning._draw(((1.0, 3.0), 7.0, (-2.0, 0.0)), 1, d)[0] for d in range(2000)])
    np.testing.assert_array_equal(drawn[:, 1], 7.0)
    for column, (low, high) in ((0, (1, 3)), (2, (-2, 0))):
        values = (drawn[:, column] - low) / (high - low)
        assert 0 <= values.min() < 0.01
        assert 0.99 < values.max() <= 1
        assert abs(values.mean() - 0.5) < 5 / math.sqrt(12 * 2000)
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 2])[0, 1]) < 5 / math.sqrt(2000)


def test_more_draws_begin_with_the_same_ones() -> None:
    guesses = ((0.6, 0.8), 0.4)
    few, _ = planning._instances(PAIR, sw.Bernoulli(), guesses, None, 0.1, 3, 2)
    for one, same in zip(few, ranged().instances, strict=False):
        assert one.seed == same.seed
        np.testing.assert_array_equal(one.means, same.means)


def test_numbers_depend_on_the_seed_alone() -> None:
    settings: Any = {"family": sw.Bernoulli(), "strategies": FAIR, "delta": 0.1}
    one = plan(PAIR, [0.7, 0.4], **settings, repetitions=20, seed=5, workers=1)
    two = plan(PAIR, [0.7, 0.4], **settings, repetitions=20, seed=5, workers=2)
    other = plan(PAIR, [0.7, 0.4], **settings, repetitions=20, seed=6, workers=1)
    assert one.to_dict() == two.to_dict()
    assert one["uniform"].samples.mean != other["uniform"].samples.mean


def test_one_cost_for_all_arms() -> None:
    found = plan(
        PAIR,
        [0.9, 0.1],
        family=sw.Bernoulli(),
        strategies=FAIR,
        delta=0.1,
        costs=2.0,
        repetitions=20,
        max_rounds=10**4,
    )
    for each in found.strategies.values():
        assert each.cost is not None
        assert each.cost.mean == pytest.approx(2.0 * each.samples.mean)
        assert each.cost.quantiles[0.8] == pytest.approx(2.0 * each.samples.quantiles[0.8])
    assert several()["sticky-track-and-stop"].cost is None


def test_undecided_runs_are_said_to_be_more() -> None:
    found = undecided()
    each = found["uniform"]
    assert 0 < each.undecided < 50  # near 1/2 of them: none or all has probability below 1e-8
    assert each.times[-1] == 1200
    assert each.samples.quantiles[0.95] == 1200
    assert each.censored(0.95)
    assert not each.censored(0.0)
    _, header, rows = found.table()
    assert rows[1][header.index("95%")] == "> 1,200"
    assert rows[1][header.index("mean")].startswith("> ")
    assert rows[1][header.index("undecided")] == str(each.undecided)
    assert any("max_rounds = 1,200" in note for note in found.notes())


def test_repetitions_left_open() -> None:
    """Easy questions get 400 runs, hard ones 100; ranges divide them among the draws."""
    assert (
        plan(PAIR, [0.95, 0.05], family=sw.Bernoulli(), strategies=FAIR).repetitions
        == planning.MOST
    )
    for guesses, draws, expected in (
        ([0.5, 0.499], 1, planning.FEWEST),
        ([(0.5, 0.5001), 0.499], 40, 3),
        ([(0.9, 0.95), 0.05], 20, 20),
    ):
        checked, _ = checked_guesses(guesses, None, 2, sw.Bernoulli())
        places, _ = planning._instances(PAIR, sw.Bernoulli(), checked, None, 0.05, 1, draws)
        plans = [
            prepare(
                Setting(PAIR, sw.Bernoulli(), sw.Uniform(), sw.Mixture()),
                places[0].means,
                (0.05,),
                10**7,
            )
        ]
        assert planning._affordable(plans, places) == expected


def test_names_of_strategies() -> None:
    usual = ["sticky-track-and-stop", "track-and-stop", "uniform"]
    assert list(planning._named(None)) == usual
    given = [sw.TrackAndStop(), sw.TrackAndStop("D"), sw.Uniform()]
    assert list(planning._named(given)) == ["track-and-stop", repr(given[1]), "uniform"]
    assert planning._named({"mine": sw.Uniform()}) == {"mine": sw.Uniform()}


def test_ctrl_c_keeps_what_has_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def interrupted(*arguments: Any, **options: Any) -> sw.Results:
        calls.append(arguments)
        return replace(sw.simulate(*arguments, **options), complete=len(calls) < 2)

    monkeypatch.setattr(planning, "simulate", interrupted)
    three = [*FAIR, sw.FixedWeights([1, 2])]
    found = plan(
        PAIR, [0.9, 0.1], family=sw.Bernoulli(), strategies=three, delta=0.1, repetitions=5
    )
    assert not found.complete
    assert list(found.strategies) == ["sticky-track-and-stop", "uniform"]
    assert any(note.startswith("Interrupted") for note in found.notes())


def test_progress_counts_all_runs() -> None:
    seen: list[int] = []
    plan(
        PAIR,
        [0.9, 0.1],
        family=sw.Bernoulli(),
        strategies=FAIR,
        delta=0.1,
        repetitions=7,
        progress=seen.append,
    )
    assert seen == sorted(seen)
    assert seen[-1] == 14


def test_text_and_html() -> None:
    text, html = repr(fixed()), fixed()._repr_html_()
    for part in (
        "lower bound",
        "Wealth is proven: a wrong answer",
        "cost",
        "80%",
        "Garivier & Kaufmann 2016",
    ):
        assert part in text
    assert "Garivier &amp; Kaufmann" in html
    assert html.count("<table>") == 4
    best = min(each.samples.quantiles[0.8] for each in fixed().strategies.values())
    assert fixed().notes()[0].startswith("With probability 80%, ")
    assert re.search(rf"at most {best:,.0f} \+- [\d.]+ samples", fixed().notes()[0])
    assert "drawn uniformly" in repr(ranged())
    assert "s.d. of draws" in repr(ranged())
    weak = replace(fixed(), stopping=sw.Stylized(), proven=False)
    assert "NOT proven" in repr(weak)
    assert "Wealth, the default, is proven" in repr(weak)


def test_many_arms_are_cut_short() -> None:
    found = plan(
        sw.BestArm(40),
        [0.9] + [0.1] * 39,
        family=sw.Bernoulli(),
        strategies=[sw.Uniform()],
        delta=0.1,
        repetitions=2,
    )
    assert len(found.arm_table()[2]) == 31
    assert len(picture(found).arms) == 16
    assert picture(found).arms[0] == "arm 0: 0.9"


def test_json() -> None:
    found = json.loads(json.dumps(ranged().to_dict(), allow_nan=False))
    assert found["means"] == [[0.6, 0.8], 0.4]
    assert len(found["instances"]) == 6
    assert found["lower_bound"] == ranged().lower_bound
    (sticky, uniform) = found["strategies"]
    assert (sticky["name"], uniform["runs"]) == ("sticky-track-and-stop", 180)
    assert set(uniform["samples"]["quantiles"]) == {"0.05", "0.5", "0.8", "0.95"}
    one = plan(PAIR, [0.9, 0.1], family=sw.Bernoulli(), strategies=FAIR, delta=0.1, repetitions=1)
    assert one.to_dict()["strategies"][0]["samples"]["standard_error"] is None
    json.dumps(one.to_dict(), allow_nan=False)


def test_what_the_picture_shows() -> None:
    info = picture(fixed())
    for curve, each in zip(info.curves, fixed().strategies.values(), strict=True):
        np.testing.assert_array_equal(curve.samples, each.times)
        assert curve.over[-1] == 1.0
        assert curve.target == each.samples.quantiles[0.8]
        last = np.searchsorted(curve.samples, curve.target, side="right") - 1  # of several alike
        assert curve.over[last] >= 0.8
        assert f"{curve.target:,.0f} (cost " in curve.label
    np.testing.assert_allclose(info.lower_bounds, fixed().lower_bound)
    assert info.oracle_arms.sum() == pytest.approx(fixed().lower_bound)
    assert "proven delta-correct" in info.subtitle
    (early, _) = picture(undecided()).curves
    assert early.samples[-1] == 1200
    assert early.over[-1] == pytest.approx(1 - undecided()["sticky-track-and-stop"].undecided / 50)
    assert "undecided" in early.label


@pytest.mark.parametrize("made", [fixed, ranged, several, undecided])
def test_picture(made: Any, tmp_path: Path) -> None:
    figure = made().plot()
    left, right = figure.axes
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert shown == [curve.label for curve in picture(made()).curves]
    assert len(right.get_yticklabels()) == len(made().guesses)
    assert any("lower bound" in text.get_text() for text in left.texts)
    figure.savefig(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").stat().st_size > 10_000


# arguments beyond a good call, and what the message must hold
REFUSED: list[tuple[dict[str, Any], list[str]]] = [
    ({"means": [0.5, 0.5]}, ["means: got [0.5, 0.5]", "arms 0 and 1 tie for the best", "epsilon"]),
    ({"means": [0.5]}, ["means: got [0.5]", "2 entries"]),
    ({"means": 0.5}, ["means: got 0.5", "2 entries"]),
    ({"means": "ab"}, ["means: got 'ab'", "2 entries"]),
    ({"means": [0.5, "x"]}, ["means[1]: got 'x'", "a finite number"]),
    ({"means": [0.5, math.nan]}, ["means[1]: got nan"]),
    ({"means": [0.5, (0.4, 0.3)]}, ["means[1]: got (0.4, 0.3)", "low < high"]),
    ({"means": [0.5, (0.4, 0.4)]}, ["means[1]: got (0.4, 0.4)", "low < high"]),
    ({"means": [0.5, (0.2, 0.3, 0.4)]}, ["means[1]: got (0.2, 0.3, 0.4)", "a pair (low, high)"]),
    ({"means": [0.5, (0.4, 1.2)]}, ["means[1]: got 1.2", "(0, 1)"]),
    ({"means": [0.5, 0.50001]}, ["max_rounds: got 10000000", "at least the lower bound"]),
    ({"delta": 0.5}, ["delta: got 0.5", "between 0 and 0.5"]),
    ({"delta": 0.0}, ["delta: got 0.0"]),
    ({"delta": [0.1, 0.2]}, ["delta: got [0.1, 0.2]"]),
    ({"strategies": []}, ["strategies: got []", "at least one"]),
    ({"strategies": sw.Uniform()}, ["strategies: got Uniform()", "a list of strategies"]),
    ({"strategies": [sw.Uniform(), sw.Uniform(), sw.Uniform()]}, ["strategies", "each once"]),
    ({"strategies": [sw.FixedWeights([1, 2, 3])]}, ["weights: got", "2 numbers"]),
    ({"strategies": ["uniform"]}, ["strategies: got 'uniform'", "a strategy, such as"]),
    ({"costs": 0}, ["costs: got 0", "above 0"]),
    ({"costs": [1, -1]}, ["costs[1]: got -1.0", "above 0"]),
    ({"costs": [1, 1, 1]}, ["costs: got [1, 1, 1]", "2 numbers"]),
    ({"repetitions": 0}, ["repetitions: got 0", "at least 1"]),
    ({"draws": 1, "means": [0.5, (0.2, 0.3)]}, ["draws: got 1", "at least 2"]),
    ({"seed": -1}, ["seed: got -1", "at least 0"]),
    ({"max_rounds": 1}, ["max_rounds: got 1", "at least 2"]),
    ({"max_rounds": 20}, ["max_rounds: got 20", "the lower bound, "]),
    ({"workers": 0}, ["workers: got 0", "at least 1"]),
    ({"stopping": "mixture"}, ["stopping: got 'mixture'", "a stopping rule, such as"]),
]


@pytest.mark.parametrize(("change", "parts"), REFUSED, ids=[str(row[0]) for row in REFUSED])
def test_refusals(change: dict[str, Any], parts: list[str]) -> None:
    arguments: dict[str, Any] = {"means": [0.5, 0.45], "family": sw.Bernoulli(), **change}
    with pytest.raises(sw.StopwiseError) as caught:
        plan(PAIR, **arguments)
    assert [part for part in parts if part not in str(caught.value)] == []
    assert "\n" not in str(caught.value)


# problem, means, and why no test ends there
TIES: list[tuple[Any, list[Any], str]] = [
    (sw.BestArm(4), [0.1, 0.5, 0.5, 0.5], "arms 1, 2 and 3 tie for the best"),
    (sw.BestArm(3), [0.5, 0.5, (0.1, 0.2)], "(draw 1 of 20) arms 0 and 1 tie for the best"),
    (sw.Thresholding(2, 0.5), [0.5, 0.7], "arm 0 lies on the threshold 0.5"),
    (sw.AnyLowArm(2, 0.5), [0.5, 0.5], "arms 0 and 1 lie on the threshold 0.5"),
    (sw.AnyHalfSpace([[1, 1]]), [1.0, -1.0], "boundary of the answer (0, 1) and (0, -1)"),
    (sw.Sphere(2), [1.0, 0.0], "boundary of the answer 'inside' and 'outside'"),
]


@pytest.mark.parametrize(("problem", "means", "reason"), TIES, ids=[row[2] for row in TIES])
def test_ties_are_explained(problem: Any, means: list[Any], reason: str) -> None:
    with pytest.raises(sw.BadArgument, match="T\\* is infinite, no test ever ends") as caught:
        plan(problem, means, family=sw.Gaussian())
    assert reason in str(caught.value)


SHELL = ["best-arm", "--means", "0.7,0.4", "--family", "bernoulli", "--delta", "0.1"]
SHELL += ["--strategies", "sticky-track-and-stop,uniform", "--repetitions", "200", "--seed", "3"]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["plan", *arguments], env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    return re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)


def test_command_says_what_the_library_says() -> None:
    found = json.loads(run(*SHELL, "--costs", "1,2.5", "--json"))
    assert found == json.loads(json.dumps(fixed().to_dict()))


def test_command_prints_tables_and_draws(tmp_path: Path) -> None:
    text = run(*SHELL, "--costs", "1,2.5", "--picture", str(tmp_path / "plan.png"))
    each = fixed()["uniform"]
    middle = r"\W+".join(f"{each.samples.quantiles[q]:,.0f}" for q in (0.5, 0.8, 0.95))
    assert re.search(rf"uniform\W.*{middle}", text)
    for note in fixed().notes():
        assert note.split(".")[0][:60] in re.sub(r"\s+", " ", text)
    assert (tmp_path / "plan.png").stat().st_size > 10_000


def test_numbers_are_never_cut_off() -> None:
    result = CliRunner().invoke(app, ["plan", *SHELL, "--costs", "1,2.5"], env={"COLUMNS": "40"})
    for _, _, rows in fixed().tables():
        for row in rows:
            assert [cell for cell in row[1:] if cell not in result.stdout] == []


def test_command_takes_ranges() -> None:
    given = ["best-arm", "--means", "0.6..0.8,0.4", "--family", "bernoulli", "--delta", "0.1"]
    given += ["--strategies", "sticky-track-and-stop,uniform", "--draws", "6", "--seed", "3"]
    found = json.loads(run(*given, "--repetitions", "30", "--workers", "2", "--json"))
    assert found == json.loads(json.dumps(ranged().to_dict()))


def test_spelling_of_means_and_strategies() -> None:
    assert read_guesses("0.5,-1..-0.5,1e-3..2e-3,.4...48") == [
        0.5, (-1.0, -0.5), (1e-3, 2e-3), (0.4, 0.48),
    ]  # fmt: skip
    text = "track-and-stop:tracking=D,fixed-weights:weights=[1,2],uniform"
    found = read_strategies(text)
    assert list(found) == ["track-and-stop:tracking=D", "fixed-weights:weights=[1,2]", "uniform"]
    assert found["track-and-stop:tracking=D"] == sw.TrackAndStop("D")


MISTAKES: list[tuple[list[str], list[str]]] = [
    (["--means", "0.5,a"], ["means: got '0.5,a'", "low..high"]),
    (["--means", "0.5,0.4..x"], ["means: got '0.5,0.4..x'", "low..high"]),
    (["--means", "0.5,0.6..0.5"], ["means[1]: got (0.6, 0.5)", "low < high"]),
    (["--means", "0.5,0.5"], ["arms 0 and 1 tie", "best-arm:epsilon="]),
    (["--delta", "2"], ["delta: got 2.0"]),
    (["--family", "cauchy"], ["family.kind: got 'cauchy'"]),
    (["--stopping", "magic"], ["stopping.kind: got 'magic'", "mixture-martingale", "stylized"]),
    (["--strategies", "luck"], ["strategies.kind: got 'luck'", "track-and-stop"]),
    (["--strategies", "uniform,uniform"], ["strategies: got 'uniform,uniform'", "once"]),
    (["--strategies", "uniform:speed=1"], ["strategies.speed: got 1"]),
    (["--costs", "1,b"], ["costs: got '1,b'", "numbers between commas"]),
    (["--costs", "1,0"], ["costs[1]: got 0.0", "above 0"]),
    (["--repetitions", "0"], ["repetitions: got 0"]),
    (["--picture", "plan.doc"], ["picture: got 'plan.doc'", ".png, .pdf, .svg"]),
    (["--picture", "/no/such/plan.png"], ["picture: got '/no/such/plan.png'", "a folder"]),
]


@pytest.mark.parametrize(("change", "parts"), MISTAKES, ids=[" ".join(row[0]) for row in MISTAKES])
def test_mistake_is_one_line_and_exit_code_2(
    change: list[str],
    parts: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    good = ["best-arm", "--means", "0.5,0.45", "--family", "bernoulli"]
    monkeypatch.setattr(sys, "argv", ["stopwise", "plan", *good, *change])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("stopwise: ")
    assert len(err.splitlines()) == 1
    assert [part for part in parts if part not in err] == []


def test_picture_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "plan.png"
    folder.mkdir()
    result = CliRunner().invoke(app, ["plan", *SHELL, "--json", "--picture", str(folder)])
    assert isinstance(result.exception, sw.BadArgument)
    assert "can be written" in str(result.exception)


def test_help() -> None:
    text = run("--help")
    for word in ("--means", "0.40..0.48", "--picture", "stopwise names", "Example"):
        assert word in text
    names = CliRunner().invoke(app, ["names"], env={"COLUMNS": "120"})
    assert "not proven" in names.stdout


def test_a_real_process() -> None:
    command = [sys.executable, "-c", "from stopwise.cli.main import main; main()", "plan", *SHELL]
    result = subprocess.run(
        [*command, "--costs", "1,2.5", "--json"],
        capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "STOPWISE_QUIET": "1"},
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout) == json.loads(json.dumps(fixed().to_dict()))
