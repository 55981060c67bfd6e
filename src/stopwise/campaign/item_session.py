"""A paired campaign's state, without files or clocks: items that all arms get, and their tickets."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from stopwise import __version__
from stopwise.campaign.errors import NotPossible
from stopwise.campaign.fit import Fit
from stopwise.campaign.order import AT_RANDOM
from stopwise.campaign.outlook import items_needed
from stopwise.campaign.remaining import Remaining
from stopwise.campaign.rounds import LONG
from stopwise.campaign.tickets import Place, Tickets
from stopwise.campaign.view import Crossing
from stopwise.core.arrays import Floats, Ints, arrays_in
from stopwise.engine import live
from stopwise.engine.live import MOST_POINTS, Record
from stopwise.paired.comparison import NOBODY, Comparison
from stopwise.paired.items import Items
from stopwise.paired.status import CurrentAnswer, current_answer
from stopwise.paired.step import Incomplete
from stopwise.problems.problem import Answer

TAG = hashlib.sha256(f"stopwise {__version__}, items 3".encode()).digest()[:8]
CERTAIN = 1000.0  # shown as evidence where what is left of a pool cannot change the answer
WIDE = 8  # arms from which on compiling pays at once


class Sizes(NamedTuple):
    """How much of everything there is: the first numbers of what is dumped."""

    sent: int  # results that were asked for and not lost
    asked: int  # items
    in_flight: int
    lost: int
    turn: int
    open: int  # items that do not count yet
    points: int  # of the curve
    step: int  # items between two of them
    missing: int  # results
    incomplete: int  # items that count without all their results


class ItemSession:
    """What ``Session`` is to other campaigns: tickets are asked for and told, until the ``decision``."""

    order = "asked"
    pursued: Answer | None = None
    changes: Sequence[Any] = ()
    change_count = 0

    def __init__(
        self, what: Comparison, family: Any, sense: int, seed: int, losses: str = AT_RANDOM
    ) -> None:
        self.family, self.seed, self.losses = family, seed, losses
        self.fit = Fit(family, what.arms, "differences of {arm} from {first}")
        self.items = _FittedItems(what, sense, self.fit)
        self.queue = Tickets(self.items, seed, losses)
        self.decision: Crossing | None = None
        self.sent = 0
        self.asked = np.zeros(
            (what.arms, 2), dtype=np.int64
        )  # of each arm: asks, and how many lost
        self._curve: list[tuple[float, float]] = []
        self._step = 1
        self._remaining: tuple[int, Remaining | None] = (-1, None)  # with so many items
        if what.arms >= WIDE:
            self.items.compile()

    # ------------------------------------------------------------------------------------- changes

    def asks(self, count: int, after: int) -> list[int]:
        """The arms of the next results, fewer if a pool has no more; asks follow event ``after``."""
        arms = []
        for number in range(after + 1, after + count + 1):
            place = self.queue.next()
            if place is None:
                break
            self.queue.send(number, place)
            self._sent(place)
            arms.append(place.arm)
        return arms

    def _sent(self, place: Place) -> None:
        self.sent += 1
        self.asked[place.arm, 0] += 1

    def item(self, number: int) -> int | None:
        """The item that the ask of this number, which is in flight, is about."""
        place = self.queue.open.get(number)
        return None if place is None else self.queue.shown(place.item)

    def take(
        self,
        kind: int,
        arms: Sequence[int],
        samples: Sequence[float],
        waited: Sequence[bool],
        numbers: Sequence[int],
    ) -> int:
        """Results of tickets, in turn; how many matter: all, or up to the one that decides."""
        self.queue.told = {}
        for place, (number, sample) in enumerate(zip(numbers, samples, strict=True)):
            if self.decision is not None:
                return place
            self._tell(int(number), float(sample))
        return len(arms)

    def _tell(self, number: int, sample: float) -> None:
        late, before = number in self.queue.missing, self.items.counted
        place = self.queue.come(number)
        if place is not None:
            if late:
                self.sent += 1
                self.asked[place.arm, 1] -= 1
            self.items.enter(place.item, place.arm, sample)
            self._after(before)

    def _after(self, before: int) -> None:
        """More items may count than so many, and it may be decided."""
        if self.items.counted != before:
            self._note()
        self._decide()

    def give_up(self, arm: int, number: int) -> Crossing | None:
        """A result will not come: it will be asked for again, or counts as the worst until it comes."""
        before = self.items.counted
        if self.queue.lose(number) is not None:
            self.sent -= 1
            self.asked[arm, 1] += 1
            self._after(before)
        return self.decision

    def assume_random(self) -> Crossing | None:
        """Losses have nothing to do with results from now on: what is missing is left out."""
        if self.decision is None and self.losses != AT_RANDOM:
            self.losses = AT_RANDOM
            self.queue.assume_random()
            self.items.leave_out_missing()
            self._decide()
        return self.decision

    def require(self, minimum: int) -> Crossing | None:
        """Nobody is settled before so many items."""
        if self.decision is None:
            self.items.require(minimum)
        return self.decision

    def grow(self, *_: Any) -> None:
        """Arms cannot be added: earlier items lack their results."""
        raise NotPossible(
            "arms are not added to a paired campaign: earlier items lack their results."
        )

    def replay(self, record: Record) -> tuple[int, Ints]:
        """Go through a record: how much of it was used, and which arms the asks would have chosen."""
        found = np.full(record.kinds.size, -1)
        if record.kinds.size > LONG:
            self.items.compile()
        for place, (kind, arm, sample, number) in enumerate(_rows(record)):
            if self.decision is not None:
                return place, found
            if kind == live.ASKED:
                found[place] = self._asked_as(number, Place(self.queue.hidden(int(sample)), arm))
            elif kind == live.RELEASED:
                self.give_up(arm, number)
            else:
                self._tell(number, sample)
        return record.kinds.size, found

    def _asked_as(self, number: int, asked: Place) -> int:
        """An ask of the record; the arm that would have been asked, -1 if for another item."""
        found = self.queue.send_as(number, asked)
        self._sent(asked)
        return found.arm if found is not None and found.item == asked.item else -1

    def _note(self) -> None:
        """A point of the evidence's curve; when there are too many, every second one goes."""
        if self.items.counted % self._step == 0:
            self._curve.append((float(self.items.counted), self.evidence))
            if len(self._curve) >= MOST_POINTS:
                self._curve, self._step = self._curve[1::2], 2 * self._step

    def _decide(self) -> None:
        if self.items.decided:
            self.decision = Crossing(self.answer, self.evidence, self.threshold, self.samples)

    # ---------------------------------------------------------------------------------------- view

    @property
    def standing(self) -> CurrentAnswer:
        """The arms that the answer names, as things stand."""
        return current_answer(self.items.what, self.items.state)

    @property
    def answer(self) -> Answer:
        """The same as the question has it."""
        named, what = self.standing.named, self.items.what
        if what.control == NOBODY:
            return named[0] if what.m == 1 else named
        if what.one:
            return named[0] if named else "none"
        return named

    @property
    def counts(self) -> Ints:
        """Results of each arm that count."""
        return self.items.state.used

    @property
    def means(self) -> Floats:
        """Their means; 0 where there is none."""
        return self.items.sense * self.items.state.totals / np.maximum(self.counts, 1)

    @property
    def counts_late(self) -> bool:
        """Whether a result counts that comes after its lease: not if it was asked for again."""
        return not self.queue.asks_again

    @property
    def has_worst(self) -> bool:
        """Whether every result has a worst one."""
        return math.isfinite(self.items.what.kind.ends(1)[0])

    @property
    def missing(self) -> Ints:
        """Results of each arm that were asked for, have not come, and count as the worst."""
        arms = [place.arm for place in self.queue.missing.values()]
        return np.bincount(arms, minlength=self.items.what.arms)

    @property
    def waiting(self) -> int:
        """Results that have come, and count once their item and those before it are complete."""
        return 0 if self.decision else self.queue.waiting

    @property
    def samples(self) -> int:
        """Results that count."""
        return int(self.counts.sum())

    @property
    def started(self) -> bool:
        """Whether an item counts."""
        return self.items.counted > 0

    @property
    def evidence(self) -> float:
        """The least that any claim of the answer has."""
        return float(np.clip(self.standing.evidence, -CERTAIN, CERTAIN))

    @property
    def threshold(self) -> float:
        """What the evidence must reach."""
        return self.items.what.level

    @property
    def leading(self) -> Answer | None:
        """The answer with the most evidence."""
        return self.answer if self.started else None

    @property
    def remaining(self) -> Remaining | None:
        """Items still needed, worked out once for each number of them; None while it is a guess."""
        if self._remaining[0] != self.items.counted:
            self._remaining = self.items.counted, items_needed(self.items)
        return None if self.decision else self._remaining[1]

    @property
    def curve(self) -> tuple[Ints, Floats, Floats]:
        """Items, evidence and threshold, thinned out; and now."""
        points = self._curve
        if self.started and (not points or points[-1][0] != self.items.counted):
            points = [*points, (float(self.items.counted), self.evidence)]
        rows = np.array(points).reshape(-1, 2)
        return rows[:, 0].astype(np.int64), rows[:, 1], np.full(len(rows), self.threshold)

    @property
    def lost(self) -> Ints:
        """A row for each arm: asks that came to nothing, and all asks."""
        return self.asked[:, ::-1]

    # ------------------------------------------------------------------------------------- storing

    def dump(self) -> bytes:
        """Everything the session knows."""
        tickets, items = self.queue, self.items
        flying = [(number, *place) for number, place in tickets.open.items()]
        missing = [(number, *place) for number, place in tickets.missing.items()]
        sizes = Sizes(
            *(self.sent, items.asked, len(flying), len(tickets.lost), len(tickets.turn)),
            *(len(items.open), len(self._curve), self._step, len(missing), len(items.incomplete)),
        )
        whole = [*sizes, *_flat(flying), *_flat(missing), *_flat(tickets.lost), *tickets.turn]
        whole += [*items.open, *items.incomplete]
        known = [each.row for each in items.incomplete.values()]
        loose = [*items.open.values(), *known, np.array(self._curve, dtype=float).ravel()]
        parts = [np.array(whole, dtype=np.int64), *self._fixed, *loose]
        return TAG + b"".join(part.tobytes() for part in parts)

    @property
    def _fixed(self) -> list[Any]:
        return [self.asked, *arrays_in(self.items.state), self.fit.kept]

    def fits(self, content: bytes) -> bool:
        """Whether a session of this comparison and version dumped it."""
        head = len(TAG) + 8 * len(Sizes._fields)
        if content[: len(TAG)] != TAG or len(content) < head:
            return False
        sizes = Sizes(*np.frombuffer(content, np.int64, len(Sizes._fields), len(TAG)).tolist())
        rows = sizes.open + sizes.incomplete
        loose = rows * self.items.what.arms + 2 * sizes.points
        whole = 3 * (sizes.in_flight + sizes.missing) + 2 * sizes.lost + sizes.turn + rows
        fixed = sum(array.nbytes for array in self._fixed)
        return len(content) == head + 8 * (whole + loose) + fixed

    def load(self, content: bytes) -> bool:
        """Take over what ``dump`` gave; False, and no change, if it does not fit."""
        if not self.fits(content):
            return False
        read = _Reader(content, len(TAG))
        sizes = Sizes(*read.whole(len(Sizes._fields)))
        self.queue.open = read.places(sizes.in_flight)
        self.queue.missing = read.places(sizes.missing)
        lost = np.reshape(read.whole(2 * sizes.lost), (-1, 2)).astype(int).tolist()
        self.queue.lost = [Place(*each) for each in lost]
        self.queue.turn, opened = read.whole(sizes.turn), read.whole(sizes.open)
        incomplete = read.whole(sizes.incomplete)
        for array in self._fixed:
            array[...] = read.like(array)
        arms = np.zeros(self.items.what.arms)
        self.items.open = {item: read.like(arms) for item in opened}
        self.items.incomplete = {
            item: Incomplete(read.like(arms), np.zeros(arms.size, dtype=np.int64))
            for item in incomplete
        }
        self._read_missing()
        self._curve = [tuple(row) for row in read.like(np.zeros((sizes.points, 2))).tolist()]
        self.sent, self.items.asked, self._step = sizes.sent, sizes.asked, sizes.step
        self.items.resume()
        self.decision = None
        self._decide()
        return True

    def _read_missing(self) -> None:
        """Which results of the items are missing, from the tickets."""
        self.items.lost = set()
        for item, arm in self.queue.missing.values():
            if item in self.items.open:
                self.items.lost.add((item, arm))
            elif item in self.items.incomplete:
                self.items.incomplete[item].gone[arm] = 1


