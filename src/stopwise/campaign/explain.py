"""Why a campaign does what it does, in plain words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np

from stopwise.campaign.events import Event
from stopwise.campaign.replay import Replay, replay
from stopwise.campaign.session import Session
from stopwise.campaign.spec import CampaignSpec
from stopwise.campaign.status import Status
from stopwise.core.arrays import Floats
from stopwise.families.verbs import interval
from stopwise.oracles.quantities import oracle
from stopwise.problems.verbs import answers, decode, encode, in_words, is_model
from stopwise.sampling.verbs import pursues
from stopwise.stopping.verbs import evidence as evidence_for

FEW = 50  # answers whose evidence is listed one by one
SUSPICIOUS = 0.01  # how unlikely differences of loss rates must be for a warning


@dataclass(frozen=True)
class Explanation:
    """Why the campaign does what it does."""

    text: str
    pursued: str | None
    changes: tuple[tuple[int, str], ...]  # from which event on which answer was pursued
    evidence: dict[str, float]  # for each answer, where they are few
    threshold: float
    remaining: float | None  # samples still needed, about
    next_arm: str | None
    weights: tuple[float, ...]
    lost: dict[str, tuple[int, int]]  # arm: asks that came to nothing, of how many
    warning: str | None

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Explanation:
        """What ``to_dict`` gave, perhaps by way of JSON."""
        lost = {label: tuple(pair) for label, pair in found["lost"].items()}
        changes = tuple(map(tuple, found["changes"]))
        weights = tuple(found["weights"])
        return cls(**{**found, "lost": lost, "changes": changes, "weights": weights})

    @classmethod
    def of(
        cls, spec: CampaignSpec, session: Session, status: Status, record: Sequence[Event]
    ) -> Explanation:
        """From a session that knows every event, and the record."""
        seen = replay(spec.session(), record, remember=True)
        changes = _changes(spec, seen)
        lost, warning = losses(spec, record)
        evidence = _evidence(spec, session)
        remaining = samples_needed(spec, session)
        arm, weights = (None, ()) if status.decision else _peek(session)
        found = status.lines()
        found += _pursuit(spec, changes)
        if evidence:
            listed = sorted(evidence.items(), key=lambda item: -item[1])[:8]
            found.append("evidence by answer: " + "; ".join(f"{k}: {v:.3f}" for k, v in listed))
        if status.decision is None and remaining is not None:
            found.append(
                f"about {remaining:,.0f} more samples are needed if the means are as they look now"
            )
        if arm is not None:
            found.append(_next(spec, session, arm, weights))
        if warning is not None:
            found.append(warning)
        label = None if arm is None else spec.labels[arm]
        return cls(
            *("\n".join(found), status.pursued, changes, evidence, session.threshold),
            *(remaining, label, weights, lost, warning),
        )


def _changes(spec: CampaignSpec, seen: Replay) -> tuple[tuple[int, str], ...]:
    """When the pursued answer changed (asks alone move it)."""
    found: list[tuple[int, str]] = []
    if not pursues(spec.design.strategy):
        return ()
    before: bytes | None = None
    for place in range(seen.used):
        event = seen.counted[place]
        if event.kind != "asked" or math.isnan(seen.past.evidence[place]):
            continue
        code = seen.past.pursued[place]
        if code.tobytes() != before:
            before = code.tobytes()
            answer = decode(spec.design.problem, code)
            found.append((event.number, in_words(spec.design.problem, answer, spec.labels)))
    return tuple(found)


def _pursuit(spec: CampaignSpec, changes: tuple[tuple[int, str], ...]) -> list[str]:
    if not pursues(spec.design.strategy):
        return ["no answer is pursued: the strategy chooses arms without one"]
    if not changes:
        return ["every arm is sampled once before an answer is pursued"]
    number, text = changes[-1]
    since = f"pursued: {text}, since event {number}"
    if len(changes) > 1:
        since += (
            f"; before that: {changes[-2][1]} ({len(changes) - 1} changes so far: the pursued answer "
            "changes when the data rule it out, or favour another)"
        )
    return [since]


def _evidence(spec: CampaignSpec, session: Session) -> dict[str, float]:
    """For each answer, where there are few."""
    problem, family, _, rule = spec.design.setting
    listed = list(islice(answers(problem), FEW + 1))
    if not session.started or len(listed) > FEW:
        return {}
    state = session.ledger.state
    return {
        in_words(problem, answer, spec.labels): float(
            evidence_for(rule, problem, family, state, encode(problem, answer))
        )
        for answer in listed
    }


def samples_needed(spec: CampaignSpec, session: Session) -> float | None:
    """(threshold - evidence) T* at the estimate: with oracle weights each sample adds 1/T*."""
    if not session.started:
        return None
    low, high = _inside(spec)
    means = np.clip(session.means, low, high)
    if not is_model(spec.design.problem, means):
        return None
    time = oracle(spec.design.problem, means, family=spec.design.family).time
    if not math.isfinite(time):
        return None
    return max(0.0, session.threshold - session.evidence) * time


def _inside(spec: CampaignSpec) -> tuple[float, float]:
    """Means a little inside the family's interval: an estimate may lie on its end."""
    low, high = interval(spec.design.family)
    room = 1e-6 * (high - low) if math.isfinite(high - low) else 1e-6
    return low + room, high - room


def _peek(session: Session) -> tuple[int, tuple[float, ...]]:
    """The arm that comes next and the weights behind it; the session stays as it is."""
    other = Session(session.design, session.seed)
    other.load(session.dump())
    arm = other.ask()
    return arm, tuple(float(w) for w in other.ledger.state.pursuit.weights)


def _next(spec: CampaignSpec, session: Session, arm: int, weights: tuple[float, ...]) -> str:
    label, taken = spec.labels[arm], session.ledger.state.taken
    if not session.started:
        return f"next: {label}, because arms without a sample come first"
    share = float(taken[arm] / max(taken.sum(), 1.0))
    found = f"next: {label}, which has {share:.1%} of all samples (with those in flight)"
    if not any(weights):  # a strategy that tracks none
        return found
    return (
        f"{found} and is the furthest behind what the weights so far ask for; its weight is now "
        f"{weights[arm]:.1%}"
    )


def losses(
    spec: CampaignSpec, record: Sequence[Event]
) -> tuple[dict[str, tuple[int, int]], str | None]:
    """Asks that were released or ran out, by arm; and whether arms differ too much for chance."""
    lost, asked = _lost_and_asked(len(spec.labels), record)
    table = {label: (int(lost[k]), int(asked[k])) for k, label in enumerate(spec.labels)}
    if _chance(lost, asked) >= SUSPICIOUS:
        return table, None
    rates = lost / np.maximum(asked, 1.0)
    worst = int(np.argmax(rates))
    return table, (
        f"warning: asks get lost at different rates (most often for {spec.labels[worst]}: "
        f"{lost[worst]:.0f} of {asked[worst]:.0f}; all: {lost.sum() / asked.sum():.1%}). If a sample's "
        "value has to do with its loss, the answer is biased, and no threshold can mend that."
    )


def _lost_and_asked(arms: int, record: Sequence[Event]) -> tuple[Floats, Floats]:
    """Asks of each arm that came to nothing, and all of them."""
    lost, asked = np.zeros(arms), np.zeros(arms)
    told = {event.token for event in record if event.kind == "told"}
    for event in record:
        if event.kind == "asked" and event.arm is not None:
            asked[event.arm] += 1
        elif event.kind == "released" and event.token not in told and event.arm is not None:
            lost[event.arm] += 1
    return lost, asked


def _chance(lost: Floats, asked: Floats) -> float:
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
