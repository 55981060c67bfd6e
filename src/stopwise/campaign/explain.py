"""Why a campaign does what it does, in plain words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from stopwise.campaign.events import from_plain
from stopwise.campaign.remaining import Remaining
from stopwise.campaign.replica import Snapshot
from stopwise.campaign.session import Session
from stopwise.campaign.spec import AnySession, CampaignSpec
from stopwise.campaign.status import Status, words
from stopwise.core.arrays import Ints
from stopwise.core.errors import StopwiseError
from stopwise.oracles.quantities import oracle
from stopwise.oracles.values import Oracle

LISTED = 20  # answers whose evidence is listed: a screenful
COUNTED = 1000  # answers that are counted: there may be 2^K of them
SUSPICIOUS = 0.01  # how unlikely differences of loss rates must be for a warning


@dataclass(frozen=True)
class Explanation:
    """Why the campaign does what it does."""

    text: str
    pursued: str | None
    changes: tuple[tuple[int, str], ...]  # from which event on which answer was pursued, lately
    evidence: dict[str, float]  # of a screenful of answers, the most first
    threshold: float
    remaining: Remaining | None  # samples still needed
    next_arm: str | None
    weights: tuple[float, ...]
    lost: dict[str, tuple[int, int]]  # arm: asks that came to nothing, of how many
    warning: str | None
    others: int = 0  # answers that are not listed, as far as they are counted
    # of a screenful of arms, the most sampled first: the mean's interval, in words
    intervals: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        left = self.remaining and self.remaining._asdict()
        return {**asdict(self), "remaining": left}

    @classmethod
    @from_plain
    def from_dict(cls, found: Mapping[str, Any]) -> Explanation:
        """What ``to_dict`` gave, perhaps by way of JSON."""
        lost = {label: tuple(pair) for label, pair in found["lost"].items()}
        changes = tuple(map(tuple, found["changes"]))
        weights = tuple(found["weights"])
        left = found["remaining"] and Remaining(**found["remaining"])
        read = {"lost": lost, "changes": changes, "weights": weights, "remaining": left}
        return cls(**{**found, **read})

    @classmethod
    def of(cls, name: str, spec: CampaignSpec, seen: Snapshot, now: float) -> Explanation:
        """From a snapshot."""
        session, status = seen.session, Status.of(name, spec, seen, now)
        assert isinstance(session, Session)
        changes = tuple((each.event, words(spec, each.answer) or "") for each in session.changes)
        warning = "\n".join(_warnings(spec, session)) or None
        evidence, others = _evidence(spec, session)
        arm, weights = (None, ()) if status.decision else _peek(session)
        intervals = _intervals(status)
        found = status.lines()
        if intervals:
            listed = "; ".join(f"{label}: {words}" for label, words in intervals.items())
            found.append(
                f"means, {status.confidence}s for all arms and times, together with the answer: {listed}"
            )
        found += _pursuit(spec, session, changes)
        if evidence:
            listed = "; ".join(f"{answer}: {value:.3f}" for answer, value in evidence.items())
            many = f"more than {COUNTED:,}" if others > COUNTED else f"{others:,}"
            more = f"; and {many} others" if others else ""
            found.append(f"evidence by answer: {listed}{more}")
        if arm is not None:
            found.append(_next(spec, session, arm, weights))
        if session.family.warning(spec.labels) and session.started:
            found.append(f"note: {session.family.warning(spec.labels)}")
        if warning is not None:
            found.append(warning)
        label = None if arm is None else spec.labels[arm]
        pairs = zip(spec.labels, session.lost.tolist(), strict=True)
        lost = {each: (came_to_nothing, asked) for each, (came_to_nothing, asked) in pairs}
        return cls(
            *("\n".join(found), status.pursued, changes, evidence, session.threshold),
            *(status.remaining, label, weights, lost, warning),
            others=others,
            intervals=intervals,
        )


def _intervals(status: Status) -> dict[str, str]:
    known = sorted((arm for arm in status.arms if arm.samples), key=lambda arm: -arm.samples)
    return {arm.label: arm.interval for arm in known[:LISTED] if arm.interval != "-"}


def _first(spec: CampaignSpec) -> str:
    count = spec.design.family.first_samples()
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _pursuit(
    spec: CampaignSpec, session: Session, changes: tuple[tuple[int, str], ...]
) -> list[str]:
    if not spec.design.strategy.pursues():
        return ["no answer is pursued: the strategy chooses arms without one"]
    if not changes:
        return [f"every arm is sampled {_first(spec)} before an answer is pursued"]
    number, text = changes[-1]
    since = f"pursued: {text}, since event {number}"
    if len(changes) > 1:
        since += (
            f"; before that: {changes[-2][1]} ({session.change_count - 1:,} changes so far: the pursued "
            "answer changes when the data rule it out, or favour another)"
        )
    return [since]


def _evidence(spec: CampaignSpec, session: Session) -> tuple[dict[str, float], int]:
    """Of a screenful of answers, those that may have any first, and how many others there are."""
    if not session.started:
        return {}, 0
    problem = spec.design.problem
    likely = [each for each in (session.leading, session.pursued) if each is not None]
    likely += islice(problem.correct_answers(session.means), LISTED)
    known = dict.fromkeys([*likely, *islice(problem.answers(), LISTED + COUNTED + 1)])
    found = {
        problem.answer_text(answer, spec.labels): session.evidence
        if answer == session.leading
        else session.evidence_for(answer)
        for answer in islice(known, LISTED)
    }
    others = min(len(known) - len(found), COUNTED + 1)
    return dict(sorted(found.items(), key=lambda item: -item[1])), others


def oracle_now(spec: CampaignSpec, session: AnySession) -> Oracle | None:
    """The oracle at the estimate; None where there is none."""
    if not isinstance(session, Session):
        return None
    low, high = _inside(spec)
    means = np.clip(session.means, low, high)
    if not session.started or not spec.design.problem.is_model(means):
        return None
    try:
        return oracle(spec.design.problem, means, family=session.family)
    except StopwiseError:
        return None


def _inside(spec: CampaignSpec) -> tuple[float, float]:
    """Means a little inside the family's interval: an estimate may lie on its end."""
    low, high = spec.design.family.interval()
    room = 1e-6 * (high - low) if math.isfinite(high - low) else 1e-6
    return low + room, high - room


