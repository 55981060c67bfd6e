"""Samples count in the order in which they were asked: one that comes early waits for those before it.

Then delays do no harm, whatever they have to do with the values (docs/missing.md): the t-th arm was
chosen without its sample, or any later one, being known. A sample whose lease ends no longer holds up
the others. Whether it then counts as the worst that it could be, until it comes, or is left out, is
what ``losses`` says.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from stopwise.core import checks
from stopwise.core.arrays import Ints
from stopwise.core.errors import BadArgument
from stopwise.engine.live import ASKED, FOUND, MISSING, RECORDED, RELEASED, TOLD, Record

PLACE = struct.Struct("<qqqd")  # its number, and what is held there
TABLE = np.dtype([("number", "<i8"), ("kind", "<i8"), ("arm", "<i8"), ("sample", "<f8")])
HEADER = struct.Struct("<qqq")  # places; missing ones; samples that came since the last look ahead
MISSING_SIZE = 16  # bytes: number and arm
ORDERS = ("asked", "told")  # samples count in the order of their asks, or as they come
WORST_CASE, AT_RANDOM = "worst case", "at random"
LOSSES = (WORST_CASE, AT_RANDOM)  # what is assumed of values that do not come
LOOKS = 8  # of so many samples that wait one has to be new for a look ahead


def check_order(given: Any) -> str:
    """One of the orders."""
    return checks.choice("order", given, ORDERS)


def check_losses(given: Any, order: str) -> str:
    """What is assumed of missing values, in this order."""
    checks.choice("losses", given, LOSSES)
    if given == WORST_CASE and order == "told":
        hint = "Where samples count as they come, nothing is known of those that have not come."
        raise BadArgument("losses", given, f'{AT_RANDOM!r}, if order = "told"', hint)
    return str(given)


class Held(NamedTuple):
    """A place in the queue: a sample in flight (ASKED), one that waits (TOLD, RECORDED), one that is
    lost (RELEASED), or one that was lost, has come and waits (FOUND)."""

    kind: int
    arm: int
    sample: float = math.nan


class Feed(NamedTuple):
    """What a session does because of some events, in turn; ``causes`` are those events' places."""

    record: Record
    causes: Ints
    events: int  # how many were looked at