class _FittedItems(Items):
    """Items whose differences are looked at: whether they are normal, where that is assumed."""

    def __init__(self, what: Comparison, sense: int, fit: Fit) -> None:
        super().__init__(what, sense)
        self._fit = fit

    def after(self, row: Floats) -> None:
        """An item has counted; for which arms it did, the state knows."""
        for arm in range(1, len(self._fit.kept)):
            difference = float(row[arm] - row[0])
            if self.state.counts[arm, 0] > self._fit.samples(arm) and not math.isnan(difference):
                self._fit.note(arm, difference)


class _Reader:
    """Numbers of a dump, one after another."""

    def __init__(self, content: bytes, place: int) -> None:
        self._content, self._place = content, place

    def like(self, array: Any) -> Any:
        """As many as in an array of this kind and shape."""
        found = np.frombuffer(self._content, array.dtype, array.size, self._place)
        self._place += array.nbytes
        return found.reshape(array.shape).copy()

    def places(self, count: int) -> dict[int, Place]:
        """Results by the numbers of their asks."""
        rows = np.reshape(self.whole(3 * count), (-1, 3)).tolist()
        return {int(number): Place(int(item), int(arm)) for number, item, arm in rows}

    def whole(self, count: int) -> list[int]:
        """Whole numbers."""
        return [int(each) for each in self.like(np.zeros(count, dtype=np.int64))]


def _flat(places: Any) -> list[int]:
    return [int(number) for place in places for number in place]


def _rows(record: Record) -> Iterator[tuple[int, int, float, int]]:
    columns = record.kinds, record.arms, record.samples, record.numbers
    return zip(*(column.tolist() for column in columns), strict=True)
