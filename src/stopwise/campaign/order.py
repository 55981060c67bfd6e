"""Samples count in the order in which they were asked: one that comes early waits for those before it.

Then delays do no harm, whatever they have to do with the values (docs/what-the-guarantee-covers.md):
the t-th arm was chosen without its sample, or any later one, being known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from stopwise.core.arrays import Ints
from stopwise.core.errors import BadArgument
from stopwise.engine.live import ASKED, RECORDED, RELEASED, TOLD, Record

ORDERS = ("asked", "told")  # samples count in the order of their asks, or as they come


def check_order(given: Any) -> str:
    """One of the orders."""
    if given not in ORDERS:
        raise BadArgument("order", given, " or ".join(map(repr, ORDERS)))
    return str(given)


class Held(NamedTuple):
    """A place in the queue: a sample in flight (ASKED), or one that waits (TOLD, RECORDED)."""

    kind: int
    arm: int
    sample: float = 0.0


class Feed(NamedTuple):
    """What a session does because of some events, in turn; ``causes`` are those events' places."""

    record: Record
    causes: Ints


class Queue:
    """Places are by the number of the ask, or of the sample that nobody asked for."""

    def __init__(self) -> None:
        self._places: dict[int, Held] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, number: int) -> bool:
        return number in self._places

    @property
    def waiting(self) -> int:
        """Samples that are here, and do not count yet."""
        return sum(held.kind != ASKED for held in self._places.values())

    @property
    def first(self) -> int | None:
        """The number of the ask that all others wait for."""
        return next(iter(self._places), None)

    def told(self, arms: int) -> Ints:
        """Of each arm, how many samples were asked for, are here, and do not count yet."""
        found = np.zeros(arms, dtype=np.int64)
        for held in self._places.values():
            found[held.arm] += held.kind == TOLD
        return found

    def ask(self, number: int, arm: int) -> None:
        """A sample is in flight."""
        self._places[number] = Held(ASKED, arm)

    def oldest(self, arm: int) -> int:
        """The number of an arm's first ask that is in flight."""
        for number, held in self._places.items():
            if held.kind == ASKED and held.arm == arm:
                return number
        raise BadArgument("arm", arm, "an arm with a sample in flight")

    def feed(self, events: Record) -> Feed:
        """What these events let a session do; waiting samples come where their turn is."""
        rows: list[tuple[int, int, float, int]] = []
        causes: list[int] = []
        for place, (kind, arm, sample, _, number) in enumerate(_rows(events)):
            before = len(rows)
            if kind == ASKED:
                rows.append((kind, arm, 0.0, number))
                self.ask(number, arm)
            elif kind == RELEASED:
                rows.append((kind, arm, 0.0, number))
                self._places.pop(number, None)
            else:
                self._places[number] = Held(kind, arm, sample)
            rows += ((*held, number) for number, held in self._ready())
            causes += [place] * (len(rows) - before)
        return Feed(_record(rows), np.array(causes, dtype=np.int64))

    def _ready(self) -> Iterator[tuple[int, Held]]:
        """Take out what waits for nothing any more."""
        while (number := self.first) is not None and self._places[number].kind != ASKED:
            yield number, self._places.pop(number)

    def dump(self) -> bytes:
        """All places."""
        held = list(self._places.values())
        whole = [len(held), *self._places, *(h.kind for h in held), *(h.arm for h in held)]
        samples = np.array([h.sample for h in held], dtype=float)
        return np.array(whole, dtype=np.int64).tobytes() + samples.tobytes()

    def load(self, content: bytes) -> bool:
        """Take over what ``dump`` gave; False, and no change, if it does not fit."""
        size = int(np.frombuffer(content, np.int64, 1)[0]) if len(content) >= 8 else -1
        if size < 0 or len(content) != 8 + 32 * size:
            return False
        numbers, kinds, arms = np.frombuffer(content, np.int64, 3 * size, 8).reshape(3, size)
        samples = np.frombuffer(content, float, size, 8 + 24 * size)
        columns = (each.tolist() for each in (kinds, arms, samples))
        held = [Held(*row) for row in zip(*columns, strict=True)]
        self._places = dict(zip(numbers.tolist(), held, strict=True))
        return True


def _rows(events: Record) -> Iterator[tuple[int, int, float, int, int]]:
    return zip(*(column.tolist() for column in events), strict=True)


def _record(rows: list[tuple[int, int, float, int]]) -> Record:
    kinds, arms, samples, numbers = zip(*rows, strict=True) if rows else ((), (), (), ())
    found = np.array(kinds, dtype=np.int64)
    return Record(
        found,
        np.array(arms, dtype=np.int64),
        np.array(samples, dtype=float),
        (found != RECORDED).astype(np.int64),
        np.array(numbers, dtype=np.int64),
    )