class Queue:
    """Places are by the number of the ask, or of the sample that nobody asked for.

    One that is loaded stays a table until it changes: whoever only reads it need not unpack it.
    """

    def __init__(self, losses: str = AT_RANDOM) -> None:
        self._worst = losses == WORST_CASE
        self._loaded: np.ndarray[Any, np.dtype[Any]] | None = None
        self._held: dict[int, Held] = {}
        self._packed: dict[int, bytes] = {}  # the same, as it is dumped with every commit
        self.missing: dict[int, int] = {}  # lost, and their turn is over: number and arm
        self.waiting = 0  # samples that are here, and do not count yet
        self._came = 0  # samples, since the last look ahead

    @property
    def _places(self) -> dict[int, Held]:
        if self._loaded is not None:
            rows, self._loaded = self._loaded.tolist(), None
            self.waiting = 0
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
        before = self._places.get(number)
        self.waiting += _waits(held) - (before is not None and _waits(before))
        self._places[number] = held
        self._packed[number] = PLACE.pack(number, *held)

    def _take(self, number: int) -> Held | None:
        found = self._places.pop(number, None)
        self._packed.pop(number, None)
        self.waiting -= found is not None and _waits(found)
        return found

    def arm(self, number: int) -> int | None:
        """The arm of an ask that is here; None if it is not."""
        held = self._places.get(number)
        return self.missing.get(number) if held is None else held.arm

    def is_in_flight(self, number: int) -> bool:
        """Whether the ask's value may come."""
        held = self._places.get(number)
        return held is not None and held.kind == ASKED

    def is_missing(self, number: int) -> bool:
        """Whether the ask's value was lost, and has not come since."""
        held = self._places.get(number)
        return number in self.missing or (held is not None and held.kind == RELEASED)

    def feed(self, events: Record) -> Feed:
        """What these events let a session do; waiting samples come where their turn is.

        It ends early where it is time to look ahead.
        """
        size = events.kinds.size
        if len(self) == 0 and np.all(events.kinds == RECORDED):  # nothing to wait for
            return Feed(events, np.arange(size), size)
        rows: list[tuple[int, int, float, int]] = []
        causes: list[int] = []
        place = -1
        for place, (kind, arm, sample, _, number) in enumerate(_rows(events)):
            before = len(rows)
            rows += self._enter(kind, arm, sample, number)
            for ready, held in self._ready():
                rows += _due_rows(ready, held)
            causes += [place] * (len(rows) - before)
            if self._worst and kind in (TOLD, RECORDED) and self.waiting:
                self._came += 1
            if self.is_time_to_look:  # also where a lost sample lets others count: fewer wait
                break
        return Feed(_record(rows), np.array(causes, dtype=np.int64), place + 1)

    def _enter(
        self, kind: int, arm: int, sample: float, number: int
    ) -> list[tuple[int, int, float, int]]:
        """An event, and what a session does because of it at once."""
        if kind == ASKED:
            self.ask(number, arm)
        elif kind == RELEASED and not self._worst:
            self._take(number)
        elif kind == RELEASED:
            if number in self._places:
                self._put(number, Held(RELEASED, arm))
        elif kind == TOLD and number in self.missing:
            del self.missing[number]
            return [(FOUND, arm, sample, number)]
        else:
            lost = number in self._places and self._places[number].kind == RELEASED
            self._put(number, Held(FOUND if lost else kind, arm, sample))
        return [(kind, arm, 0.0, number)] if kind in (ASKED, RELEASED) else []

    def _ready(self) -> Iterator[tuple[int, Held]]:
        """Take out what waits for nothing any more."""
        while (number := self.first) is not None and self._places[number].kind != ASKED:
            held = self._take(number)
            assert held is not None
            if held.kind == RELEASED:
                self.missing[number] = held.arm
            yield number, held

    @property
    def is_time_to_look(self) -> bool:
        """Whether enough samples have come since the last look ahead."""
        return self._worst and 0 < self.waiting <= LOOKS * self._came

    def ahead(self) -> Record:
        """All that waits, with the values that have not come as missing ones; it stays here."""
        self._came = 0
        rows = [row for number, held in self._places.items() for row in _due_rows(number, held)]
        return _record(rows)

    def assume_random(self) -> None:
        """Losses have nothing to do with values: those in the queue are left out."""
        self._worst, self.missing = False, {}
        for number, held in list(self._places.items()):
            if held.kind == RELEASED:
                self._take(number)

    def dump(self) -> bytes:
        """All places."""
        missing = np.array(list(self.missing.items()), dtype=np.int64)
        sizes = HEADER.pack(len(self), len(self.missing), self._came)
        return sizes + self._content() + missing.tobytes()

    @staticmethod
    def fits(content: bytes) -> bool:
        """Whether ``dump`` can have given it."""
        if len(content) < HEADER.size:
            return False
        places, missing, _ = HEADER.unpack_from(content)
        return len(content) == HEADER.size + PLACE.size * places + MISSING_SIZE * missing

    def load(self, content: bytes) -> bool:
        """Take over what ``dump`` gave; False, and no change, if it does not fit."""
        if not self.fits(content):
            return False
        self._held, self._packed = {}, {}
        places, _, self._came = HEADER.unpack_from(content)
        self._loaded = np.frombuffer(content, TABLE, places, HEADER.size)
        rest = np.frombuffer(content, np.int64, offset=HEADER.size + self._loaded.nbytes)
        self.missing = {int(number): int(arm) for number, arm in rest.reshape(-1, 2)}
        self.waiting = int(np.isin(self._loaded["kind"], (ASKED, RELEASED), invert=True).sum())
        return True


def _waits(held: Held) -> bool:
    return held.kind not in (ASKED, RELEASED)


def _due_rows(number: int, held: Held) -> list[tuple[int, int, float, int]]:
    """What a session does when the turn of a place has come, whatever it holds."""
    missing = (MISSING, held.arm, 0.0, number)
    if held.kind in (ASKED, RELEASED):
        return [missing]
    return [missing, (*held, number)] if held.kind == FOUND else [(*held, number)]


def _rows(events: Record) -> Iterator[tuple[int, int, float, int, int]]:
    return zip(*(column.tolist() for column in events), strict=True)


def _record(rows: list[tuple[int, int, float, int]]) -> Record:
    kinds, arms, samples, numbers = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Record(
        np.array(kinds, dtype=np.int64),
        np.array(arms, dtype=np.int64),
        np.array(samples, dtype=float),
        np.array([kind not in (RECORDED, FOUND) for kind in kinds], dtype=np.int64),
        np.array(numbers, dtype=np.int64),
    )
