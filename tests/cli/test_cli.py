"""The command line: the library's numbers as a table or JSON, and errors of one clear line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest
from typer.testing import CliRunner

import stopwise as sw
import stopwise.cli.oracle  # registers its command
from stopwise.cli.main import app, main

NORMAL = ("--family", "gaussian")
COINS = ["best-arm", "--means", "0.5,0.45,0.43,0.4", "--family", "bernoulli"]
SCRIPT = "from stopwise.cli.main import main; main()"  # what the installed ``stopwise`` runs

# arguments, and the call of the library that they spell
SPELLED: list[tuple[list[str], Any, list[float], Any]] = [
    (COINS, sw.BestArm(4), [0.5, 0.45, 0.43, 0.4], sw.Bernoulli()),
    (
        ["best-arm:epsilon=0.1", "--means", "1,0.5", *NORMAL],
        sw.BestArm(2, 0.1),
        [1, 0.5],
        sw.Gaussian(),
    ),
    (["best-arm", "--means", "-1,-2.5", *NORMAL], sw.BestArm(2), [-1, -2.5], sw.Gaussian()),
    (["best-arm", "--means", "1,1", *NORMAL], sw.BestArm(2), [1, 1], sw.Gaussian()),
    (
        ["thresholding:threshold=0.5", "--means", "0.3,0.6", "--family", "bounded:low=-1,high=2"],
        sw.Thresholding(2, 0.5),
        [0.3, 0.6],
        sw.Bounded(-1, 2),
    ),
    (
        ["minimum-threshold:threshold=1.5,epsilon=0.25", "--means", "1,2", "--family", "poisson"],
        sw.MinimumThreshold(2, 1.5, 0.25),
        [1, 2],
        sw.Poisson(),
    ),
    (
        ["any-low-arm:threshold=2", "--means", "1,4", "--family", "negative-binomial:successes=3"],
        sw.AnyLowArm(2, 2.0),
        [1, 4],
        sw.NegativeBinomial(3),
    ),
    (["any-sign", "--means", "1,-2", *NORMAL], sw.AnySign(2), [1, -2], sw.Gaussian()),
    (
        ["any-half-space:normals=[[0.8,0.2],[0.2,0.8]]", "--means", "1,1", *NORMAL],
        sw.AnyHalfSpace([[0.8, 0.2], [0.2, 0.8]]),
        [1, 1],
        sw.Gaussian(),
    ),
    (
        [
            "any-half-space:normals=[[0.8,0.2],[0.2,0.8]],offsets=[0.1,-0.3]",
            "--means",
            "1,1",
            *NORMAL,
        ],
        sw.AnyHalfSpace([[0.8, 0.2], [0.2, 0.8]], [0.1, -0.3]),
        [1, 1],
        sw.Gaussian(),
    ),
    (
        ["all-half-spaces:offsets=[0.5],normals=[[1,1]]", "--means", "1,1", *NORMAL],
        sw.AllHalfSpaces([[1, 1]], [0.5]),
        [1, 1],
        sw.Gaussian(),
    ),
    (
        ["sphere:radius=2", "--means", "0.2,0.1", "--family", "gaussian:variance=0.25"],
        sw.Sphere(2, 2.0),
        [0.2, 0.1],
        sw.Gaussian(0.25),
    ),
    (
        ["sphere:center=[1,0],radius=0.5", "--means", "0.2,0.1", *NORMAL],
        sw.Sphere(2, 0.5, [1, 0]),
        [0.2, 0.1],
        sw.Gaussian(),
    ),
]

# arguments of ``stopwise oracle``, and what the one line on stderr must hold
MISTAKES: list[tuple[list[str], list[str]]] = [
    (
        ["worst-arm", "--means", "1,2", *NORMAL],
        ["problem.kind: got 'worst-arm'", "best-arm", "sphere"],
    ),
    (
        ["best-arm", "--means", "1,2", "--family", "cauchy"],
        ["family.kind: got 'cauchy'", "gaussian", "inverse-gaussian"],
    ),
    (["best-arm:eps=1", "--means", "1,2", *NORMAL], ["problem.eps: got 1", "best-arm: epsilon"]),
    (
        ["best-arm", "--means", "1,2", "--family", "gaussian:sd=1"],
        ["family.sd: got 1", "the options of gaussian: variance"],
    ),
    (["best-arm", "--means", "1,x", *NORMAL], ["means: got '1,x'", "numbers between commas"]),
    (["best-arm", "--means", "1,,2", *NORMAL], ["means: got '1,,2'", "numbers between commas"]),
    (["best-arm", "--means", "", *NORMAL], ["means: got ''", "numbers between commas"]),
    (
        ["best-arm:epsilon=0.1.2", "--means", "1,2", *NORMAL],
        ["problem.epsilon: got '0.1.2'", "a number"],
    ),
    (
        ["any-half-space:normals=[[1,0]", "--means", "1,2", *NORMAL],
        ["problem.normals: got '[[1,0]'"],
    ),
    (
        ["thresholding", "--means", "1,2", *NORMAL],
        ["problem: got 'thresholding'", "options of thresholding: threshold"],
    ),
    (
        ["best-arm", "--means", "1,2", "--family", "binomial"],
        ["family: got 'binomial'", "options of binomial: trials"],
    ),
    (["best-arm", "--means", "nan,2", *NORMAL], ["means: got [nan, 2.0]", "finite"]),
    (["best-arm", "--means", "1", *NORMAL], ["arms: got 1", "at least 2"]),
    (["best-arm:epsilon=-1", "--means", "1,2", *NORMAL], ["epsilon: got -1", "at least 0"]),
    (
        ["best-arm", "--means", "1.2,0.5", "--family", "bernoulli"],
        ["means[0]: got 1.2", "Bernoulli()", "(0, 1)"],
    ),
    (
        ["any-half-space:normals=[[1,0],[0]]", "--means", "1,2", *NORMAL],
        ["normals: got [[1, 0], [0]]"],
    ),
    (
        ["any-half-space:normals=[[1,1]]", "--means", "1,2", "--family", "exponential"],
        ["AnyHalfSpace with Exponential()", "not convex"],
    ),
    (["sphere", "--means", "0.1,0.2", "--family", "bernoulli"], ["Sphere with Bernoulli()"]),
]


def run(*arguments: str) -> str:
    """Standard output of a run in this process that must go well."""
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "120"})
    assert result.exit_code == 0, result.output
    return re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def assert_one_clear_line(stderr: str, parts: list[str]) -> None:
    assert stderr.startswith("stopwise: ")
    assert len(stderr.splitlines()) == 1
    assert "Traceback" not in stderr
    assert [part for part in parts if part not in stderr] == []


def test_table_has_time_and_weights() -> None:
    text = run("oracle", *COINS)
    assert re.search(r"T\*\s+989\.79214\b", text)
    assert "BestArm(arms=4, epsilon=0.0)" in text
    weights = sw.oracle(sw.BestArm(4), [0.5, 0.45, 0.43, 0.4], family=sw.Bernoulli()).weights[0]
    for arm, (mean, weight) in enumerate(zip(("0.5", "0.45", "0.43", "0.4"), weights, strict=True)):
        assert re.search(rf"\b{arm}\W+{re.escape(mean)}\W+{weight:.6f}", text)


def test_table_has_a_column_for_each_oracle_answer() -> None:
    text = run("oracle", "any-half-space:normals=[[0.8,0.2],[0.2,0.8]]", "--means", "1,1", *NORMAL)
    assert "weight for (0, 1)" in text
    assert "weight for (1, 1)" in text
    assert re.search(r"T\*\s+2\b", text)
    assert re.search(r"0\W+1\W+0\.800000\W+0\.200000", text)


def test_table_of_a_tie_says_infinite() -> None:
    assert re.search(r"T\*\s+infinite", run("oracle", "best-arm", "--means", "1,1", *NORMAL))


@pytest.mark.parametrize(
    ("arguments", "problem", "means", "family"), SPELLED, ids=[" ".join(row[0]) for row in SPELLED]
)
def test_json_is_what_the_library_says(
    arguments: list[str], problem: Any, means: list[float], family: Any
) -> None:
    expected = json.loads(json.dumps(sw.oracle(problem, means, family=family).to_dict()))
    assert json.loads(run("oracle", *arguments, "--json")) == expected


def test_json_numbers_of_the_example() -> None:
    found = json.loads(run("oracle", *COINS, "--json"))
    assert found["time"] == pytest.approx(989.79214, abs=5e-6)
    assert found["answers"] == [0]
    assert sum(found["weights"][0]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "parts"), MISTAKES, ids=[" ".join(row[0]) for row in MISTAKES]
)
def test_mistake_is_one_line_and_exit_code_2(
    arguments: list[str],
    parts: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["stopwise", "oracle", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert_one_clear_line(err, parts)


@pytest.mark.parametrize("place", [0, 1, 2, 4], ids=["problem", "family", "option", "number"])
def test_mistake_in_a_real_process(place: int) -> None:
    arguments, parts = MISTAKES[place]
    result = python("-c", SCRIPT, "oracle", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert_one_clear_line(result.stderr, parts)


def test_oracle_in_a_real_process() -> None:
    result = python("-c", SCRIPT, "oracle", *COINS, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["time"] == pytest.approx(989.79214, abs=5e-6)


def test_oracle_as_a_module() -> None:
    result = python("-m", "stopwise.cli.main", "oracle", *COINS, "--json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["time"] == pytest.approx(989.79214, abs=5e-6)


@pytest.mark.parametrize(
    "arguments",
    [
        ["best-arm"],
        ["best-arm", "--means", "1,2"],
        ["best-arm", "--means", "1,2", *NORMAL, "--wide"],
        [],
    ],
    ids=" ".join,
)
def test_missing_or_unknown_arguments_exit_with_2(arguments: list[str]) -> None:
    result = CliRunner().invoke(app, ["oracle", *arguments])
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)


def test_help() -> None:
    assert "oracle" in run("--help")
    text = run("oracle", "--help")
    assert all(word in text for word in ("problem", "--means", "--family", "--json", "best-arm"))


def test_version() -> None:
    assert run("--version").strip() == sw.__version__


def test_help_in_a_real_process_does_not_import_numba() -> None:
    code = f"""
import sys
try:
    {SCRIPT}
except SystemExit as end:
    print("code", end.code, "numba" in sys.modules, file=sys.stderr)
"""
    result = python("-c", code, "--help")
    assert "oracle" in result.stdout
    assert result.stderr.split() == ["code", "0", "False"]


def test_names_of_everything_that_can_be_spelled() -> None:
    found = json.loads(CliRunner().invoke(app, ["names", "--json"]).stdout)
    assert set(found) == {"problem", "family", "strategy", "stopping"}
    (best,) = (each for each in found["problem"] if each["name"] == "best-arm")
    assert best == {
        "name": "best-arm",
        "options": ["epsilon=0.0", "goal=max"],
        "title": "Which option has the highest (or lowest) mean?",
    }
    text = CliRunner().invoke(app, ["names"]).stdout
    for rows in found.values():
        for row in rows:
            assert row["name"] in text
            assert row["title"]