def _peek(session: Session) -> tuple[int, tuple[float, ...]]:
    """The arm that comes next and the weights behind it; the session stays as it is."""
    other = Session(session.design, session.seed, session.order, losses=session.losses)
    other.load(session.dump())
    (arm,) = other.asks(1)
    return arm, tuple(float(w) for w in other.ledger.state.plan.weights)


def _next(spec: CampaignSpec, session: Session, arm: int, weights: tuple[float, ...]) -> str:
    label, taken = spec.labels[arm], session.ledger.state.taken
    if not session.started:
        return f"next: {label}, because every arm is sampled {_first(spec)} first"
    share = float(taken[arm] / max(taken.sum(), 1.0))
    found = f"next: {label}, which has {share:.1%} of all samples (with those in flight)"
    if not any(weights):  # a strategy that tracks none
        return found
    return (
        f"{found} and is the furthest behind what the weights so far ask for; its weight is now "
        f"{weights[arm]:.1%}"
    )


def _warnings(spec: CampaignSpec, session: Session) -> list[str]:
    found = [loss_warning(spec, session.lost)]
    if session.started:
        remark = spec.design.misplaced_warning(session.means)
        found.append(f"warning: {remark}" if remark else None)
    return [each for each in found if each]


def loss_warning(spec: CampaignSpec, losses: Ints) -> str | None:
    """Whether asks of some arms were released or ran out more often than chance explains."""
    lost, asked = losses.T
    if _chance(lost, asked) >= SUSPICIOUS:
        return None
    rates = lost / np.maximum(asked, 1.0)
    worst = int(np.argmax(rates))
    return (
        f"warning: asks get lost at different rates (most often for {spec.labels[worst]}: "
        f"{lost[worst]:.0f} of {asked[worst]:.0f}; all: {lost.sum() / asked.sum():.1%}). If a sample's "
        "value has to do with its loss, the answer is biased, and no threshold can mend that."
    )


def _chance(lost: Ints, asked: Ints) -> float:
    """How likely losses differ so much between arms if all have one rate (a chi-squared test)."""
    from scipy.special import gammaincc

    used = asked > 0
    if used.sum() < 2 or lost.sum() == 0:
        return 1.0
    rate = lost.sum() / asked.sum()
    spread = np.sum(
        (lost[used] - rate * asked[used]) ** 2 / (rate * (1 - rate) * asked[used] + 1e-300)
    )
    return float(gammaincc(0.5 * (used.sum() - 1), 0.5 * spread))
