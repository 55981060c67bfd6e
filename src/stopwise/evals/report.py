"""What a comparison on shared items says: one sentence, a table, and plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stopwise.core.tables import text_table
from stopwise.paired.bounds import joint
from stopwise.paired.session import PairedSession


class EvalReport:
    """Of a comparison that has ended: "decided", "items" (there are no more) or "interrupted".

    ``best`` is the option that is proven to be beaten by none by epsilon; None if nothing is proven.
    ``leader`` is the one that looks best.
    """

    def __init__(
        self, labels: Sequence[str], session: PairedSession, ended: str, calls: Sequence[int]
    ) -> None:
        self.labels, self.session, self.ended = tuple(labels), session, ended
        self.calls = dict(zip(labels, calls, strict=True))
        self.verdict = session.verdict()
        self.leader = self.labels[self.verdict.leader]
        self.best = self.leader if self.verdict.decided else None

    @property
    def means(self) -> dict[str, float]:
        """Each option's mean result over the items that it was in for."""
        rows = np.array(self.session.rows).reshape(-1, len(self.labels))
        used = self.session.state.used
        found = [rows[: used[k], k].mean() if used[k] else np.nan for k in range(len(self.labels))]
        return dict(zip(self.labels, map(float, found), strict=True))

    @property
    def sentence(self) -> str:
        """What is proven, about what, and how sure."""
        items, pool = f"{self.verdict.items:,} items", self.session.what.pool
        about = f"{items} of a pool of {pool:,}" if pool else items
        first = self.verdict.leader
        others = [self._against(first, k) for k in range(len(self.labels)) if k != first]
        sure = f"{about}, delta = {self.session.delta:g}"
        if any("at least" in each for each in others):
            sure += f" (with the bounds: {joint(self.session.what):g})"
        if self.best is None:
            return f"undecided: {self.leader} looks best ({'; '.join(others)}), {sure}"
        near = f" or within {self.session.epsilon:g} of the best" if self.session.epsilon else ""
        return f"{self.best} is best{near} ({'; '.join(others)}), {sure}"

    def _against(self, arm: int, other: int) -> str:
        mean, least = self.session.state.means[arm, other], self.session.at_least(arm, other)
        bound = f", at least {least:.3g}" if least > -self.session.epsilon and self.best else ""
        return f"{mean:+.3g} against {self.labels[other]}{bound}"

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and a row for each option."""
        state, rows = self.session.state, []
        for arm, label in enumerate(self.labels):
            place = "best" if label == self.best else "leads" if label == self.leader else ""
            if not self.session.is_in(arm):
                by = self.labels[state.out_by[arm]]
                place = f"out after {state.out[arm]:,} items: {by} is ahead"
            mean = f"{self.means[label]:.4g}"
            rows.append([label, mean, f"{state.used[arm]:,}", f"{self.calls[label]:,}", place])
        return ["", "mean", "items", "calls", ""], rows

    def to_dict(self) -> dict[str, Any]:
        """The decision and its proof, as plain values."""
        state, verdict, names = self.session.state, self.verdict, self.labels
        return {
            "sentence": self.sentence,
            "ended": self.ended,
            "best": self.best,
            "leader": self.leader,
            "delta": self.session.delta,
            "joint_delta": joint(self.session.what),
            "epsilon": self.session.epsilon,
            "items": verdict.items,
            "pool": self.session.what.pool or None,
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
        return f"{text_table(*self.table())}\n{self.sentence}"
