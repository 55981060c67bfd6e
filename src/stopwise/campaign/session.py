"""A campaign's mind, without files or clocks: the engine's rounds, in whatever order samples come."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from stopwise import __version__
from stopwise.campaign.rounds import replay_of, rounds_of
from stopwise.checks import Floats
from stopwise.engine import live
from stopwise.engine.live import EVIDENCE, GROWTH, NEVER, SEEN, START, History, open_ledger
from stopwise.engine.plan import Plan
from stopwise.problems import base
from stopwise.problems.base import Answer, Code
from stopwise.sampling.strategies import FixedWeights

# other versions may keep other numbers: what they dumped is derived again from the events
TAG = hashlib.sha256(f"stopwise {__version__}, layout 2".encode()).digest()[:8]


def pursues(plan: Plan) -> bool:
    """Whether the strategy has an answer in mind: fixed weights have none."""
    return not isinstance(plan.strategy, FixedWeights)


class Crossing(NamedTuple):
    """The evidence crossed the threshold with this sample."""

    answer: Answer
    evidence: float
    threshold: float
    samples: int


class Session:
    """Ask for arms, tell samples; ``decision`` is there once the evidence has crossed."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.ledger = open_ledger(plan)
        self.decision: Crossing | None = None
        self._rounds = rounds_of(plan)

    @property
    def counts(self) -> Floats:
        """Samples of each arm."""
        return self.ledger.state.memory.counts

    @property
    def means(self) -> Floats:
        """Their means; 0 where there is no sample."""
        return self.ledger.state.memory.means

    @property
    def pending(self) -> Floats:
        """Samples of each arm that are under way."""
        return self.ledger.taken - self.counts

    @property
    def samples(self) -> int:
        """How many were told."""
        return int(self.ledger.marks[SEEN])

    @property
    def started(self) -> bool:
        """Whether every arm has a sample: before that there is no estimate."""
        return bool(self.ledger.marks[START] != NEVER)

    @property
    def evidence(self) -> float:
        """The most evidence for any answer."""
        return float(self.ledger.status[EVIDENCE])

    @property
    def threshold(self) -> float:
        """What the evidence must reach."""
        return float(self.plan.constants[0] + self.ledger.status[GROWTH])

    @property
    def leading(self) -> Answer | None:
        """The answer with the most evidence."""
        return base.decode(self.plan.problem, self.ledger.answer) if self.started else None

    @property
    def pursued(self) -> Answer | None:
        """The answer that the strategy pursues (as of the last ask after every arm had a sample)."""
        if not self.started or not pursues(self.plan):
            return None
        return base.decode(self.plan.problem, self.ledger.state.memory.code)

    def ask(self) -> int:
        """The next arm."""
        plan = self.plan
        self._rounds.pay_off(plan)
        return int(self._rounds.ask(plan.problem, plan.family, plan.strategy, self.ledger))

    def release(self, arm: int) -> None:
        """A sample that was asked for will not come."""
        live.give_up(self.ledger, arm)

    def tell(self, arm: int, sample: float, waited: bool = True) -> Crossing | None:
        """A sample; ``waited``: it was under way. Returns the decision, once there is one.

        After it samples change nothing.
        """
        if self.decision is not None:
            return self.decision
        plan = self.plan
        if not waited:
            live.expect(self.ledger, arm)
        margin = self._rounds.tell(
            *(plan.problem, plan.family, plan.strategy, plan.threshold, plan.rank),
            *(self.ledger, arm, sample),
        )
        if margin >= plan.constants[0]:
            self.decision = self._crossing()
        return self.decision

    def _crossing(self) -> Crossing:
        answer = base.decode(self.plan.problem, self.ledger.answer)
        return Crossing(answer, self.evidence, self.threshold, self.samples)

    def replay(
        self, kinds: Code, arms: Code, samples: Floats, waited: Code, past: History | None = None
    ) -> tuple[int, Code]:
        """Go through a record: how much of it was used, and which arms the asks would have chosen."""
        plan, found = self.plan, np.full(kinds.size, -1)
        room = live.history(plan, 0) if past is None else past
        used = replay_of(plan, kinds.size)(
            *(plan.problem, plan.family, plan.strategy, plan.threshold, plan.rank),
            *(plan.constants[0], self.ledger, kinds, arms, samples, waited, found, room),
        )
        if self.started and self.evidence - self.ledger.status[GROWTH] >= plan.constants[0]:
            self.decision = self._crossing()
        return int(used), found

    def dump(self) -> bytes:
        """Everything the session knows."""
        return TAG + b"".join(array.tobytes() for array in _arrays(self.ledger))

    def fits(self, content: bytes) -> bool:
        """Whether a session of this plan and version dumped it."""
        size = sum(array.nbytes for array in _arrays(self.ledger))
        return content[: len(TAG)] == TAG and len(content) == len(TAG) + size

    def load(self, content: bytes) -> bool:
        """Take over what ``dump`` gave; False, and no change, if it does not fit."""
        if not self.fits(content):
            return False
        place = len(TAG)
        for array in _arrays(self.ledger):
            part = np.frombuffer(content, array.dtype, array.size, place)
            array[...] = part.reshape(array.shape)
            place += array.nbytes
        if self.started and self.evidence - self.ledger.status[GROWTH] >= self.plan.constants[0]:
            self.decision = self._crossing()
        return True


def _arrays(value: Any) -> Iterator[Any]:
    """All arrays in nested tuples, in order."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _arrays(part)
