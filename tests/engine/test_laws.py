"""Samples from elsewhere than the family: laws of scipy.stats, pilot data, standard deviations."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import stopwise as sw
from stopwise.core.errors import BadArgument
from stopwise.engine import source
from stopwise.engine.design import Setting, prepare
from stopwise.engine.source import Supply
from stopwise.engine.truth import read_truth
from stopwise.families.laws import BetaLaw, FrozenLaw, NormalLaw, PilotLaw
from stopwise.studies.pilot import read_pilot

PAIR = sw.BestArm(2)
LAWS = {
    "normal": NormalLaw(3.0, 2.0),
    "constant": NormalLaw(3.0, 0.0),
    "beta": BetaLaw(0.5, 0.7, -1.0, 2.0),
    "pilot": PilotLaw(np.array([1.0, 2.0, 7.0])),
    "frozen": FrozenLaw(stats.beta(2, 5, loc=-1, scale=3)),
    "discrete": FrozenLaw(stats.binom(3, 0.2)),
}


@pytest.mark.parametrize("name", LAWS)
def test_draws_have_the_mean_and_deviation(name: str) -> None:
    """False alarms below 1e-6: both within 6 standard errors (Beta and pilot: bounded, so even less)."""
    law = LAWS[name]
    drawn = law.draw(40_000, np.random.default_rng(1))
    assert abs(drawn.mean() - law.mean) <= 6.0 * law.deviation / 200.0
    fourth = ((drawn - drawn.mean()) ** 4).mean()
    error = math.sqrt(fourth / 40_000)
    assert abs(drawn.var() - law.deviation**2) <= 6.0 * error + 1e-12


def _design(means: Any, family: Any = None, deviations: Any = None, most: int = 5000) -> Any:
    chosen = Setting(PAIR, family or sw.Gaussian(), sw.TrackAndStop(), sw.Wealth())
    return prepare(chosen, means, (1e-9,), most, deviations)


def test_an_arms_samples_depend_on_seed_case_repetition_arm_and_number_alone() -> None:
    """Whoever asks for more at a time, or uses another arm's first, finds the same samples."""
    design = _design(
        [stats.norm(0, 1), stats.nct(5, 0.5)]
    )  # nct: two draws for a block, not a sample
    few, many = (Supply(design, 7, 2, 3) for _ in range(2))
    seen: list[list[float]] = [[], []]
    for turn in range(30):
        few.fill(400, 10**6)
        arm, used = turn % 2, 5 + 13 * turn
        seen[arm] += few.source.samples[arm, :used].tolist()
        few.source.used[arm] = used
    many.fill(10**6, 10**6)
    for arm in range(2):
        assert len(seen[arm]) > source.FIRST
        assert seen[arm] == many.source.samples[arm, : len(seen[arm])].tolist()
    other = Supply(design, 7, 2, 4)
    other.fill(0, 10**6)
    assert not np.any(other.source.samples[0, :100] == many.source.samples[0, :100])


def test_results_depend_on_neither_workers_nor_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {
        "family": sw.Bounded(),
        "deviations": [0.1, 0.3],
        "repetitions": 8,
        "seed": 5,
    }
    one = sw.simulate(PAIR, [0.5, 0.4], **settings, workers=1)
    two = sw.simulate(PAIR, [0.5, 0.4], **settings, workers=2)
    monkeypatch.setattr("stopwise.engine.worker.CHUNK", 57)
    small = sw.simulate(PAIR, [0.5, 0.4], **settings, workers=1)
    assert one.stopping_times.tolist() == two.stopping_times.tolist()
    assert one.stopping_times.tolist() == small.stopping_times.tolist()
    assert one.stopping_times.max() > source.FIRST  # stacks were refilled


def test_a_run_takes_each_arms_samples_in_order() -> None:
    """Independently of the stacks: the trace holds the law's own sequence, arm by arm."""
    values = {"a": [0.0, 1.0, 2.0], "b": [0.5, 0.6]}
    found = sw.run(
        PAIR, values, family=sw.Gaussian(), seed=3, max_rounds=900, delta=1e-9, trace=True
    )
    assert found.trace is not None
    for arm, (law, each) in enumerate(
        zip(read_truth(values, sw.Gaussian()).laws, "ab", strict=True)
    ):
        rng = np.random.Generator(
            np.random.PCG64(np.random.SeedSequence(3, spawn_key=(0, 0, 2, arm)))
        )
        expected = np.concatenate([law.draw(size, rng) for size in (128, 256, 512)])
        mine = found.trace.samples[found.trace.arms == arm]
        assert mine.tolist() == expected[: mine.size].tolist()
        assert set(mine.tolist()) <= set(values[each])


