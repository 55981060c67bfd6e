"""What a session knows, to be read."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.campaign.order import WORST_CASE, Queue
from stopwise.campaign.remaining import Outlook, Remaining, remaining
from stopwise.campaign.rounds import Rounds
from stopwise.core.arrays import Floats, Ints, copied
from stopwise.core.data import State
from stopwise.engine import live
from stopwise.engine.design import Design
from stopwise.engine.live import (
    CHANGES,
    EVENTS,
    EXACT,
    LEAST,
    LOOKED,
    NEVER,
    POINTS,
    SEEN,
    START,
    Ledger,
    Record,
)
from stopwise.problems.instance import Instance
from stopwise.problems.problem import Answer
from stopwise.sampling.strategy import Direct

LOOK = Record(np.array([LOOKED]), np.array([0]), np.zeros(1), np.array([0]), np.array([0]))


class Crossing(NamedTuple):
    """The evidence crossed the level with this sample."""

    answer: Answer
    evidence: float
    threshold: float
    samples: int


class Change(NamedTuple):
    """From this event on, after so many samples, this answer was pursued."""

    event: int
    samples: int
    answer: Answer


class View:
    """A session's numbers; nothing here changes them."""

    design: Design
    ledger: Ledger
    queue: Queue
    losses: str
    decision: Crossing | None
    _rounds: Rounds
    _remaining: tuple[int, Remaining | None] = (-1, None)  # with so many samples
    _exact: tuple[tuple[int, float], State] | None = None

    @property
    def counts(self) -> Floats:
        """Samples of each arm."""
        return self.ledger.state.data.counts

    @property
    def means(self) -> Floats:
        """Their means; 0 where there is no sample."""
        return self.ledger.state.data.means

    @property
    def family(self) -> Any:
        """The family as the samples show it."""
        return self.design.family.estimated(self.ledger.state.stats)

    @property
    def in_flight(self) -> Floats:
        """Samples of each arm that were asked for and have not come."""
        return self.ledger.state.taken - self.counts - self._pending.told(self.counts.size)

    @property
    def counts_late(self) -> bool:
        """Whether a value counts that comes after its lease."""
        return self.losses == WORST_CASE

    @property
    def has_worst(self) -> bool:
        """Whether every value has a worst one for every answer."""
        return bool(self.design.stopping.counts_missing(self.design.problem, self.family))

    @property
    def missing(self) -> Floats:
        """Values of each arm that were asked for, have not come, and count as the worst."""
        return self.ledger.missing

    @property
    def waiting(self) -> int:
        """Samples that have come, and count once those that were asked before them have."""
        return self._pending.waiting

    @property
    def _pending(self) -> Queue:
        """After the decision nothing waits."""
        return self.queue if self.decision is None else Queue()

    @property
    def number(self) -> int:
        """Of the last event: just after an ask, that of the ask."""
        return int(self.ledger.history.sizes[EVENTS])

    @property
    def sent(self) -> int:
        """Samples that were taken or are in flight."""
        return int(self.ledger.marks[live.SENT])

    @property
    def samples(self) -> int:
        """How many were told."""
        return int(self.ledger.marks[SEEN])

    @property
    def started(self) -> bool:
        """Whether every arm has its first samples: before that there is no estimate."""
        return bool(self.ledger.marks[START] != NEVER)

    @property
    def exact_state(self) -> State:
        """The state with exact evidence, worked out beside it when somebody looks."""
        ledger, marks = self.ledger, self.ledger.marks
        if not self.started or marks[EXACT] == marks[SEEN]:
            return ledger.state
        now = self.samples, float(self.missing.sum())
        if self._exact is None or self._exact[0] != now:
            own = copied(ledger)
            self._rounds.pay_off(self.design)
            with self._rounds.timed():
                self._rounds.take(self.design.setting, math.inf, own, LOOK)
            self._exact = now, own.state
        return self._exact[1]

    @property
    def evidence(self) -> float:
        """The most evidence for any answer."""
        return float(self.exact_state.report.evidence[0])

    @property
    def threshold(self) -> float:
        """What the evidence must reach."""
        return float(self.design.levels[0] + self.exact_state.report.allowance[0])

    @property
    def leading(self) -> Answer | None:
        """The answer with the most evidence."""
        return self.design.problem.decode(self.exact_state.report.answer) if self.started else None

    def evidence_for(self, answer: Answer) -> float:
        """The evidence for one answer."""
        problem, rule, state = self.design.problem, self.design.stopping, self.exact_state
        about = Instance(problem, self.family, state.data, state.cache), state
        code = problem.encode(answer)
        with np.errstate(all="ignore"):  # as silent as compiled code
            if self.missing.any():
                return float(rule.evidence_missing(*about, self.missing, code))
            return float(rule.evidence(*about, code))

    @property
    def pursued(self) -> Answer | None:
        """The answer that the strategy pursues (as of the last ask after every arm had a sample)."""
        if not self.started or not self.change_count or not self.design.strategy.pursues():
            return None
        return self.design.problem.decode(self.ledger.state.plan.pursued)

    @property
    def remaining(self) -> Remaining | None:
        """Samples still needed, worked out once for each number of samples."""
        if self._remaining[0] != self.samples:
            self._remaining = self.samples, remaining(self._outlook) if self.started else None
        found, lacking = self._remaining[1], self.ledger.marks[LEAST] - self.counts
        if found is None or self.decision is not None:
            return None
        least = int(np.maximum(lacking, 0.0).sum())  # every arm's minimum
        return Remaining(max(found.low, least), max(found.high, least))

    @property
    def _outlook(self) -> Outlook:
        strategy = self.design.strategy
        return Outlook(
            *(self.design.problem, self.family, self.ledger.state.data),
            *(self.leading, self.evidence, self.threshold),
            strategy.pursues() or isinstance(strategy, Direct),
        )

    @property
    def curve(self) -> tuple[Ints, Floats, Floats]:
        """Samples, evidence and threshold since every arm had a sample, thinned out; and now."""
        history = self.ledger.history
        rows = history.curve[: history.sizes[POINTS]]
        if self.started and (not len(rows) or rows[-1, 0] != self.samples):
            rows = np.vstack([rows, [self.samples, *np.ravel(self.exact_state.report[1:])]])
        return rows[:, 0].astype(np.int64), rows[:, 1], rows[:, 2] + self.design.levels[0]

    @property
    def changes(self) -> list[Change]:
        """When another answer was pursued, as asks alone move it: the last times."""
        if not self.design.strategy.pursues():
            return []
        rows, problem = self.ledger.history.changes, self.design.problem
        shown = range(max(0, self.change_count - len(rows)), self.change_count)
        return [
            Change(int(row[0]), int(row[1]), problem.decode(row[2:]))
            for row in (rows[place % len(rows)] for place in shown)
        ]

    @property
    def change_count(self) -> int:
        """How often that was."""
        return int(self.ledger.history.sizes[CHANGES])

    @property
    def lost(self) -> Ints:
        """A row for each arm: asks that came to nothing so far, and all asks, up to the decision."""
        asked, unasked = self.ledger.history.arms.T
        return np.column_stack([asked + unasked - self.ledger.state.taken, asked]).astype(np.int64)
