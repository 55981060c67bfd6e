"""A campaign's state, without files or clocks: the engine's rounds, as samples are asked and come."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stopwise import __version__
from stopwise.campaign import rounds
from stopwise.campaign.events import Ticket
from stopwise.campaign.fit import Fit
from stopwise.campaign.order import (
    AT_RANDOM,
    WORST_CASE,
    Feed,
    Queue,
    check_losses,
    check_order,
)
from stopwise.campaign.samples import arm_place, sample_value
from stopwise.campaign.view import LOOK, Crossing, View
from stopwise.core import checks
from stopwise.core.arrays import Ints, arrays_in, copied
from stopwise.core.errors import BadArgument
from stopwise.core.seeds import RngLike, chosen_seed
from stopwise.engine import live
from stopwise.engine.design import Design, generator
from stopwise.engine.live import (
    EVENTS,
    LEAST,
    Ledger,
    Record,
    open_ledger,
)

# other versions may keep other numbers: what they dumped is derived again from the events
TAG = hashlib.sha256(f"stopwise {__version__}, layout 12".encode()).digest()[:8]


MOST_ASKS = 10**6  # at once
LAST = 2**62  # number of an event: some more fit into 64 bits


class Session(View):
    """Ask for tickets, tell their values; ``decision`` is there once the evidence is enough.

    A strategy that uses randomness gets for each ask a generator of its own, made from the ``seed`` (by
    default 0; or ``rng``, as in ``simulate``) and the ask's number: a replay chooses the same arms. In
    the ``order`` "asked" a value counts after those that were asked for before it, and ``losses`` says
    what is assumed of values that do not come: the worst case, or that they are lost at random. In the
    order "told" values count as they come, which is right only if delays and losses have nothing to do
    with the values.
    """

    def __init__(
        self,
        design: Design,
        seed: int | None = None,
        order: str = "asked",
        minimum: int = 0,
        losses: str | None = None,
        rng: RngLike | None = None,
    ) -> None:
        if not isinstance(design, Design):
            raise BadArgument("design", design, "what stopwise.engine.design.prepare gives")
        self.design, self.seed = design, chosen_seed(seed, rng, 0)
        self.order = check_order(order)
        usual = WORST_CASE if self.order == "asked" else AT_RANDOM
        self.losses = check_losses(usual if losses is None else losses, self.order)
        least = checks.whole("minimum", minimum, least=0)
        self.ledger = open_ledger(design)
        self.ledger.marks[live.LEAST] = least
        self.queue = Queue(self.losses)  # empty in the order "told"
        self.decision: Crossing | None = None
        self._rounds = rounds.rounds_of(design)
        self._random = bool(getattr(design.strategy, "uses_randomness", False))
        self._rng = generator(self.seed)
        self._ended: dict[int, bool] = {}  # in the order "told": asks, and whether they were told
        self.fit = Fit(design.given.family, design.problem.arms)

    def ask(self) -> Ticket:
        """What to sample next: the ticket's ``arm``. Its value is told with the ticket."""
        (arm,) = self.asks(1)
        return Ticket(str(self.number), arm, str(arm))

    def asks(self, count: int, after: int | None = None) -> list[int]:
        """The next arms; their asks are the events that follow number ``after``."""
        size = checks.whole("count", count, least=0, most=MOST_ASKS)
        last = self.number if after is None else _number("after", after)
        self._rounds.pay_off(self.design)
        whole, numbers = np.zeros(size, dtype=np.int64), np.arange(last + 1, last + size + 1)
        record = Record(whole + live.ASKED, whole - 1, np.zeros(size), whole, numbers)
        with self._rounds.timed():
            arms = [int(arm) for arm in self._go(record)[1]]
        if self.order == "asked":
            for number, arm in zip(numbers.tolist(), arms, strict=True):
                self.queue.ask(number, arm)
        return arms

    def item(self, number: int) -> None:
        """Samples are not of items that all arms get."""
        return

    def _generator(self) -> np.random.Generator:
        if self._random:
            return generator(self.seed, int(self.ledger.marks[live.ASKS]))
        return self._rng

    def release(self, ticket: Ticket) -> Crossing | None:
        """A ticket's value will not come, as far as anybody knows: nothing waits for it any more."""
        number = self._number(ticket)
        if self._is_in_flight(number):
            self._settle(number, told=False)
            self.give_up(ticket.arm, number)
        return self.decision

    def give_up(self, arm: int, number: int) -> Crossing | None:
        """The same for the ask of this number."""
        self.take(live.RELEASED, [arm], [0.0], [True], [number])
        return self.decision

    def tell(self, ticket: Ticket, value: float) -> Crossing | None:
        """A ticket's value, once. Returns the decision, if there is one; then values change nothing.

        A value that comes after its ``release`` counts from now on; not where losses are at random.
        """
        number, sample = self._number(ticket), sample_value(self.design.family, value)
        waited = self._is_in_flight(number)
        if self.decision is None and (waited or self._is_missing(number)):
            self._settle(number, told=True)
            self.take(live.TOLD, [ticket.arm], [sample], [waited], [number])
        elif self.decision is None and self.losses == WORST_CASE:
            raise BadArgument("ticket", ticket, "a ticket whose value was not told before")
        return self.decision

    def _number(self, ticket: Ticket) -> int:
        """Of the ask that gave the ticket."""
        if not isinstance(ticket, Ticket) or not ticket.token.isdecimal():
            hint = "A value that nobody asked for: record(arm, value)."
            raise BadArgument("ticket", ticket, "a ticket that ask() of this session gave", hint)
        number = int(ticket.token)
        known = self.queue.arm(number)
        if number > self.number or known not in (None, ticket.arm):
            raise BadArgument("ticket", ticket, "a ticket that ask() of this session gave")
        return number

    def _is_in_flight(self, number: int) -> bool:
        if self.order == "told":
            return number not in self._ended
        return self.queue.is_in_flight(number)

    def _is_missing(self, number: int) -> bool:
        if self.order == "told":
            return not self._ended[number]
        return self.queue.is_missing(number)

    def _settle(self, number: int, told: bool) -> None:
        """In the order "asked" the queue knows."""
        if self.order == "told":
            self._ended[number] = told

    def record(self, arm: int, value: float, number: int | None = None) -> Crossing | None:
        """A value that nobody asked for; its turn comes after all that was asked before."""
        labels = [str(k) for k in range(self.counts.size)]
        place, sample = arm_place(labels, arm), sample_value(self.design.family, value)
        last = self.number + 1 if number is None else _number("number", number)
        self.take(live.RECORDED, [place], [sample], [False], [last])
        return self.decision

    def require(self, minimum: int) -> Crossing | None:
        """No decision before every arm has so many samples; the decision, if there is one now."""
        least = checks.whole("minimum", minimum, least=0)
        if self.decision is None:
            self.ledger.marks[live.LEAST] = least
            self._decide()
        return self.decision

    def grow(self, design: Design, arms: Sequence[int], samples: Sequence[float]) -> None:
        """More arms, before a decision: these are the samples that counted so far."""
        old, queue, number = self.ledger, self.queue, self.number
        least = int(old.marks[LEAST])
        self.__init__(design, self.seed, self.order, least, self.losses)  # type: ignore[misc]
        size = len(old.state.taken)
        record = Record(
            np.full(len(arms), live.RECORDED),
            np.array(arms, dtype=np.int64),
            np.array(samples, dtype=float),
            *np.zeros((2, len(arms)), dtype=np.int64),
        )
        with self._rounds.timed():
            self._rounds.take(design.setting, math.inf, self.ledger, record)
        self.fit.take(record, len(arms))
        self.queue, state, marks = queue, self.ledger.state, self.ledger.marks
        state.taken[:size] = old.state.taken  # with those in flight
        marks[live.SENT], marks[live.ASKS] = old.marks[live.SENT], old.marks[live.ASKS]
        self.ledger.history.arms[:size] = old.history.arms
        self.ledger.missing[:size] = old.missing
        self.ledger.history.sizes[EVENTS] = number

    def take(
        self,
        kind: int,
        arms: Sequence[int],
        samples: Sequence[float],
        waited: Sequence[bool],
        numbers: Sequence[int],
    ) -> int:
        """Events of one kind, in turn; how many matter: all, or up to the one that decides."""
        if self.decision is not None:
            return 0
        if (
            arms and not 0 <= min(arms) <= max(arms) < self.counts.size
        ):  # compiled code does not look
            raise BadArgument("arms", arms, f"arms from 0 to {self.counts.size - 1}")
        if len(arms) > rounds.LONG:
            self._rounds.compile(self.design)
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
        size, begun = events.kinds.size, 0
        found = np.full(size, -1)
        while begun < size:
            feed = self._feed(_cut(events, slice(begun, None)))
            used, arms = go(feed.record)
            self.fit.take(feed.record, used)
            asked = feed.record.kinds == live.ASKED
            found[begun + feed.causes[asked]] = arms[asked]
            self._decide()
            if self.decision is not None:
                return begun + int(feed.causes[used - 1]) + 1, found
            begun += feed.events
            if self.queue.is_time_to_look:
                self._look_ahead()
            if self.decision is not None:
                return begun, found
        return size, found

    def _feed(self, events: Record) -> Feed:
        if self.order == "asked":
            return self.queue.feed(events)
        return Feed(events, np.arange(events.kinds.size), events.kinds.size)

    def _look_ahead(self) -> None:
        """Decide if samples that wait are enough, whatever the values before them turn out to be."""
        ahead = copied(self.ledger)
        self._rounds.take(self.design.setting, self.design.levels[0], ahead, self.queue.ahead())
        if _crossed(ahead, float(self.design.levels[0])):
            self.ledger = ahead
            self._decide()

    def assume_random(self) -> Crossing | None:
        """Losses have nothing to do with values from now on: what is missing is left out."""
        if self.decision is None and self.losses == WORST_CASE:
            self.losses = AT_RANDOM
            self.queue.assume_random()
            self.ledger.missing[:] = 0.0
            self._take(LOOK)
            self._decide()
        return self.decision

    def replay(self, record: Record) -> tuple[int, Ints]:
        """Go through a record: how much of it was used, and which arms the asks would have chosen."""
        if self.decision is not None:
            return 0, np.full(record.kinds.size, -1)
        if record.kinds.size > rounds.LONG:
            self._rounds.compile(self.design)
        with np.errstate(all="ignore"):  # as silent as compiled code
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
        return _crossed(self.ledger, float(self.design.levels[0]))

    def _decide(self) -> None:
        if self._crossed():
            answer = self.design.problem.decode(self.ledger.state.report.answer)
            self.decision = Crossing(answer, self.evidence, self.threshold, self.samples)

    def dump(self) -> bytes:
        """Everything the session knows."""
        kept = [array.tobytes() for array in self._kept(self.ledger.history.sizes)]
        return b"".join([TAG, *kept, self._pending.dump()])

    def _kept(self, sizes: Ints) -> list[Any]:
        """What is dumped: of the history the part that is in use at these sizes."""
        _, _, curve, changes = self.ledger.history
        used = curve[: sizes[live.POINTS]], changes[: sizes[live.CHANGES]]
        return [
            self.ledger.history.sizes,
            *filter(_writeable, arrays_in(self.ledger[:2])),
            *self._of_arms,
            *used,
        ]

    @property
    def _of_arms(self) -> list[Any]:
        return [self.ledger.history.arms, self.ledger.missing, self.fit.kept]

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


def _number(name: str, given: Any) -> int:
    return checks.whole(name, given, least=0, most=LAST)


def _crossed(ledger: Ledger, level: float) -> bool:
    """Whether the evidence is enough; only exact evidence is."""
    marks, (evidence, allowance) = ledger.marks, np.ravel(ledger.state.report[1:])
    exact = marks[live.START] != live.NEVER and marks[live.EXACT] == marks[live.SEEN]
    return bool(exact and live.decides(ledger, evidence - allowance, level))


def _writeable(array: Any) -> bool:
    """Whether a run changes it: a problem's own arrays stay what they are."""
    return bool(array.flags.writeable)


def _cut(arrays: Any, piece: slice) -> Any:
    """The same piece of every array of a tuple."""
    return type(arrays)(*(array[piece] for array in arrays))
