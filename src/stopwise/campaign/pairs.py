"""Who beats whom in a paired campaign, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.campaign.item_session import CERTAIN, ItemSession
from stopwise.core.arrays import Floats
from stopwise.paired.comparison import IN, NOBODY

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
    pool: int | None  # the question is about just so many items
    control: str | None
    places: tuple[Place, ...]
    evidence: Matrix  # that the row's arm is better
    differences: Matrix  # of the mean results
    agreement: Matrix  # on how many items both have the same result, as a share

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
        )

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Pairs:
        """From plain values, as JSON has them."""
        names = ("evidence", "differences", "agreement")
        read = {name: tuple(map(tuple, found[name])) for name in names}
        return cls(**{**found, **read, "places": tuple(Place(**each) for each in found["places"])})


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
