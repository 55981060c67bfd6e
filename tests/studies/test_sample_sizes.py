"""What a plan says beside its forecast: the classical test, detectable differences, percentages."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm
from typer.testing import CliRunner

import stopwise as sw
import stopwise.cli.plan
from stopwise.cli.main import app
from stopwise.studies.classical import fixed_sample
from stopwise.studies.expected import QUANTILES
from stopwise.studies.forecast import Forecast

PAIR, COINS = sw.BestArm(2), [0.7, 0.4]  # kinds that other tests compile too


@cache
def found() -> Forecast:
    given = {"family": sw.Bernoulli(), "strategies": [sw.Uniform()], "delta": "10%"}
    return sw.plan(PAIR, ["70%", "40%"], costs=[1.0, 2.5], repetitions=99, seed=3, **given)


@pytest.mark.parametrize(("gap", "variance", "delta"), [(0.1, 1.0, 0.05), (15.0, 400.0, 0.1)])
def test_two_gaussian_arms_by_the_textbook(gap: float, variance: float, delta: float) -> None:
    oracle = sw.oracle(PAIR, [gap, 0.0], family=sw.Gaussian(variance))
    each = 2.0 * variance * (norm.isf(delta) + norm.isf(0.2)) ** 2 / gap**2
    assert fixed_sample(oracle, delta) == math.ceil(2.0 * each)


def test_the_classical_test_has_its_power_and_its_level() -> None:
    """Tried with real tests of four arms, Bonferroni, at the number of samples; false alarm 1e-6."""
    means, delta, runs = np.array([1.0, 0.7, 0.7, 0.7]), 0.1, 4000
    size = fixed_sample(sw.oracle(sw.BestArm(4), means, family=sw.Gaussian(1.0)), delta)
    rng, each = np.random.default_rng(1), size / 4.0
    height = norm.isf(delta / 3.0)

    def named(truth: Any, rival: int) -> int:
        seen = truth + rng.standard_normal((runs, 4)) / math.sqrt(each)
        return int(np.sum((seen[:, 0] - seen[:, rival]) / math.sqrt(2.0 / each) >= height))

    power = named(means, 1)
    assert binom.ppf(1e-6, runs, 0.78) <= power <= binom.isf(1e-6, runs, 0.82)
    assert named(np.zeros(4), 1) <= binom.isf(1e-6, runs, delta / 3.0)


def test_the_plan_shows_it_with_what_it_lacks() -> None:
    text = repr(found())
    assert f"classical test  {found().classical:.0f} samples" in text
    assert "it may be looked at only once" in text
    assert f"which cost {found().classical * 1.75:.3g}" in text
    assert found().to_dict()["classical"] == found().classical


def test_percentages_are_numbers() -> None:
    assert (found().guesses, found().delta) == ((0.7, 0.4), 0.1)
    ranged = sw.plan(
        *(PAIR, [("60%", "80%"), 0.4]),
        family=sw.Bernoulli(),
        strategies=[sw.Uniform()],
        repetitions=2,
        draws=2,
    )
    assert ranged.guesses == ((0.6, 0.8), 0.4)
    with pytest.raises(sw.BadArgument, match="ranges"):
        ranged.detectable(100)


def test_quantiles_without_enough_runs_are_not_shown() -> None:
    """99 runs: fewer than five lie beyond the 5 % and 95 % quantiles."""
    _, header, ((*cells,),) = found().table()
    assert [cells[header.index(f"{q:.0%}")] == "-" for q in QUANTILES] == [True, False, False, True]
    assert any("100 of a strategy show all" in note for note in found().notes())


def test_a_detectable_difference_is_found_in_four_of_five_runs() -> None:
    """At the means that it names, and not at differences a tenth smaller; false alarm 1e-6."""
    told = found().detectable(150)
    assert told.means[1] == pytest.approx(0.4)  # the rival stays, the leader moves
    assert told.difference == pytest.approx(told.means[0] - told.means[1])
    for scale, least, most in ((1.0, 0.75, 0.87), (0.85, 0.0, 0.75)):
        means = [0.4 + scale * told.difference, 0.4]
        runs = sw.simulate(
            *(PAIR, means),
            family=sw.Bernoulli(),
            strategy=sw.Uniform(),
            delta=0.1,
            repetitions=1000,
            max_rounds=150,
            seed=9,
        )
        ended = int(np.sum(~runs.undecided))
        assert binom.ppf(1e-6, 1000, least) <= ended <= binom.isf(1e-6, 1000, most)


def test_no_difference_is_needed_where_epsilon_ends_it() -> None:
    loose = sw.plan(
        *(sw.BestArm(2, epsilon=0.3), COINS),
        family=sw.Bernoulli(),
        strategies=[sw.Uniform()],
        repetitions=100,
    )
    assert loose.detectable(2000).difference == 0.0
    assert "however close the means are" in str(loose.detectable(2000))


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(sw.BadArgument, match="no difference that Bernoulli"):
        found().detectable(4)


def test_command_line() -> None:
    question = ["plan", "best-arm:epsilon=0%", "--means", "70%,40%", "--family", "bernoulli"]
    how = ["--delta", "10%", "--strategies", "uniform", "--repetitions", "100", "--samples", "150"]
    ran = CliRunner().invoke(app, [*question, *how, "--json"])
    assert ran.exit_code == 0, ran.output
    read = json.loads(ran.stdout)
    assert (read["means"], read["delta"]) == ([0.7, 0.4], 0.1)
    assert read["detectable"]["difference"] == pytest.approx(0.3, rel=0.3)
    shown = CliRunner().invoke(app, [*question, *how])
    assert "With 150 samples uniform finds a difference of" in " ".join(shown.stdout.split())
