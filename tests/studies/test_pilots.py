"""Laws, deviations and pilot data in plans, studies and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

import stopwise as sw
import stopwise.cli.plan  # registers its command
from stopwise.cli.main import app
from stopwise.core.errors import BadArgument
from stopwise.studies.pilot import read_pilot

PAIR, FAIR = sw.BestArm(2), {"uniform": sw.Uniform()}
SCORES = "forest,boosting\n0.9,0.5\n0.8,0.4\n0.95,0.6\n"
PILOT = {"forest": [0.9, 0.8, 0.95], "boosting": [0.5, 0.4, 0.6]}


def test_a_plan_is_the_simulation_of_its_laws() -> None:
    found = sw.plan(PAIR, PILOT, family=sw.Gaussian(), strategies=FAIR, repetitions=20, seed=2)
    runs = sw.simulate(
        PAIR, PILOT, family=sw.Gaussian(), strategy=sw.Uniform(), repetitions=20, seed=2
    )
    assert found["uniform"].times.tolist() == sorted(runs.stopping_times.tolist())
    assert found.labels == ("forest", "boosting")
    assert "forest" in repr(found)
    assert "3 pilot values, sd 0.06236" in repr(found)
    assert found.to_dict()["labels"] == ["forest", "boosting"]
    np.testing.assert_allclose(
        found.to_dict()["instances"][0]["deviations"], [np.std(each) for each in PILOT.values()]
    )


def test_ranges_with_deviations_have_a_law_at_every_draw() -> None:
    settings = {"strategies": FAIR, "repetitions": 4, "draws": 3, "seed": 2, "max_rounds": 400}
    found = sw.plan(
        PAIR, [(2.0, 3.0), 0.0], family=sw.Gaussian(), deviations=[0.5, 2.0], **settings
    )
    for each in found.instances:
        assert [law.deviation for law in each.laws] == [0.5, 2.0]
        assert [law.mean for law in each.laws] == each.means.tolist()
    plain = sw.plan(PAIR, [(2.0, 3.0), 0.0], family=sw.Gaussian(), **settings)
    assert found["uniform"].times.tolist() != plain["uniform"].times.tolist()


def test_plan_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(SCORES)
    given = ["plan", "best-arm", "--family", "gaussian:variance=1", "--strategies", "uniform"]
    given += ["--repetitions", "20", "--seed", "2", "--json"]
    printed = CliRunner().invoke(app, [*given, "--pilot", str(path)], catch_exceptions=False)
    expected = sw.plan(PAIR, PILOT, family=sw.Gaussian(), strategies=FAIR, repetitions=20, seed=2)
    assert json.loads(printed.stdout) == json.loads(json.dumps(expected.to_dict()))
    printed = CliRunner().invoke(
        app, [*given, "--means", "1,0", "--deviations", "0.5,2"], catch_exceptions=False
    )
    assert json.loads(printed.stdout)["instances"][0]["deviations"] == [0.5, 2.0]
    for change, words in (
        ([], "means: got 'neither'; allowed: either --means or --pilot FILE"),
        (["--means", "1,0", "--pilot", str(path)], "means: got 'both'"),
        (["--pilot", str(tmp_path / "none.csv")], "a file that exists"),
        (["--pilot", str(path), "--deviations", "1"], "pilot data have their own"),
        (["--means", "1,0", "--deviations", "1,x"], "deviations: got '1,x'"),
    ):
        refused = CliRunner().invoke(app, [*given, *change])
        assert isinstance(refused.exception, BadArgument)
        assert words in str(refused.exception)


STUDY = """
problem = "best-arm"
family = "gaussian"
strategies = ["uniform"]
repetitions = 10
max_rounds = 500
[[instances]]
name = "normal"
means = [1.0, 0.0]
deviations = [0.5, 2.0]
[[instances]]
name = "pilot"
pilot = "scores.csv"
"""


def test_a_study_file_has_deviations_and_pilots(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text(SCORES)
    (tmp_path / "mine.toml").write_text(STUDY)
    study = sw.Study.load(tmp_path / "mine.toml")
    study.run(workers=1, progress=False)
    same = sw.Study(
        sw.BestArm,
        {"normal": [stats.norm(1.0, 0.5), stats.norm(0.0, 2.0)], "pilot": PILOT},
        family=sw.Gaussian(),
        strategies={"uniform": sw.Uniform()},
        repetitions=10,
        max_rounds=500,
        folder=tmp_path / "same",
    )
    same.run(workers=2, progress=False)
    for (_, one), (_, two) in zip(study.collect(), same.collect(), strict=True):
        assert one.stopping_times.tolist() == two.stopping_times.tolist()
    about = json.loads((tmp_path / "mine.study" / study.key / "spec.json").read_text())
    assert about["laws"]["normal"] == ["normal, sd 0.5", "normal, sd 2"]
    assert "3 pilot values" in study.report().read_text()


def test_a_study_is_known_again_by_its_laws(tmp_path: Path) -> None:
    def key(laws: object) -> str:
        return sw.Study(
            PAIR, {"one": laws}, family=sw.Gaussian(), repetitions=10, folder=tmp_path
        ).key

    two = [stats.norm(1.0, 0.5), stats.norm(0.0, 2.0)]
    assert key(two) == key([stats.norm(1.0, 0.5), stats.norm(0.0, 2.0)])
    assert key(two) != key([stats.norm(1.0, 0.5), stats.norm(0.0, 2.5)])
    assert key(two) != key([stats.norm(loc=1.0, scale=0.5), stats.logistic(0.0, 2.0)])
    assert key(two) != key([1.0, 0.0])
    assert key(PILOT) != key({**PILOT, "forest": [0.9, 0.8, 0.951]})
    bars = [stats.rv_histogram(np.histogram([0.1, 0.2, each])) for each in (0.5, 0.6)]
    assert key([bars[0], bars[0]]) == key([bars[0], bars[0]])
    assert key([bars[0], bars[0]]) != key([bars[0], bars[1]])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("deviations = [0.5, 2.0]", "deviations = [0.5]", ["line 10", "instances[0].deviations"]),
        ('pilot = "scores.csv"', 'pilot = "none.csv"', ["line 13", "instances[1].pilot", "exists"]),
        ('pilot = "scores.csv"', 'pilot = "bad.csv"', ["instances[1].pilot", "row 3", "'oops'"]),
        ('pilot = "scores.csv"', "", ["instances[1]", "``pilot`` data"]),
    ],
)
def test_a_mistake_in_a_file_names_its_line(
    old: str, new: str, words: list[str], tmp_path: Path
) -> None:
    (tmp_path / "scores.csv").write_text(SCORES)
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3,oops\n")
    (tmp_path / "mine.toml").write_text(STUDY.replace(old, new))
    with pytest.raises(BadArgument) as error:
        sw.Study.load(tmp_path / "mine.toml")
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1_0,2\n3,4\n", "row 2, column 'a'"),
        ('a,b\n1,2\n3,"4\n5,6\n', "can be read"),
        ("a;b\n1,5;2\n3;4\n", "'1,5'"),
        ("a,b\n", "not empty"),
    ],
)
def test_cells_that_are_no_numbers_are_refused(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "pilot.csv").write_text(text)
    with pytest.raises(BadArgument, match=words):
        read_pilot(tmp_path / "pilot.csv")
