"""Where a campaign stands, and what its data favour."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from stopwise.campaign.changes import Changes
from stopwise.campaign.events import Decision, from_plain, tuples
from stopwise.campaign.fit import Misfit
from stopwise.campaign.item_session import ItemSession
from stopwise.campaign.names import visible
from stopwise.campaign.order import AT_RANDOM, WORST_CASE
from stopwise.campaign.pairs import Pairs, used_up
from stopwise.campaign.remaining import Remaining
from stopwise.campaign.replica import Snapshot
from stopwise.campaign.session import Session
from stopwise.campaign.spec import AnySession, CampaignSpec
from stopwise.core.arrays import Ints
from stopwise.core.tables import html_table, text_table
from stopwise.problems.problem import Answer
from stopwise.stopping.intervals import interval_share, joint_delta
from stopwise.stopping.missing import worst_intervals

GOES_ON = ("running", "paused")  # the states that may change


@dataclass(frozen=True)
class Arm:
    """One arm's line."""

    label: str
    samples: int
    mean: float | None
    in_flight: int
    cost: float | None
    low: float | None = None  # of the mean's interval, see stopping/intervals.py; None: no bound
    high: float | None = None

    @property
    def interval(self) -> str:
        """In words, with three digits of its width."""
        if self.low is None or self.high is None:
            ends = ("at least", self.low), ("at most", self.high)
            known = [f"{word} {end:.4g}" for word, end in ends if end is not None]
            return known[0] if known else "-"
        width = max(self.high - self.low, 1e-12 * abs(self.high), 1e-300)
        digits = min(max(2 - math.floor(math.log10(width)), 0), 12)
        return f"{self.low:.{digits}f} to {self.high:.{digits}f}"


