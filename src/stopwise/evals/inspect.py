"""Early stopping for inspect_ai: several tasks over one data set share one paired comparison.

stopping = PairedStopping(["short", "long"], delta=0.05)
eval([Task(data, solver, scorer, early_stopping=stopping.of("short")), ...])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stopwise.core import checks
from stopwise.core.errors import BadArgument
from stopwise.core.optional import load
from stopwise.core.spelling import family
from stopwise.core.tables import plain
from stopwise.evals.report import EvalReport
from stopwise.paired.session import PairedSession

load("inspect_ai", "stopwise.evals.inspect", "inspect")

from inspect_ai.scorer import value_to_float  # noqa: E402
from inspect_ai.util import EarlyStop, EarlyStopping  # noqa: E402


class PairedStopping:
    """One comparison for several tasks, each of which is an option.

    All tasks must have the same samples in the same order, and that order must be random (shuffle the
    data set with a seed). What is promised is about samples like these, as answers of a model are
    random, and they may be too few for an answer. ``deterministic=True`` says that a task always has
    the same score on a sample, which is not checked here: then the answer is about just these samples.
    ``scorer`` is the name of the score that counts, if there are several; scores are numbers from 0 to
    1, or C and I.
    """

    def __init__(
        self,
        labels: Sequence[str],
        *,
        delta: float = 0.05,
        epsilon: float = 0.0,
        scorer: str | None = None,
        deterministic: bool = False,
    ) -> None:
        if len(labels) < 2 or len(set(labels)) < len(labels):
            raise BadArgument("labels", list(labels), "a name for each of two tasks or more")
        self.labels, self.delta, self.epsilon = list(labels), delta, epsilon
        self.scorer, self.deterministic = scorer, checks.truth("deterministic", deterministic)
        self.session: PairedSession | None = None
        self._items: dict[str | int, int] = {}
        self._calls = [0] * len(self.labels)
        self._number = value_to_float()

    def of(self, label: str) -> EarlyStopping:
        """The manager of one task."""
        if label not in self.labels:
            raise BadArgument("label", label, f"one of {', '.join(self.labels)}")
        return _OneTask(self, self.labels.index(label))

    def report(self) -> EvalReport:
        """What is known so far."""
        session = self._started()
        ended = "decided" if session.decided else "items"
        warnings = self._about_missing()
        return EvalReport(self.labels, session, ended, self._calls, len(self._items), warnings)

    def _about_missing(self) -> list[str]:
        """Samples count in their order: one that failed holds all later ones up."""
        session = self._started()
        later = sum(bool(np.isfinite(row).any()) for row in session.open.values())
        if session.decided or later == 0:
            return []
        first = list(self._items)[session.counted]
        return [
            f"Sample {first!r} lacks the score of a task, and {later:,} samples wait for it: what "
            "failed cannot be left out, as failures may have to do with the answers."
        ]

    def _started(self) -> PairedSession:
        if self.session is None:
            raise BadArgument("report", "no task yet", "a task that has been started")
        return self.session

    def start(self, label: str, ids: list[str | int], epochs: int) -> None:
        """All samples are items, in the order of the first task."""
        if epochs != 1:
            raise BadArgument("epochs", epochs, "1: an item has one result of each task")
        if self.session is None:
            self._items = {each: place for place, each in enumerate(ids)}
            self.session = PairedSession(
                *(family("bounded"), len(self.labels)),
                delta=self.delta,
                epsilon=self.epsilon,
                pool=len(ids),
                deterministic=self.deterministic,
            )
            for _ in ids:
                self.session.ask()
        elif ids != list(self._items):
            hint = "Shuffle the data set once, with a seed, and give it to all tasks."
            allowed = f"the {len(self._items)} samples of the first task, in its order"
            raise BadArgument(f"samples of {label}", f"{len(ids)} samples", allowed, hint)

    def reason_to_skip(self, arm: int) -> str | None:
        """Why an option needs no more samples; None if it does."""
        session = self._started()
        if session.decided:
            return f"decided: {' and '.join(self.labels[arm] for arm in session.verdict().winners)}"
        if not session.is_in(arm):
            by = self.labels[session.state.out_by[arm]]
            return f"{self.labels[arm]} is out: {by} is proven to be better"
        return None

    def tell(self, arm: int, sample: str | int, scores: dict[str, Any]) -> None:
        """The score of one sample."""
        names = list(scores)
        if self.scorer is None and len(names) != 1:
            raise BadArgument("scorer", names, "the name of the score that counts")
        name = names[0] if self.scorer is None else self.scorer
        if name not in scores:
            raise BadArgument("scorer", name, f"one of {', '.join(names)}")
        self._calls[arm] += 1
        self._started().tell(self._items[sample], arm, self._number(scores[name].score.value))


class _OneTask:
    """What inspect_ai asks about one of the tasks."""

    def __init__(self, shared: PairedStopping, arm: int) -> None:
        self.shared, self.arm = shared, arm

    async def start_task(self, task: Any, samples: list[Any], epochs: int) -> str:
        ids = [place if each.id is None else each.id for place, each in enumerate(samples, 1)]
        self.shared.start(self.shared.labels[self.arm], ids, epochs)
        return "stopwise"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:  # noqa: A002
        reason = self.shared.reason_to_skip(self.arm)
        return None if reason is None else EarlyStop(id=id, epoch=epoch, reason=reason)

    async def complete_sample(
        self,
        id: str | int,  # noqa: A002
        epoch: int,
        scores: dict[str, Any],
    ) -> None:
        self.shared.tell(self.arm, id, scores)

    async def complete_task(self) -> dict[str, Any]:
        return dict(plain(self.shared.report().to_dict()))
