"""A Mixture that expects other means says so, wherever somebody can still choose, and what to set."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import stopwise as sw
from stopwise import Campaign
from stopwise.core.errors import Costly

LATENCY: dict[str, Any] = {"means": [120.0, 135.0], "family": sw.Gaussian(400.0)}
SPEC: dict[str, Any] = {
    "question": {"kind": "thresholding", "threshold": 120},
    "arms": ["A", "B"],
    "family": {"kind": "gaussian", "variance": 400},
    "delta": 0.1,
    "stopping": "mixture",
}


@pytest.mark.parametrize(
    ("rule", "family", "means", "words"),
    [
        (sw.Mixture(), sw.Gaussian(400.0), [120.0, 135.0], "Mixture(center=130.0, spread=20.0)"),
        (sw.Mixture(), sw.Gaussian([1.0, 4.0]), [0.0, 9.0], "Mixture(center=4.5, spread=9.0)"),
        (sw.Mixture(), sw.Poisson(), [40.0, 60.0], "spread=60.0"),
        (sw.Mixture(), sw.Exponential(), [0.01, 0.02], "spread=0.02"),
        (sw.Mixture(center=100.0), sw.Gaussian(), [120.0, 121.0], "center=120.0"),
    ],
)
def test_far_off(rule: Any, family: Any, means: list[float], words: str) -> None:
    found = rule.misplaced_warning(family, means)
    assert words in found
    assert "Use Wealth()" in found


@pytest.mark.parametrize(
    ("rule", "family", "means"),
    [
        (sw.Mixture(), sw.Gaussian(), [0.5, -1.0, 2.0]),
        (sw.Mixture(center=128.0, spread=20.0), sw.Gaussian(400.0), [120.0, 135.0]),
        (sw.Mixture(spread=200.0), sw.Gaussian(400.0), [120.0, 135.0]),
        (sw.Mixture(), sw.Bernoulli(), [0.001, 0.999]),
        (sw.Mixture(), sw.Geometric(), [100.0, 200.0]),
        (sw.Mixture(), sw.Poisson(), [0.5, 2.0]),
        (sw.Wealth(), sw.Gaussian(), [1e6, 2e6]),
        (sw.Conservative(), sw.Gaussian(), [1e6, 2e6]),
    ],
)
def test_near_enough(rule: Any, family: Any, means: list[float]) -> None:
    assert rule.misplaced_warning(family, means) == ""


def test_what_it_says_is_what_it_costs() -> None:
    """An arm at 135 with variance 400, after 10,000 samples: 135^2/(2 (1 + 0.04)) but for logarithms."""
    said = re.search(
        r"adds ([\d,]+) to", sw.Mixture().misplaced_warning(LATENCY["family"], LATENCY["means"])
    )
    assert said is not None
    assert int(said[1].replace(",", "")) == pytest.approx(135.0**2 / 2.08, rel=1e-3)


def test_simulations_warn() -> None:
    asked = {"stopping": sw.Mixture(), "max_rounds": 50, "seed": 1, **LATENCY}
    with pytest.warns(Costly, match="expects other means") as told:
        sw.simulate(sw.BestArm(2), repetitions=2, workers=1, **asked)
    assert told[0].filename == __file__
    with pytest.warns(Costly, match="Wealth"):
        sw.run(sw.BestArm(2), **asked)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.simulate(
            *(sw.BestArm(2), LATENCY["means"]),
            **{"family": LATENCY["family"], "max_rounds": 50, "repetitions": 2, "workers": 1},
        )


def test_forecasts_say_so_once() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = sw.plan(
            *(sw.BestArm(2), [60.0, 135.0]),
            **{"family": sw.Gaussian(400.0), "stopping": sw.Mixture(spread=10.0)},
            **{"repetitions": 2, "seed": 1, "strategies": {"uniform": sw.Uniform()}, "workers": 1},
        )
    assert sum("expects other means" in note for note in found.notes()) == 1


def test_campaigns_warn(tmp_path: Path) -> None:
    """At once where the question has a limit; else as soon as the data show it."""
    with pytest.warns(Costly, match="center=120"):
        Campaign.create(SPEC, "memory:", "limit")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Campaign.create({**SPEC, "stopping": "wealth"}, "memory:", "wealth")
        campaign = Campaign.create({**SPEC, "question": "best-arm"}, "memory:", "means")
    assert campaign.explain().warning is None
    for arm, value in (("A", 118.0), ("B", 140.0)):
        campaign.record(arm, value)
    warning = campaign.explain().warning
    assert warning is not None
    assert warning in campaign.explain().text
    assert "expects other means" in warning


def test_the_command_line_warns(tmp_path: Path) -> None:
    from stopwise.cli.campaign import app

    file = tmp_path / "limit.json"
    file.write_text(json.dumps(SPEC))
    place = ["--storage", str(tmp_path / "campaigns.db")]
    told = CliRunner().invoke(app, ["create", str(file), *place])
    assert told.exit_code == 0
    assert "warning: Mixture(center=0.0, spread=1.0) expects other means" in told.stdout
    table = json.loads(CliRunner().invoke(app, ["create", str(file), *place, "--json"]).stdout)
    assert "center=120" in table["remark"]
