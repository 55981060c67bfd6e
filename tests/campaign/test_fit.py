"""Samples that contradict their family are said so, with a probability that holds at all times."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import stopwise as sw
import stopwise.cli.campaign
import stopwise.cli.plan  # both register their commands
from stopwise.campaign import spec as specs
from stopwise.campaign.fit import LOUD, MOST, Fit
from stopwise.campaign.status import Status
from stopwise.campaign.storage.store import Store
from stopwise.cli.main import app
from validity import most

Draw = Callable[[np.random.Generator], float]
Table = dict[str, Any]
NORMAL, UNKNOWN = {"kind": "gaussian", "variance": 1}, {"kind": "gaussian", "variance": "unknown"}
# families, and samples that are truly theirs
TRUE: list[tuple[Any, Draw]] = [
    (sw.Gaussian(4.0), lambda rng: rng.normal(3.0, 2.0)),
    (sw.Gaussian(4.0), lambda rng: round(rng.normal(3.0, 2.0))),
    (sw.Gaussian([4.0, 4.0]), lambda rng: rng.normal(-3.0, 2.0)),
    (sw.Gaussian(variance=None), lambda rng: rng.normal(100.0, 40.0)),
    (sw.Gaussian(variance=None), lambda rng: round(rng.normal(0.0, 1.0))),
    (sw.Exponential(), lambda rng: rng.exponential(5.0)),
    (sw.Gamma(3.0), lambda rng: rng.gamma(3.0, 2.0)),
    (sw.Gamma(0.4), lambda rng: rng.gamma(0.4, 2.0)),
    (sw.InverseGaussian(2.0), lambda rng: rng.wald(3.0, 2.0)),
    (sw.Poisson(), lambda rng: rng.poisson(0.3)),
    (sw.Poisson(), lambda rng: rng.poisson(12.0)),
    (sw.Poisson(), lambda rng: rng.poisson(1e7)),
    (sw.Binomial(10), lambda rng: rng.binomial(10, 0.4)),
    (sw.Binomial(100_000), lambda rng: rng.binomial(100_000, 0.3)),
    (sw.NegativeBinomial(2.0), lambda rng: rng.negative_binomial(2, 0.1)),
    (sw.NegativeBinomial(0.5), lambda rng: rng.poisson(8000.0 * rng.gamma(0.5))),
    (sw.Geometric(), lambda rng: rng.geometric(0.2)),
]
# a family, samples that are not, within how many samples of two arms nine of ten campaigns say so
WRONG: list[tuple[Any, Draw, int]] = [
    (sw.Gaussian(1.0), lambda rng: rng.normal(100.0, 40.0), 8),
    (sw.Gaussian(1600.0), lambda rng: rng.normal(100.0, 1.0), 48),
    (sw.Gaussian(9.0), lambda rng: 7.0, 48),
    (sw.Gaussian(1.0), lambda rng: rng.normal() + 30.0 * (rng.random() < 0.05), 120),
    (sw.Gaussian(variance=None), lambda rng: rng.standard_cauchy(), 120),
    (sw.Gaussian(variance=None), lambda rng: 100.0 * (rng.random() < 0.1), 150),
    (sw.Poisson(), lambda rng: rng.poisson(9.0 * rng.gamma(10 / 9)), 48),
    (sw.Poisson(), lambda rng: 10.0, 48),
    (sw.Exponential(), lambda rng: rng.normal(100.0, 10.0), 100),
    (sw.Exponential(), lambda rng: rng.lognormal(0.0, 2.0), 200),
    (sw.Gamma(5.0), lambda rng: rng.exponential(), 60),
    (sw.InverseGaussian(10.0), lambda rng: rng.wald(1.0, 1.0), 48),
    (sw.Binomial(100), lambda rng: rng.binomial(100, rng.beta(5, 5)), 48),
    (sw.NegativeBinomial(10.0), lambda rng: rng.negative_binomial(1, 0.05), 60),
    (sw.Geometric(), lambda rng: 1 + rng.poisson(10), 120),
]


def worst(family: Any, draw: Draw, samples: int, seed: int) -> float:
    """What a campaign of two arms says of its samples: the least chance at any time."""
    fit, rng = Fit(family, 2), np.random.default_rng(seed)
    for place in range(samples):
        fit.note(place % 2, float(draw(rng)))
    return 2.0 * math.exp(-fit.kept[:, MOST].max())


def false_alarms(runs: int, samples: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for place, (family, draw) in enumerate(TRUE):
        chances = [worst(family, draw, samples, 1000 * place + run) for run in range(runs)]
        found[f"{place} {family!r}"] = sum(chance <= LOUD for chance in chances)
    return found


def test_true_samples_are_not_doubted() -> None:
    """A correct package fails this once in a million: each campaign warns with probability 0.001."""
    found = false_alarms(runs=20, samples=120)
    assert sum(found.values()) <= most(20 * len(TRUE), LOUD), found


@pytest.mark.slow
def test_true_samples_are_not_doubted_at_length() -> None:
    found = false_alarms(runs=1000, samples=400)
    assert sum(found.values()) <= most(1000 * len(TRUE), LOUD), found
    assert max(found.values()) <= most(1000, LOUD), found


@pytest.mark.parametrize(("family", "draw", "samples"), WRONG, ids=lambda each: repr(each)[:24])
def test_gross_misfits_are_seen_soon(family: Any, draw: Draw, samples: int) -> None:
    """In at least 17 of 20 campaigns, all with fixed seeds."""
    seen = [worst(family, draw, samples, seed) <= LOUD for seed in range(20)]
    assert sum(seen) >= 17


@pytest.mark.parametrize("family", [sw.Bernoulli(), sw.Bounded(), sw.BoundedCoin()], ids=repr)
def test_what_cannot_be_contradicted_is_not_kept(family: Any) -> None:
    fit = Fit(family, 3)
    assert fit.kept.size == 0
    assert fit.misfit(("a", "b", "c"), 3) is None


# ------------------------------------------------------------------------------------------ campaigns


def campaign(family: Any, storage: Any = "memory:", **more: Any) -> sw.Campaign:
    spec = {"question": "best-arm", "arms": ["old", "new"], "family": family, "delta": 0.05}
    return sw.Campaign.create({**spec, "minimum": 50, **more}, storage, "latency")


def work(made: sw.Campaign, draw: Draw, samples: int, n: int = 1) -> None:
    rng = np.random.default_rng(1)
    for _ in range(samples // n):
        for ticket in reversed(made.ask(n)):
            made.tell(ticket.token, float(draw(rng)))


def test_status_explain_and_the_command_line_say_it(tmp_path: Path) -> None:
    """One sentence, with the arm, the family and the probability; the decision is left alone."""
    made = campaign(NORMAL, f"sqlite:///{tmp_path}/store.db")
    work(made, lambda rng: rng.normal(100.0, 40.0), 20)
    status = made.status()
    assert status.misfit is not None
    assert status.misfit.arm in ("old", "new")
    assert 0.0 < status.misfit.chance < 1e-9
    assert status.misfit.text == (
        f"samples of {status.misfit.arm} lie further apart than Gaussian(variance=1.0) allows, so the "
        "answer may be wrong more often than delta; the probability of that by chance is less than 1 "
        "in a billion"
    )
    said = f"warning: {status.misfit.text}"
    assert said in status.lines()
    assert said in made.explain().text
    assert said in repr(status)
    assert status.misfit.text in status._repr_html_()
    again = Status.from_dict(json.loads(json.dumps(status.to_dict())))
    assert again.misfit == status.misfit
    printed = CliRunner().invoke(
        app, ["status", "latency", "--storage", str(tmp_path / "store.db")]
    )
    assert status.misfit.text in " ".join(printed.stdout.split())
    assert made.verify().agrees


def test_a_campaign_that_fits_says_nothing() -> None:
    made = campaign(UNKNOWN)
    work(made, lambda rng: rng.normal(100.0, 40.0), 60)
    assert made.status().misfit is None
    assert "warning" not in made.explain().text
    old = made.status().to_dict()
    del old["misfit"]  # as an earlier service sends it
    assert Status.from_dict(old).misfit is None


def test_what_is_kept_is_a_function_of_the_events(tmp_path: Path) -> None:
    """One by one, in batches, told in any order, loaded, replayed: the same bits."""
    made = campaign("poisson", f"sqlite:///{tmp_path}/store.db")
    work(made, lambda rng: rng.poisson(20.0), 40, n=4)
    with made.look() as (_, seen):
        kept = seen.session.fit.kept
    again = sw.Campaign.open("latency", f"sqlite:///{tmp_path}/store.db")
    with again.look() as (_, seen):
        np.testing.assert_array_equal(seen.session.fit.kept, kept)
    session = made.spec.session()
    told = [(e.arm, e.value, e.token) for e in made.events() if e.kind == "told"]
    value = {token: (arm, sample) for arm, sample, token in told}
    for event in made.events():  # samples count in the order asked
        if event.kind == "asked":
            arm, sample = value[event.token]
            session.record(arm, sample)
    np.testing.assert_array_equal(session.fit.kept, kept)
    assert kept[:, 1].sum() > 15.0  # pairs
    assert made.verify().agrees


def test_an_arm_that_is_added_keeps_the_others_bets() -> None:
    made = campaign(NORMAL, room=4)
    work(made, lambda rng: rng.normal(100.0, 40.0), 20)
    before = made.status().misfit
    made.add_arm("newest")
    after = made.status().misfit
    assert before is not None
    assert after == before
    assert made.verify().agrees


def test_more_arms_need_louder_samples() -> None:
    """A union bound over all arms that there may ever be."""
    few, many = Fit(sw.Gaussian(1.0), 2), Fit(sw.Gaussian(1.0), 2)
    for fit in (few, many):
        for sample in (0.0, 5.5, 0.0, 5.2):
            fit.note(0, sample)
    one, other = few.misfit(("a", "b"), 2), many.misfit(("a", "b"), 2000)
    assert one is not None
    assert one.chance * 1000.0 == pytest.approx(2000.0 * math.exp(-many.kept[0, MOST]))
    assert (other is None) == (one.chance * 1000.0 > LOUD)


def test_differences_of_paired_arms_are_looked_at() -> None:
    """They are taken for normal; items on which one of them fails badly are not."""
    made = campaign(UNKNOWN, paired=True, minimum=100)
    rng = np.random.default_rng(1)
    for item in range(60):
        shared = rng.normal(0.0, 10.0)
        for ticket in made.ask(2):
            noise = 1000.0 if ticket.arm == 1 and item % 20 == 19 else rng.normal()
            made.tell(ticket.token, float(shared + noise))
        if item == 18:
            assert made.status().misfit is None
    found = made.status().misfit
    assert found is not None
    assert found.text.startswith("differences of new from old are not normal")
    assert f"warning: {found.text}" in made.explain().text
    assert made.verify().agrees


def test_ends_that_are_far_from_all_samples_are_noted() -> None:
    """No contradiction, so no warning: but closer ends would need fewer samples."""
    made = campaign({"kind": "bounded", "low": 0, "high": 10_000}, minimum=100)
    work(made, lambda rng: rng.normal(100.0, 20.0), 140)
    assert made.status().misfit is None
    assert (
        "a small part of 0 to 10000: the answer is safe, but it takes more" in made.explain().text
    )
    made = campaign({"kind": "bounded", "low": 0, "high": 300}, minimum=100)
    work(made, lambda rng: rng.normal(100.0, 20.0), 140)
    assert "a small part" not in made.explain().text


# ------------------------------------------------------------------------------- what must be said


@pytest.mark.parametrize(
    ("family", "parts"),
    [
        ("gaussian", ['family.variance: got nothing; allowed: "unknown", or', "estimated"]),
        ({"kind": "gaussian"}, ['Write {kind = "gaussian", variance = "unknown"}', "1600"]),
        ("gamma", ["family.shape: got nothing", '"exponential"', '"bounded"']),
        ({"kind": "inverse-gaussian"}, ["family.shape: got nothing", '"bounded"']),
    ],
    ids=str,
)
def test_a_new_campaign_says_what_it_assumes(family: Any, parts: list[str], tmp_path: Path) -> None:
    spec: Table = {"question": "best-arm", "arms": ["old", "new"], "family": family, "delta": 0.1}
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(spec))
    for given in (spec, path):
        with pytest.raises(sw.BadArgument) as caught:
            sw.Campaign.create(given, "memory:", "new")
        assert [part for part in parts if part not in str(caught.value)] == []
    name = family if isinstance(family, str) else family["kind"]
    planned = CliRunner().invoke(app, ["plan", "best-arm", "--means", "1,2", "--family", name])
    assert isinstance(planned.exception, sw.BadArgument)
    assert "got nothing" in str(planned.exception)


def test_a_campaign_that_left_its_variance_open_goes_on(tmp_path: Path) -> None:
    """It means 1, as it always has; also for the script that made it and runs again."""
    spec = {"question": "best-arm", "arms": ["old", "new"], "family": "gaussian", "delta": 0.1}
    store = Store(f"sqlite:///{tmp_path}/store.db")
    made = specs.read(spec)
    assert store.create("old", specs.dump(made.table), made.key, "0.3.0", 0.0)
    for campaign in (sw.Campaign.open("old", store), sw.Campaign.create(spec, store, "old")):
        assert repr(campaign.spec.design.family) == "Gaussian(variance=1.0)"
        assert campaign.spec.key == made.key
    (ticket,) = campaign.ask()
    campaign.tell(ticket.token, 0.5)
    assert campaign.verify().agrees
