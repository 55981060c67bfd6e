"""Campaigns about arms of unknown variances, from spec to verification."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import stopwise as sw
from stopwise.campaign.schema import schema

SPEC: dict[str, Any] = {
    "question": "best-arm",
    "arms": ["old", "new"],
    "family": {"kind": "gaussian", "variance": "unknown"},
    "delta": 0.05,
}


def campaign(folder: Path, **changes: Any) -> sw.Campaign:
    return sw.Campaign.create({**SPEC, **changes}, folder / "store.db", "latency")


def tell(made: sw.Campaign, count: int, means: Any, deviation: float) -> None:
    rng = np.random.default_rng(1)
    for _ in range(count):
        if made.status().decision is not None:
            return
        (ticket,) = made.ask()
        made.tell(ticket.token, means[ticket.arm] + deviation * rng.standard_normal())


def test_latency_is_decided_and_verified(tmp_path: Path) -> None:
    """120 against 135 ms with standard deviation 20, and nothing is told but the labels."""
    made = campaign(tmp_path)
    tell(made, 300, (120.0, 135.0), 20.0)
    found = made.status()
    assert found.decision is not None
    assert found.decision.text == "new is best"
    assert found.samples < 300
    assert found.proven
    assert made.verify().agrees
    assert "new is best" in made.explain().text
    assert sw.Campaign.open("latency", tmp_path / "store.db").status() == found


@pytest.mark.parametrize(
    "spelled", ["gaussian:variance=unknown", {"kind": "gaussian", "variance": None}]
)
def test_other_spellings(tmp_path: Path, spelled: Any) -> None:
    made = campaign(tmp_path, family=spelled)
    jsonschema.validate({**SPEC, "family": spelled}, schema())
    assert repr(made.spec.design.family) == "Gaussian(variance=None)"


def test_every_arm_twice_first(tmp_path: Path) -> None:
    made = campaign(tmp_path)
    assert [ticket.arm for ticket in made.ask(4)] == [0, 1, 0, 1]
    assert "sampled twice" in made.explain().text


def test_arms_without_a_spread_are_explained(tmp_path: Path) -> None:
    made = campaign(tmp_path)
    tell(made, 12, (120.0, 135.0), 0.0)
    found = made.explain()
    assert found.evidence == {"old is best": 0.0, "new is best": 0.0}
    assert "all samples of old, new are equal so far" in found.text
    arms = made.status().to_dict()["arms"]
    assert [arm["low"] for arm in arms] == [None, None]  # nothing is known of the means either


def test_a_word_that_is_no_variance(tmp_path: Path) -> None:
    with pytest.raises(sw.BadArgument, match="unknown"):
        campaign(tmp_path, family={"kind": "gaussian", "variance": "large"})
