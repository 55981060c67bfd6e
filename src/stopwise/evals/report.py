"""What a comparison on shared items says: one sentence, a table, warnings, and plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stopwise.core.tables import text_table
from stopwise.paired.bounds import joint
from stopwise.paired.session import PairedSession
from stopwise.paired.status import tied

MORE = (
    "All items are used, and the evidence is not enough. Give more items or a larger epsilon; or say "
    "deterministic=True, if an option always has the same score on an item: then the answer is about "
    "just these items."
)


class EvalReport:
    """Of a comparison that has ended: "decided", "items" (there are no more) or "interrupted".

    ``best`` is the option that is proven to be beaten by none by epsilon; None if nothing is proven, or
    if options tie: ``tied`` names options that have the same mean over all items. ``leader`` looks best.
    ``claim`` says which items the answer is about, ``warnings`` what else to know: items that were not
    enough, scores that were lost or made again, ties.
    """

    def __init__(
        self,
        labels: Sequence[str],
        session: PairedSession,
        ended: str,
        calls: Sequence[int],
        size: int | None = None,
        warnings: Sequence[str] = (),
        unit: str = "items",
        claim: str = "",
    ) -> None:
        self.labels, self.session, self.ended = tuple(labels), session, ended
        self.calls = dict(zip(labels, calls, strict=True))
        self.size, self.unit, self._claim = size, unit, claim
        self.verdict = session.verdict()
        self.leader = self.labels[self.verdict.leader]
        self.tied = tuple(self.labels[arm] for arm in tied(session.what, session.state))
        self.best = self.leader if self.verdict.decided and not self.tied else None
        self.warnings = (*warnings, *self._own_warnings())

    def _own_warnings(self) -> list[str]:
        found = []
        if self.tied:
            found.append(f"{self._tie}: none of them is better.")
        used_up = self.size is not None and self.verdict.items >= self.size
        if not self.verdict.decided and used_up:
            found.append(MORE)
        return found

    @property
    def means(self) -> dict[str, float]:
        """Each option's mean result over the items that it was in for."""
        totals, used = self.session.sense * self.session.state.totals, self.session.state.used
        found = np.where(used > 0, totals / np.maximum(used, 1), np.nan)
        return dict(zip(self.labels, found.tolist(), strict=True))

    @property
    def claim(self) -> str:
        """Which items the answer is about."""
        pool = self.session.what.pool
        if self._claim:
            return self._claim
        if self.session.what.deterministic:
            return f"about just these {pool:,} {self.unit}"
        return f"about {self.unit} like these"

    @property
    def sentence(self) -> str:
        """What is proven, about what, and how sure."""
        items, pool = f"{self.verdict.items:,} {self.unit}", self.session.what.pool
        counted = f"{items} of a pool of {pool:,}" if self.session.what.deterministic else items
        first = self.verdict.leader
        apart = [k for k, name in enumerate(self.labels) if k != first and name not in self.tied]
        against = [self._against(first, k) for k in apart]
        others = f" ({'; '.join(against)})" if apart else ""
        sure = f"{counted}, delta = {self.session.delta:g}, {self.claim}"
        if any("at least" in each for each in against):
            sure += f" (with the bounds: {joint(self.session.what):g})"
        if self.tied:
            return f"{self._tie}{others}, {sure}"
        if self.best is None:
            return f"undecided: {self.leader} looks best{others}, {sure}"
        near = f" or within {self.session.epsilon:g} of the best" if self.session.epsilon else ""
        return f"{self.best} is best{near}{others}, {sure}"

    @property
    def _tie(self) -> str:
        return f"{' and '.join(self.tied)} tie on all {self.session.what.pool:,} {self.unit}"

    def _against(self, arm: int, other: int) -> str:
        mean, least = self.session.state.means[arm, other], self.session.at_least(arm, other)
        bound = f", at least {least:.3g}" if least > -self.session.epsilon and self.best else ""
        return f"{mean:+.3g} against {self.labels[other]}{bound}"

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and a row for each option."""
        state, rows = self.session.state, []
        for arm, label in enumerate(self.labels):
            place = "best" if label == self.best else "leads" if label == self.leader else ""
            place = "ties" if label in self.tied else place
            if not self.session.is_in(arm):
                by = self.labels[state.out_by[arm]]
                place = f"out after {state.out[arm]:,} {self.unit}: {by} is ahead"
            mean = f"{self.means[label]:.4g}"
            rows.append([label, mean, f"{state.used[arm]:,}", f"{self.calls[label]:,}", place])
        return ["", "mean", self.unit, "calls", ""], rows

    def to_dict(self) -> dict[str, Any]:
        """The decision and its proof, as plain values."""
        state, verdict, names = self.session.state, self.verdict, self.labels
        return {
            "sentence": self.sentence,
            "claim": self.claim,
            "ended": self.ended,
            "best": self.best,
            "tied": list(self.tied),
            "leader": self.leader,
            "warnings": list(self.warnings),
            "delta": self.session.delta,
            "joint_delta": joint(self.session.what),
            "epsilon": self.session.epsilon,
            "items": verdict.items,
            "pool": self.session.what.pool or None,
            "deterministic": self.session.deterministic,
            "level": verdict.level,
            "means": self.means,
            "calls": self.calls,
            "out": {names[k]: int(state.out[k]) for k in range(len(names)) if state.out[k] >= 0},
            "evidence": {
                name: dict(zip(names, state.evidence[-1, i].tolist(), strict=True))
                for i, name in enumerate(names)
            },
        }

    def __repr__(self) -> str:
        return "\n".join([text_table(*self.table()), self.sentence, *self.warnings])