def test_wrong_variances_are_seen_to_be_wrong() -> None:
    """A variance that was guessed ten times too small: errors far above delta, which simulate shows.

    False alarms below 1e-6: 40 errors of 200 or more (at a share of 1/2 fewer have probability 1e-18).
    """
    found = sw.simulate(
        *(PAIR, [0.1, 0.0]),
        **{"family": sw.Gaussian(0.1), "deviations": math.sqrt(10.0), "strategy": sw.Uniform()},
        **{"repetitions": 200, "seed": 1, "workers": 1},
    )
    assert np.sum(~found.correct) >= 40


def test_pilot_data_come_as_dicts_lists_and_tables() -> None:
    pandas = pytest.importorskip("pandas")
    columns = {"a": [0.2, 0.9, 0.8], "b": [0.1, 0.3]}
    table = pandas.DataFrame({"a": columns["a"], "b": [*columns["b"], math.nan]})
    truths = [read_truth(each, sw.Bounded()) for each in (columns, list(columns.values()), table)]
    for truth in truths:
        np.testing.assert_allclose(truth.means, [1.9 / 3, 0.2])
        assert [law.values.size for law in truth.laws] == [3, 2]
    assert truths[0].labels == truths[2].labels == ("a", "b")


@pytest.mark.parametrize(
    ("means", "options", "words"),
    [
        ([0.5, 0.9], {"deviations": [0.1, 0.31]}, ["deviations", "0.31", "below 0.3,", "mean 0.9"]),
        ([0.5, 0.4], {"deviations": [0.1, -0.1]}, ["deviations[1]", "-0.1", "at least 0"]),
        ([0.5, 0.4], {"deviations": [0.1]}, ["deviations", "2 numbers", "this has 1"]),
        ([0.5, 1.4], {"deviations": 0.1}, ["means[1]", "1.4", "[0, 1]"]),
        ([stats.beta(2, 3), 0.4], {}, ["means[1]", "0.4", "a law, as for the other arms"]),
        ([stats.cauchy(), stats.norm()], {}, ["means[0]", "with a mean"]),
        ([stats.norm(0.5, 1), stats.beta(2, 3)], {}, ["means[0]", "values that Bounded"]),
        ([stats.uniform(0, 2), stats.beta(2, 3)], {}, ["means[0]", "2.0", "values that Bounded"]),
        ([stats.beta(2, 3)] * 2, {"deviations": 0.1}, ["deviations", "laws have their own"]),
        ({"a": [0.1, 0.2], "b": [0.3, 1.2]}, {}, ["means['b']", "1.2", "values that Bounded"]),
        ({"a": [0.1, 0.2], "b": [0.3, math.nan]}, {}, ["means['b']", "finite", "in silence"]),
        ({"a": [0.1, 0.2], "b": []}, {}, ["means['b']", "not empty"]),
        (
            {"a": [0.1], "b": [0.2]},
            {"deviations": 1.0},
            ["deviations", "pilot data have their own"],
        ),
        ({"a": [0.1], "b": [0.2], "c": [0.3]}, {}, ["means", "2 numbers", "this has 3"]),
    ],
)
def test_refusals(means: Any, options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(BadArgument) as error:
        sw.simulate(PAIR, means, family=sw.Bounded(), repetitions=1, **options)
    for word in words:
        assert word in str(error.value)


def test_families_whose_mean_decides_the_deviation_refuse_one() -> None:
    with pytest.raises(BadArgument, match=r"deviations: got 0.1.*Bernoulli.*the law itself"):
        sw.simulate(PAIR, [0.5, 0.4], family=sw.Bernoulli(), deviations=0.1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["not empty", "first line with the arms' labels"]),
        ("a,b\n", ["not empty"]),
        ("a\n1\n2\n", ["row 1", "two columns"]),
        ("1,2\n3,4\n", ["row 1", "labels"]),
        ("a,a\n1,2\n", ["row 1, column 2", "'a'", "differ"]),
        ("a,b\n1,2\n3,x\n", ["row 3, column 'b'", "'x'", "finite number"]),
        ("a;b\n1;0,5\n", ["row 2, column 'b'", "'0,5'", "decimal point"]),
        ("a,b\n1,nan\n", ["row 2, column 'b'", "nan"]),
        ("a,b\n1,2\n,4\n5,6\n", ["row 3, column 'a'", "in silence"]),
        ("a,b\n1,2,3\n", ["row 2", "at most 2 cells"]),
        ("a,b\n1,2\n3,\n", ["column 'b'", "1 values", "at least two"]),
    ],
)
def test_bad_pilot_files_are_named_by_row_and_column(
    text: str, words: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(BadArgument) as error:
        read_pilot(path)
    for word in words:
        assert word in str(error.value)


def test_pilot_files_may_have_columns_that_end_early(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("\ufeffforest;boosting\n0.9;0.8\n0.95;0.7\n1;\n\n", encoding="utf-8")
    assert read_pilot(path) == {"forest": [0.9, 0.95, 1.0], "boosting": [0.8, 0.7]}
    with pytest.raises(BadArgument, match="a file that exists"):
        read_pilot(tmp_path / "none.csv")
