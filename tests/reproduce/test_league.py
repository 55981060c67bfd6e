"""The league: who is entered, how ranks come about, and a page that stands alone."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import stopwise as sw
import stopwise.cli.league
from stopwise.cli.app import app
from stopwise.reproduce.league.entries import entrants, entries, instances, rules
from stopwise.reproduce.league.league import League
from stopwise.reproduce.league.page import draw_ranking, page
from stopwise.reproduce.league.standings import overall, profile

OWN = """
import stopwise as sw

class TakesTurns(sw.Direct):
    "Every arm in turn."

    def next_arm(self, instance, state, rounds, rng):
        return rounds % state.taken.size
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> League:
    folder = tmp_path_factory.mktemp("league")
    chosen = League(["jn6", "sparse10"], ["Uniform", "Sticky"], repetitions=6, folder=folder)
    assert chosen.run(workers=1)
    return chosen


def test_instances_are_those_of_the_literature() -> None:
    """T* of three instances as published; every instance has a name of its own and a source."""
    found = instances((), full=True)
    assert len({each.name for each in found}) == len(found) >= 30
    assert all(each.source for each in found)
    times = {
        each.name: sw.oracle(each.problem, each.means, family=each.family).time
        for each in found
        if each.name in ("gk1", "sparse10", "half-space")
    }
    assert times["gk1"] == pytest.approx(989.79214, rel=1e-7)
    assert times["sparse10"] == pytest.approx(32.0, rel=1e-7)
    normals = np.full((10, 10), 0.2 / 9)
    np.fill_diagonal(normals, 0.8)
    figure2 = sw.oracle(sw.AnyHalfSpace(normals), np.full(10, -0.1), family=sw.Gaussian())
    assert times["half-space"] == pytest.approx(figure2.time, rel=1e-9)


def test_every_entry_can_run() -> None:
    """What a strategy does not answer is left out; everything else has a design."""
    full = list(entries(instances((), True), entrants((), True), rules(["wealth"]), (0.1,)))
    names = {entry.strategy[0] for entry in full}
    assert names == {each.name for each in entrants((), True)}
    assert all(entry.max_rounds >= 100_000 for entry in full)


def test_ranks_and_ratios(small: League) -> None:
    found = small.standings()
    for instance in found.instances:
        for delta in found.deltas:
            lines = [each for each in found.of(instance.name) if each.summary.delta == delta]
            assert [each.rank for each in lines] == [1, 2]
            means = [each.summary.mean for each in lines]
            assert means == sorted(means)
            assert lines[1].ratio == means[1] / means[0]
            assert found.bounds[instance.name, delta] < means[0]
    again = small.standings()  # nothing is computed twice, not even the times
    assert [line.nanoseconds for line in again.lines] == [line.nanoseconds for line in found.lines]


def test_profiles() -> None:
    factors = np.array([1.0, 1.5, 3.0])
    assert profile([1.0, 2.0, math.nan, 1.2], factors).tolist() == [0.25, 0.5, 0.75]
    assert overall([1.0, 4.0]) == pytest.approx(2.0)
    assert overall([1.0, math.nan]) == math.inf


def test_the_page_stands_alone(small: League) -> None:
    text = page(small.standings(), {"seed": 0})
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    for word in ("jn6", "sparse10", "Sticky", "Uniform", "lil&#x27;UCB", "error rate"):
        assert word in text


def test_one_delta_is_drawn_as_a_ranking(tmp_path: Path) -> None:
    """A row for each strategy: lines against delta would be points on top of each other."""
    league = League(["jn6"], ["Uniform", "KL-LUCB"], deltas=[0.1], repetitions=4, folder=tmp_path)
    league.run(progress=False)
    found = league.standings()
    axes = draw_ranking(found, found.instances[0]).axes[0]
    means = {line.strategy: line.summary.mean for line in found.lines if line.column == "wealth"}
    shown = [label.get_text() for label in axes.get_yticklabels()]
    assert shown == sorted(means, key=lambda name: -means[name])
    assert "Mean samples at delta = 0.1" in page(found, {"seed": 0})


def test_a_strategy_from_a_file_joins(tmp_path: Path) -> None:
    """Only its own runs are computed the second time; two calls give the same numbers."""
    file = tmp_path / "turns.py"
    file.write_text(OWN)
    call = ["league", "--instances", "jn6", "--strategies", f"Uniform,{file}", "--json"]
    call += ["--repetitions", "4", "--folder", str(tmp_path / "league")]
    done = [CliRunner().invoke(app, call) for _ in range(2)]
    assert all(each.exit_code == 0 for each in done), done[0].output
    rows = json.loads(done[0].stdout)
    assert done[0].stdout == done[1].stdout
    means = {(row["strategy"], row["delta"]): row["mean"] for row in rows}
    assert len(means) == 6
    assert means["Uniform", 0.1] == means["takes-turns", 0.1]  # the same arms and samples


@pytest.mark.parametrize(
    ("option", "given", "words"),
    [
        ("--instances", "gk9", "names of the league's instances: gk1"),
        ("--strategies", "nowhere.py", "a Python file that exists"),
        ("--strategies", "sticki", "allowed: one of"),
        ("--strategies", "APGAI", "strategies for one of the instances' questions"),
        ("--rules", "guess", "one of"),
        ("--deltas", "0.1,2", "strictly between 0 and 1"),
        ("--repetitions", "1", "at least 2"),
    ],
)
def test_refusals(option: str, given: str, words: str, tmp_path: Path) -> None:
    where = [] if option == "--instances" else ["--instances", "gk1"]
    call = ["league", *where, option, given, "--folder", str(tmp_path)]
    found = CliRunner().invoke(app, call)
    assert isinstance(found.exception, sw.StopwiseError)
    assert words in str(found.exception)
