"""A campaign's state, without files or clocks: the engine's rounds, as samples are asked and come."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stopwise import __version__
from stopwise.campaign import rounds
from stopwise.campaign.order import Feed, Queue, check_order
from stopwise.campaign.view import Crossing, View
from stopwise.core.arrays import Ints, arrays_in
from stopwise.engine import live
from stopwise.engine.design import Design, generator
from stopwise.engine.live import (
    EVENTS,
    LEAST,
    Record,
    open_ledger,
)
from stopwise.problems.verbs import decode

# other versions may keep other numbers: what they dumped is derived again from the events
TAG = hashlib.sha256(f"stopwise {__version__}, layout 7".encode()).digest()[:8]


class Session(View):
    """Ask for arms, tell samples; ``decision`` is there once the evidence has crossed.

    A strategy that uses randomness gets for each ask a generator of its own, made from the ``seed`` and
    the ask's number: a replay chooses the same arms. In the ``order`` "told" samples count as they come;
    in the order "asked" one waits for those that were asked before it.
    """

    def __init__(
        self, design: Design, seed: int = 0, order: str = "told", minimum: int = 0
    ) -> None:
        self.design, self.seed = design, seed
        self.order = check_order(order)
        self.ledger = open_ledger(design)
        self.ledger.marks[live.LEAST] = minimum
        self.queue = Queue()  # empty in the order "told"
        self.decision: Crossing | None = None
        self._rounds = rounds.rounds_of(design)
        self._random = bool(getattr(design.strategy, "uses_randomness", False))
        self._rng = generator(seed)
        self._fixed = [*arrays_in(self.ledger[:2]), self.ledger.history.arms]

    def ask(self) -> int:
        """The next arm."""
        return self.asks(1)[0]

    def asks(self, count: int, after: int | None = None) -> list[int]:
        """The next arms; their asks are the events that follow number ``after``."""
        self._rounds.pay_off(self.design)
        whole, last = np.zeros(count, dtype=np.int64), self.number if after is None else after
        numbers = np.arange(last + 1, last + count + 1)
        record = Record(whole + live.ASKED, whole - 1, np.zeros(count), whole, numbers)
        with self._rounds.timed():
            arms = [int(arm) for arm in self._go(record)[1]]
        if self.order == "asked":
            for number, arm in zip(numbers.tolist(), arms, strict=True):
                self.queue.ask(number, arm)
        return arms

    def item(self, number: int) -> None:  # noqa: ARG002
        """Samples are not of items that all arms get."""
        return

    def _generator(self) -> np.random.Generator:
        if self._random:
            return generator(self.seed, int(self.ledger.marks[live.ASKS]))
        return self._rng

    def release(self, arm: int, number: int | None = None) -> Crossing | None:
        """A sample that was asked for will not come: that of ask ``number``, or the arm's oldest."""
        self.take(live.RELEASED, [arm], [0.0], [True], None if number is None else [number])
        return self.decision

    def tell(
        self, arm: int, sample: float, waited: bool = True, number: int | None = None
    ) -> Crossing | None:
        """A sample; ``waited``: it was in flight. Returns the decision, once there is one.

        After it samples change nothing. ``number`` is that of its ask; else it is the arm's oldest.
        """
        self.take(live.TOLD, [arm], [sample], [waited], None if number is None else [number])
        return self.decision

    def record(self, arm: int, sample: float, number: int | None = None) -> Crossing | None:
        """A sample that nobody asked for; its turn comes after all that was asked before."""
        last = self.number + 1 if number is None else number
        self.take(live.RECORDED, [arm], [sample], [False], [last])
        return self.decision

    def require(self, minimum: int) -> Crossing | None:
        """No decision before every arm has so many samples; the decision, if there is one now."""
        if self.decision is None:
            self.ledger.marks[live.LEAST] = minimum
            self._decide()
        return self.decision

    def grow(self, design: Design, arms: Sequence[int], samples: Sequence[float]) -> None:
        """More arms, before a decision: these are the samples that counted so far."""
        old, queue, number = self.ledger, self.queue, self.number
        self.__init__(design, self.seed, self.order, int(old.marks[LEAST]))  # type: ignore[misc]
        size = len(old.state.taken)
        record = Record(
            np.full(len(arms), live.RECORDED),
            np.array(arms, dtype=np.int64),
            np.array(samples, dtype=float),
            *np.zeros((2, len(arms)), dtype=np.int64),
        )
        self._rounds.take(design.setting, math.inf, self.ledger, record)
        self.queue, state, marks = queue, self.ledger.state, self.ledger.marks
        state.taken[:size] = old.state.taken  # with those in flight
        marks[live.SENT], marks[live.ASKS] = old.marks[live.SENT], old.marks[live.ASKS]
        self.ledger.history.arms[:size] = old.history.arms
        self.ledger.history.sizes[EVENTS] = number

    def take(
        self,
        kind: int,
        arms: Sequence[int],
        samples: Sequence[float],
        waited: Sequence[bool],
        numbers: Sequence[int] | None = None,
    ) -> int:
        """Events of one kind, in turn; how many matter: all, or up to the one that decides."""
        if self.decision is not None:
            return 0
        if len(arms) > rounds.LONG:
            self._rounds.compile(self.design)
        if numbers is None:
            numbers = [self.queue.oldest(arm) if self.order == "asked" else 0 for arm in arms]
        record = Record(
            np.full(len(arms), kind),
            np.array(arms, dtype=np.int64),
            np.array(samples, dtype=float),
            np.array(waited, dtype=np.int64),
            np.array(numbers, dtype=np.int64),
        )
        with self._rounds.timed():
            return self._follow(record, self._take if kind != live.RELEASED else self._go)[0]

    def _take(self, record: Record) -> tuple[int, Ints]:
        used = self._rounds.take(self.design.setting, self.design.levels[0], self.ledger, record)
        return int(used), record.arms

    def _follow(self, events: Record, go: Callable[[Record], tuple[int, Ints]]) -> tuple[int, Ints]:
        """Do what these events allow; how many matter, and which arms the asks would have chosen."""
        size = events.kinds.size
        feed = self.queue.feed(events) if self.order == "asked" else Feed(events, np.arange(size))
        used, arms = go(feed.record)
        found = np.full(size, -1)
        asked = feed.record.kinds == live.ASKED
        found[feed.causes[asked]] = arms[asked]
        self._decide()
        if self.decision is None:
            return size, found
        return int(feed.causes[used - 1]) + 1, found

    def replay(self, record: Record) -> tuple[int, Ints]:
        """Go through a record: how much of it was used, and which arms the asks would have chosen."""
        if self.decision is not None:
            return 0, np.full(record.kinds.size, -1)
        if record.kinds.size > rounds.LONG:
            self._rounds.compile(self.design)
        return self._follow(record, self._go)

    def _go(self, record: Record) -> tuple[int, Ints]:
        design, size = self.design, record.kinds.size
        found = np.full(size, -1)
        # where each ask has a generator of its own, events go one by one
        step, used = 1 if self._random else max(size, 1), 0
        while used < size:
            piece = slice(used, used + step)
            done = self._rounds.replay(
                *(design.setting, design.levels[0], self.ledger),
                *(_cut(record, piece), found[piece], self._generator()),
            )
            used += int(done)
            if done < step or (record.kinds[used - 1] != live.ASKED and self._crossed()):
                break
        return used, found

    def _crossed(self) -> bool:
        """Evidence that is enough is exact."""
        marks, (evidence, allowance) = self.ledger.marks, self.ledger.state.scale
        exact, level = marks[live.EXACT] == marks[live.SEEN], float(self.design.levels[0])
        return bool(
            self.started and exact and live.decides(self.ledger, evidence - allowance, level)
        )

    def _decide(self) -> None:
        if self._crossed():
            answer = decode(self.design.problem, self.ledger.state.answer)
            self.decision = Crossing(answer, self.evidence, self.threshold, self.samples)

    def dump(self) -> bytes:
        """Everything the session knows."""
        kept = [array.tobytes() for array in self._kept(self.ledger.history.sizes)]
        return b"".join([TAG, *kept, self._pending.dump()])

    def _kept(self, sizes: Ints) -> list[Any]:
        """What is dumped: of the history the part that is in use at these sizes."""
        _, _, curve, changes = self.ledger.history
        used = curve[: sizes[live.POINTS]], changes[: sizes[live.CHANGES]]
        return [self.ledger.history.sizes, *self._fixed, *used]

    def fits(self, content: bytes) -> bool:
        """Whether a session of this design and version dumped it."""
        sizes = self._sizes(content)
        if content[: len(TAG)] != TAG or sizes is None:
            return False
        return Queue.fits(content[self._end(sizes) :])

    def _end(self, sizes: Ints) -> int:
        """Where in what is dumped the queue begins."""
        return len(TAG) + sum(array.nbytes for array in self._kept(sizes))

    def _sizes(self, content: bytes) -> Ints | None:
        own = self.ledger.history.sizes
        if len(content) < len(TAG) + own.nbytes:
            return None
        return np.frombuffer(content, own.dtype, own.size, len(TAG))

    def load(self, content: bytes) -> bool:
        """Take over what ``dump`` gave; False, and no change, if it does not fit."""
        sizes, place = self._sizes(content), len(TAG)
        if sizes is None or not self.fits(content):
            return False
        for array in self._kept(sizes):
            part = np.frombuffer(content, array.dtype, array.size, place)
            array[...] = part.reshape(array.shape)
            place += array.nbytes
        self.queue.load(content[place:])
        self.decision = None
        self._decide()
        return True


def _cut(arrays: Any, piece: slice) -> Any:
    """The same piece of every array of a tuple."""
    return type(arrays)(*(array[piece] for array in arrays))
