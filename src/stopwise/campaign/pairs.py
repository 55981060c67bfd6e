"""Who beats whom in a paired campaign, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.campaign.item_session import CERTAIN, ItemSession
from stopwise.campaign.tickets import Place as Result
from stopwise.core.arrays import Floats
from stopwise.paired.comparison import IN, NOBODY
from stopwise.paired.status import tied

Matrix = tuple[tuple[float | None, ...], ...]  # a row and a column for each arm; None: not compared


@dataclass(frozen=True)
class Place:
    """Where one arm stands: "in" it gets the next item, "chosen" and "out" are proven."""

    state: str
    since: int | None = None  # after so many items
    by: str | None = None  # who was ahead when it was put out
    evidence: float | None = None  # by which it was settled

    def words(self, label: str, threshold: float) -> str:
        """The same as a sentence."""
        if self.state == "in":
            return f"{label} is in"
        why = "it does not beat the control" if self.by is None else f"{self.by} is ahead"
        if self.state == "chosen":
            why = "it belongs to the answer"
        proof = f" (evidence {self.evidence:.3f} of {threshold:.3f})"
        return f"{label} is {self.state} after {self.since:,} items: {why}{proof}"


@dataclass(frozen=True)
class Pairs:
    """All pairs of arms. A row's arm against a column's."""

    items: int  # that count so far
    pool: int | None  # how many items there are; None: no end
    control: str | None
    places: tuple[Place, ...]
    evidence: Matrix  # that the row's arm is better
    differences: Matrix  # of the mean results
    agreement: Matrix  # on how many items both have the same result, as a share
    deterministic: bool = True  # whether the question is about just the pool
    tied: tuple[str, ...] = ()  # arms with the same mean over a whole pool, the best

    @classmethod
    def of(cls, session: ItemSession, labels: Sequence[str]) -> Pairs:
        """As a session knows them."""
        what, state = session.items.what, session.items.state
        compared = state.counts > 0
        return cls(
            session.items.counted,
            what.pool or None,
            None if what.control == NOBODY else labels[what.control],
            tuple(_place(session, labels, arm) for arm in range(what.arms)),
            _matrix(np.clip(state.evidence[0], -CERTAIN, CERTAIN), compared),
            _matrix(session.items.sense * state.means, compared),
            _matrix(state.equal / np.maximum(state.counts, 1.0), compared),
            what.deterministic,
            tuple(labels[arm] for arm in tied(what, state)),
        )

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Pairs:
        """From plain values, as JSON has them."""
        names = ("evidence", "differences", "agreement")
        read = {name: tuple(map(tuple, found[name])) for name in names}
        places = tuple(Place(**each) for each in found["places"])
        return cls(**{**found, **read, "places": places, "tied": tuple(found.get("tied", ()))})

    @property
    def about(self) -> str | None:
        """Which items the answer is about, if their number is known."""
        if self.pool is None:
            return None
        if self.deterministic:
            return f"just these {self.pool:,} items (their results are deterministic)"
        return f"items like these {self.pool:,}, which are taken for a random sample"


def tie_words(session: Any, labels: Sequence[str]) -> str:
    """That arms tie, if they do on all items of a pool; else nothing."""
    if not isinstance(session, ItemSession):
        return ""
    what = session.items.what
    names = [labels[arm] for arm in tied(what, session.items.state)]
    return f"{' and '.join(names)} tie on all {what.pool:,} items" if names else ""


def used_up(session: Any) -> bool:
    """Whether every result of a pool's items has been asked for, without an answer."""
    if not isinstance(session, ItemSession) or session.decision:
        return False
    return 0 < session.items.what.pool <= next_item(session)


def next_item(session: ItemSession) -> int:
    """Which item the next ticket is about, by its number in the order asked."""
    queue, last = session.queue, session.items.asked - 1
    begun = [*queue.lost, *(Result(last, arm) for arm in queue.turn)]
    return next((place.item for place in begun if queue.wanted(place)), last + 1)


def why_nothing(name: str, session: Any) -> str:
    """Why a paired campaign has nothing to ask, and what to do."""
    if session.queue.open:
        return (
            f"campaign {name!r}: every item of its pool is asked, and the last results are in flight. "
            "Try again when they have come, or when their leases are over."
        )
    return (
        f"campaign {name!r}: all {session.items.what.pool:,} items are used, and the evidence is not "
        "enough: it ends undecided. ``status`` says what the data favour. For an answer: a new campaign "
        "with more items or a larger epsilon; or with deterministic = true, if an option always has the "
        "same result on an item."
    )


def _place(session: ItemSession, labels: Sequence[str], arm: int) -> Place:
    what, state = session.items.what, session.items.state
    sure = float(min(state.sure[arm], CERTAIN))
    if state.out[arm] != IN:
        by = labels[state.out_by[arm]] if what.control == NOBODY else None
        return Place("out", int(state.out[arm]), by, sure)
    if state.chosen[arm] != IN:
        return Place("chosen", int(state.chosen[arm]), None, sure)
    return Place("in")


def _matrix(values: Floats, known: Any) -> Matrix:
    return tuple(
        tuple(float(x) if good else None for x, good in zip(row, these, strict=True))
        for row, these in zip(values, known, strict=True)
    )
