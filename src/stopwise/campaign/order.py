"""Samples count in the order in which they were asked: one that comes early waits for those before it.

Then delays do no harm, whatever they have to do with the values (docs/what-the-guarantee-covers.md):
the t-th arm was chosen without its sample, or any later one, being known.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from stopwise.core.arrays import Ints
from stopwise.core.errors import BadArgument
from stopwise.engine.live import ASKED, RECORDED, RELEASED, TOLD, Record

PLACE = struct.Struct("<qqqd")  # its number, and what is held there
TABLE = np.dtype([("number", "<i8"), ("kind", "<i8"), ("arm", "<i8"), ("sample", "<f8")])
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
    """Places are by the number of the ask, or of the sample that nobody asked for.

    One that is loaded stays a table until it changes: whoever only reads it need not unpack it.
    """

    def __init__(self) -> None:
        self._loaded: np.ndarray[Any, np.dtype[Any]] | None = None
        self._held: dict[int, Held] = {}
        self._packed: dict[int, bytes] = {}  # the same, as it is dumped with every commit

    @property
    def _places(self) -> dict[int, Held]:
        if self._loaded is not None:
            rows, self._loaded = self._loaded.tolist(), None
            for number, *held in rows:
                self._put(number, Held(*held))
        return self._held

    def _table(self) -> np.ndarray[Any, np.dtype[Any]]:
        return np.frombuffer(self._content(), TABLE) if self._loaded is None else self._loaded

    def _content(self) -> bytes:
        return b"".join(self._packed.values()) if self._loaded is None else self._loaded.tobytes()

    def __len__(self) -> int:
        return len(self._held) if self._loaded is None else self._loaded.size

    def __contains__(self, number: int) -> bool:
        return number in self._places

    @property
    def waiting(self) -> int:
        """Samples that are here, and do not count yet."""
        return int((self._table()["kind"] != ASKED).sum())

    @property
    def first(self) -> int | None:
        """The number of the ask that all others wait for."""
        if self._loaded is not None:
            return int(self._loaded["number"][0]) if self._loaded.size else None
        return next(iter(self._held), None)

    def told(self, arms: int) -> Ints:
        """Of each arm, how many samples were asked for, are here, and do not count yet."""
        table = self._table()
        return np.bincount(table["arm"][table["kind"] == TOLD], minlength=arms)

    def ask(self, number: int, arm: int) -> None:
        """A sample is in flight."""
        self._put(number, Held(ASKED, arm))

    def _put(self, number: int, held: Held) -> None:
        self._places[number] = held
        self._packed[number] = PLACE.pack(number, *held)

    def _take(self, number: int) -> Held | None:
        found = self._places.pop(number, None)
        self._packed.pop(number, None)
        return found

    def oldest(self, arm: int) -> int:
        """The number of an arm's first ask that is in flight."""
        for number, held in self._places.items():
            if held.kind == ASKED and held.arm == arm:
                return number
        raise BadArgument("arm", arm, "an arm with a sample in flight")

    def feed(self, events: Record) -> Feed:
        """What these events let a session do; waiting samples come where their turn is."""
        if len(self) == 0 and np.all(events.kinds == RECORDED):  # nothing to wait for
            return Feed(events, np.arange(events.kinds.size))
        rows: list[tuple[int, int, float, int]] = []
        causes: list[int] = []
        for place, (kind, arm, sample, _, number) in enumerate(_rows(events)):
            before = len(rows)
            if kind == ASKED:
                rows.append((kind, arm, 0.0, number))
                self.ask(number, arm)
            elif kind == RELEASED:
                rows.append((kind, arm, 0.0, number))
                self._take(number)
            else:
                self._put(number, Held(kind, arm, sample))
            rows += ((*held, number) for number, held in self._ready())
            causes += [place] * (len(rows) - before)
        return Feed(_record(rows), np.array(causes, dtype=np.int64))

    def _ready(self) -> Iterator[tuple[int, Held]]:
        """Take out what waits for nothing any more."""
        while (number := self.first) is not None and self._places[number].kind != ASKED:
            held = self._take(number)
            assert held is not None
            yield number, held

    def dump(self) -> bytes:
        """All places."""
        return len(self).to_bytes(8, "little") + self._content()

    @staticmethod
    def fits(content: bytes) -> bool:
        """Whether ``dump`` can have given it."""
        return len(content) == 8 + PLACE.size * int.from_bytes(content[:8], "little")

    def load(self, content: bytes) -> bool:
        """Take over what ``dump`` gave; False, and no change, if it does not fit."""
        if not self.fits(content):
            return False
        self._held, self._packed = {}, {}
        self._loaded = np.frombuffer(content, TABLE, offset=8)
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
