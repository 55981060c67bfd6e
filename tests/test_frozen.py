"""What 0.2.0 gave, and must be given for ever: runs bit for bit, and campaigns that verify."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from stopwise import spelling
from stopwise.campaign import Campaign
from stopwise.engine.batch import Desk, new_outcome
from stopwise.engine.loop import play
from stopwise.engine.plan import generator, prepare

ASSETS = Path(__file__).parent / "assets"
FROZEN = json.loads((ASSETS / "golden-0.2.0.json").read_text())
CAMPAIGNS = ("pages", "limits", "both", "running", "own")


@pytest.mark.parametrize("setting", FROZEN["settings"], ids=lambda each: str(each["seed"]))
def test_runs_are_those_of_0_2_0(setting: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stopwise.engine.batch.kernel", lambda *_: play)
    means = setting["means"]
    plan = prepare(
        spelling.problem(setting["problem"], len(means)),
        spelling.strategy(setting["strategy"]),
        means,
        spelling.family(setting["family"]),
        tuple(FROZEN["deltas"]),
        spelling.threshold(setting["stopping"]),
        FROZEN["max_rounds"],
    )
    desk = Desk(plan)
    for repetition, known in enumerate(setting["runs"]):
        outcome = new_outcome(plan)
        for _ in desk.run(generator(setting["seed"], 0, repetition), outcome, lambda: False):
            pass
        assert outcome.times.tolist() == known["times"]
        assert outcome.codes.tolist() == known["codes"]
        assert outcome.counts.tolist() == known["counts"]


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_campaigns_of_0_2_0_verify(name: str, tmp_path: Path) -> None:
    shutil.copy(ASSETS / "campaigns-0.2.0.db", tmp_path / "old.db")
    campaign = Campaign.open(name, tmp_path / "old.db")
    found = campaign.verify()
    assert found.agrees, found
    assert not found.remarks
    assert (campaign.decision is None) == (name == "running")
    campaign.ask() if campaign.decision is None else None
    assert campaign.verify().agrees