@dataclass(frozen=True)
class Status:
    """Where a campaign stands."""

    name: str
    state: str  # "running", "paused", "decided", "closed", "budget spent" or "items used up"
    samples: int
    in_flight: int
    evidence: float | None  # None until every arm has a sample
    threshold: float | None
    leading: str | None
    pursued: str | None
    delta: float
    budget: int | None
    proven: bool
    arms: tuple[Arm, ...]
    decision: Decision | None
    events: int
    archived: bool = False
    reason: str = ""  # why it is paused, or was closed
    waiting: int = 0  # samples that count once one that was asked before them has come
    oldest: float | None = None  # seconds since that one was asked
    remaining: Remaining | None = None  # samples still needed; None while that would be a guess
    pairs: Pairs | None = None  # who beats whom, if all arms get the same items
    missing: int = 0  # values that did not come within their lease, and count as the worst
    lost: int = 0  # values that did not come, and are left out: losses are taken to be at random
    unbounded: bool = False  # whether some missing values have no worst one
    misfit: Misfit | None = None  # samples that contradict the family
    joint_delta: float = 1.0  # of the answer or any interval or bound beside it being wrong
    hash: str = ""  # of the last event, and so of the whole record: note it to see later changes

    @classmethod
    def of(
        cls, name: str, spec: CampaignSpec, seen: Snapshot, now: float, intervals: bool = True
    ) -> Status:
        """From a snapshot; without the means' intervals where nobody looks at them."""
        session, decision, in_flight = seen.session, seen.decision, seen.in_flight
        spent = spec.budget is not None and session.sent >= spec.budget and not np.any(in_flight)
        empty = used_up(session) and not np.any(in_flight)
        state = "decided" if decision else _state(seen.changes, spent, empty)
        ready = session.started
        return cls(
            name,
            state,
            session.samples,
            int(in_flight.sum()),
            session.evidence if ready else None,
            session.threshold if ready else None,
            words(spec, session.leading),
            words(spec, session.pursued),
            spec.delta,
            spec.budget,
            spec.design.proven,
            _arms(spec, session, in_flight, intervals),
            decision,
            seen.last,
            seen.changes.archived,
            "" if decision else visible(seen.changes.reason),
            session.waiting,
            None if seen.oldest is None else max(0.0, now - seen.oldest),
            session.remaining if state in GOES_ON else None,
            Pairs.of(session, spec.labels) if isinstance(session, ItemSession) else None,
            int(session.missing.sum()),
            0 if session.losses == WORST_CASE else int(session.lost[:, 0].sum()),
            bool(session.missing.any()) and not session.has_worst,
            session.fit.misfit(spec.labels, _most_arms(spec)),
            joint_delta(spec.delta),
            seen.hash.hex(),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        found = asdict(self)
        for name in ("decision", "remaining", "misfit"):
            value = getattr(self, name)
            found[name] = None if value is None else value._asdict()
        return found

    @classmethod
    @from_plain
    def from_dict(cls, found: Mapping[str, Any]) -> Status:
        """What ``to_dict`` gave, perhaps by way of JSON."""
        arms = tuple(Arm(**arm) for arm in found["arms"])
        decision = found["decision"] and Decision.from_dict(found["decision"])
        left = found.get("remaining") and Remaining(**found["remaining"])
        pairs = found.get("pairs") and Pairs.from_dict(found["pairs"])
        misfit = found.get("misfit") and Misfit(**found["misfit"])
        read = {"arms": arms, "decision": decision, "remaining": left, "pairs": pairs}
        return cls(
            **{"joint_delta": joint_delta(found["delta"]), **found, **read, "misfit": misfit}
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and cells: a line for each arm."""
        middle = self.confidence if self.pairs is None else "place"
        header = ["arm", "samples", "mean", middle, "in flight"]
        rows = [
            [arm.label, f"{arm.samples:,}", _number(arm.mean), place, f"{arm.in_flight:,}"]
            for arm, place in zip(self.arms, self._places, strict=True)
        ]
        if self.arms[0].cost is not None:
            header.append("cost")
            rows = [
                [*row, f"{arm.cost or 0.0:,.6g}"] for row, arm in zip(rows, self.arms, strict=True)
            ]
        return header, rows

    @property
    def _places(self) -> list[str]:
        """Of each arm: its mean's interval, or where it stands in a paired campaign."""
        if self.pairs is None:
            return [arm.interval for arm in self.arms]
        places = self.pairs.places
        return [
            "in" if each.since is None else f"{each.state} after {each.since:,} items"
            for each in places
        ]

    @property
    def unit(self) -> str:
        """What is counted towards the decision."""
        return "samples" if self.pairs is None else "items"

    @property
    def confidence(self) -> str:
        """What the intervals are: for all arms and at all times, together with the answer."""
        return f"{100.0 * (1.0 - self.joint_delta):g} % interval"

    def lines(self) -> list[str]:
        """The state of things, in words."""
        size = f"{self.samples:,} samples"
        if self.pairs is not None:
            pool = "" if self.pairs.pool is None else f" of a pool of {self.pairs.pool:,}"
            size = f"{self.pairs.items:,} items{pool}, {self.samples:,} results"
        found = [f"{self.name}: {self.state}, {size}, {self.in_flight:,} in flight"]
        if self.reason:
            found[0] += f" ({self.reason})"
        if self.archived:
            found[0] += "; archived"
        if self.waiting:
            found[0] += f"; {self.waiting:,} wait for {self._awaited}"
        if self.evidence is not None and self.threshold is not None:
            found.append(
                f"evidence {self.evidence:.3f} of {self.threshold:.3f} for: {self.leading}"
                f" (delta = {self.delta:g}{'' if self.proven else ', threshold not proven'})"
            )
        else:
            found.append("no evidence yet: some arms lack their first samples")
        if self.remaining is not None:
            found.append(
                f"still needed: {self.remaining} {self.unit}, in 8 of 10 campaigns{self._doubt}"
            )
        if self.decision is not None:
            found.append(f"decided: {self.decision.text} (event {self.decision.number})")
        if self.pairs is not None and self.pairs.about is not None:
            found.append(f"the answer is about {self.pairs.about}")
        if self.about_losses:
            found.append(self.about_losses)
        if self.misfit is not None:
            found.append(f"warning: {self.misfit.text}")
        return found

    @property
    def about_losses(self) -> str:
        """What is assumed of values that have not come; empty if there are none."""
        if self.missing:
            one = self.missing == 1
            found = "1 value is missing" if one else f"{self.missing:,} values are missing"
            until = "it comes, it counts" if one else "they come, each counts"
            found += f": until {until} as the worst possible"
            if self.unbounded:
                found += (
                    ". Some have no worst possible value, so that some answers cannot be proven before: "
                    f"tell them, or say losses = {AT_RANDOM!r} if losses have nothing to do with values"
                )
            return found
        if self.lost:
            found = "1 value was lost" if self.lost == 1 else f"{self.lost:,} values were lost"
            return f"{found}: the answer assumes that losses have nothing to do with values"
        return ""

    @property
    def _awaited(self) -> str:
        """What samples wait for that do not count yet."""
        if self.oldest is None:
            return "results of other arms on their item"
        return f"an earlier one, asked {ago(self.oldest)}"

    @property
    def _doubt(self) -> str:
        """Whether the budget and the items will last."""
        assert self.remaining is not None
        left, end = math.inf if self.budget is None else self.budget - self.samples, "the budget"
        if self.pairs is not None:  # an item is a result of each arm that is in
            left /= max(sum(place.state == "in" for place in self.pairs.places), 1)
            if self.pairs.pool is not None and self.pairs.pool - self.pairs.items < left:
                left, end = self.pairs.pool - self.pairs.items, "the list of items"
        if self.remaining.high <= left:
            return ""
        chance = "is likely to" if self.remaining.low > left else "may"
        return f"; {end} {chance} end before"

    def __repr__(self) -> str:
        return "\n".join([*self.lines(), text_table(*self.table())])

    def _repr_html_(self) -> str:
        from html import escape

        text = "<br>".join(escape(line) for line in self.lines())
        share = 0.0
        if self.evidence is not None and self.threshold:
            share = min(1.0, self.evidence / self.threshold)
        bar = (
            '<div style="background:#ddd;border-radius:4px;max-width:30em">'
            '<div style="background:#0072b2;border-radius:4px;height:0.6em;'
            f'width:{share:.1%}"></div></div>'
        )
        return f"<p>{text}</p>{bar}{html_table(*self.table())}"


def _state(changes: Changes, spent: bool, empty: bool) -> str:
    """Of a campaign without a decision."""
    if changes.closed or changes.paused:
        return "closed" if changes.closed else "paused"
    return "budget spent" if spent else "items used up" if empty else "running"


def _arms(
    spec: CampaignSpec, session: AnySession, in_flight: Ints, intervals: bool
) -> tuple[Arm, ...]:
    low = high = np.full(len(spec.labels), math.inf)
    if intervals and isinstance(session, Session):
        state, missing = session.ledger.state, session.missing
        low, high = worst_intervals(
            spec.design.family, state, missing, interval_share(spec.delta), _most_arms(spec)
        )
    return tuple(
        Arm(
            label,
            int(session.counts[k]),
            float(session.means[k]) if session.counts[k] else None,
            int(in_flight[k]),
            None if spec.costs is None else spec.costs[k] * float(session.counts[k]),
            *(_end(session.counts[k], low[k]), _end(session.counts[k], high[k])),
        )
        for k, label in enumerate(spec.labels)
    )


def _most_arms(spec: CampaignSpec) -> int:
    """How many arms there may ever be."""
    return max(int(spec.table.get("room") or 0), len(spec.labels))


def _end(count: float, value: float) -> float | None:
    return float(value) if count and math.isfinite(value) else None


def words(spec: CampaignSpec, answer: Answer | None) -> str | None:
    """An answer in the labels' words."""
    return None if answer is None else spec.design.problem.answer_text(answer, spec.labels)


def ago(seconds: float | None) -> str:
    """How long ago, in words."""
    found = seconds or 0.0
    for unit, size in (("s", 1.0), ("min", 60.0), ("h", 3600.0)):
        if found < 100.0 * size:
            return f"{found / size:.0f} {unit} ago"
    return f"{found / 86400.0:.0f} days ago"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


@dataclass(frozen=True, repr=False)
class Recommendation:
    """What the data favour; ``proven`` once the evidence has crossed."""

    answer: Any
    text: str | None
    evidence: float
    threshold: float
    proven: bool

    def __repr__(self) -> str:
        if self.text is None:
            return "nothing to recommend yet: some arms have no sample"
        enough = f"evidence {self.evidence:.3f} of {self.threshold:.3f}"
        if self.proven:
            return f"{self.text} ({enough}): proven"
        return (
            f"{self.text}, as far as the data go ({enough}). This is not proven: it may be wrong more "
            "often than delta, however good it looks."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        return asdict(self)

    @classmethod
    @from_plain
    def from_dict(cls, found: Mapping[str, Any]) -> Recommendation:
        """What ``to_dict`` gave, perhaps by way of JSON."""
        return cls(**{**found, "answer": tuples(found["answer"])})

    @classmethod
    def of(cls, spec: CampaignSpec, seen: Snapshot) -> Recommendation:
        """The decision, or else the answer with the most evidence."""
        session, decision = seen.session, seen.decision
        if decision is not None:
            sure = spec.design.proven
            return cls(decision.answer, decision.text, decision.evidence, decision.threshold, sure)
        answer = session.leading
        return cls(answer, words(spec, answer), session.evidence, session.threshold, False)
