"""The shell scripts of the pages about campaigns, and the examples: they run, and decide."""

from __future__ import annotations

import os
import random
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stopwise as sw

ROOT = Path(__file__).parents[2]


def script(page: str) -> str:
    """The shell script of a page."""
    (found,) = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "docs" / page).read_text(), re.S | re.M)
    return found


def bash(text: str, folder: Path) -> list[str]:
    (folder / "stopwise").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m stopwise.cli.main "$@"\n'
    )
    (folder / "stopwise").chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    environment.pop("STOPWISE_STORAGE", None)
    command = ["bash", "-euo", "pipefail", "-c", text]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
    return ran.stdout.splitlines()


def test_a_shell_loop_runs_a_campaign_until_it_is_decided(tmp_path: Path) -> None:
    """B sells 30 %, the others 12 %: that another is named has a chance below 1e-6."""
    lines = bash(script("first-campaign.md"), tmp_path)
    assert lines[0].startswith("packets: 3 arms")
    assert lines[-1] == lines[-2]  # told with the last sample, and again by ask
    assert lines[-1].startswith("decided: B is best, up to 2 (evidence ")
    campaign = sw.Campaign.open("packets", tmp_path / "stopwise.db")
    assert campaign.verify().agrees


def test_a_shell_heartbeat_ends_with_its_sample(tmp_path: Path) -> None:
    lines = bash(script("several-workers.md"), tmp_path)
    assert lines[-1].startswith("not in flight any more")
    assert "event 2: small 0.7" in lines


def test_the_first_campaign_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random.seed(1)
    example = runpy.run_path(str(ROOT / "examples" / "first_campaign.py"))
    campaign = example["main"](tmp_path)
    assert campaign.decision.text == "B is best, up to 0.01"
    assert "agrees" in capsys.readouterr().out
    assert (tmp_path / "first_campaign.csv").stat().st_size > 1000
    assert example["main"](tmp_path).decision == campaign.decision  # again: nothing to do


def test_several_workers_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import several_workers

    campaign = several_workers.main(tmp_path)
    dead = capsys.readouterr().out.splitlines()[0].count("-9")  # 0 if two were quicker to decide
    assert dead <= 1
    assert campaign.decision is not None
    assert campaign.verify().agrees
    kinds = [event.kind for event in campaign.events()]
    assert kinds.count("told") == kinds.count("asked") - dead


def test_classifiers_have_scores(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    example = runpy.run_path(str(ROOT / "examples" / "classifiers.py"))
    for label in example["LABELS"]:
        assert 0.85 <= example["accuracy"](label, 1) <= 1.0
    campaign = sw.Campaign.create(example["spec"]("bounded"), tmp_path / "x.db", "bounded")
    assert campaign.status().proven


@pytest.mark.slow
def test_classifiers_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In 938 samples when it was written; tickets number the splits, so that no two runs are alike."""
    pytest.importorskip("sklearn")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import classifiers

    for campaign in classifiers.main(tmp_path, ("bounded",)).values():
        assert campaign.decision.text == "logistic regression is best, up to 0.01"
        assert campaign.status().samples <= 1600
        assert campaign.verify().agrees


def test_the_measurements_of_the_guarantee_run(capsys: pytest.CaptureFixture[str]) -> None:
    example = runpy.run_path(str(ROOT / "examples" / "guarantee.py"))
    found = example["main"](8)
    assert len(found) == 7
    assert capsys.readouterr().out.count("wrong") == 7 + 1  # one row's name has the word
    assert found["kept    poor results get lost"] == 0.0
    assert found["broken  the same, taken for random"] > 0.5


DELAYS = ROOT / "docs" / "what-the-guarantee-covers.md"


def test_the_measurements_of_delays_run(capsys: pytest.CaptureFixture[str]) -> None:
    """The rows of the page, with fewer campaigns; their seeds are fixed."""
    found = runpy.run_path(str(ROOT / "examples" / "delays.py"))["main"](20)
    table, page = capsys.readouterr().out, DELAYS.read_text()
    assert all(f"\n{line[:54]}" in page for line in table.splitlines())
    broken = [share for name, share in found.items() if name.startswith("broken")]
    kept = [share for name, share in found.items() if name.startswith("kept")]
    assert (len(broken), len(kept)) == (4, 7)
    assert np.mean(broken) > 0.5
    assert max(kept) <= 0.1


@pytest.mark.slow
def test_the_measurements_of_delays_are_those_of_the_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = runpy.run_path(str(ROOT / "examples" / "delays.py"))["main"]()
    for name, share in found.items():
        assert (share > 0.1) == name.startswith("broken"), name
    assert f"```text\n{capsys.readouterr().out}```\n" in DELAYS.read_text()


def test_the_demo_ends_with_a_decision(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "first_look.py"))["campaign"]()
    text = capsys.readouterr().out
    assert "decided: new page is best" in text
    assert "agrees" in text


def test_the_formula_of_the_page_is_the_sessions() -> None:
    """docs/what-the-guarantee-covers.md writes out evidence and mixture of one Gaussian arm."""
    spec = {
        "question": "thresholding:threshold=0",
        "arms": ["A"],
        "family": {"kind": "gaussian", "variance": 1},
        "delta": 0.1,
        "stopping": "mixture",
    }
    session = sw.Campaign.create(spec, "memory:", "one").spec.session()
    values = np.random.default_rng(1).normal(0.1, 1, 20)
    for value in values:
        session.record(0, float(value))
    x, n = values.sum(), values.size
    assert session.evidence == pytest.approx(x**2 / (2 * n))
    margin = x**2 / (2 * (1 + n)) - np.log(1 + n) / 2 - np.log(1 / 0.1)
    assert session.evidence - session.threshold == pytest.approx(margin)
