"""What a race says: one sentence, a table, plain values for JSON, and a picture."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stopwise.core import checks
from stopwise.core.errors import BadArgument
from stopwise.timing.race import Race

UNSTEADY = (
    "the machine is not steady: blocks that follow each other are alike, so they prove less than they "
    "seem to. Let nothing else run on it, or give it longer (--budget)"
)
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


class BenchReport:
    """Of a race that has ended, or is still running."""

    def __init__(self, race: Race, timed: bool = True) -> None:
        self.race, self.timed = race, timed
        self.labels, self.verdict = race.labels, race.session.verdict()

    # ------------------------------------------------------------------------------------ one sentence

    @property
    def sentence(self) -> str:
        """What is proven, or that nothing is."""
        if not self.verdict.items:
            return "nothing was measured"
        if not self.verdict.decided:
            return self._undecided()
        said = "; ".join(self._claims())
        return f"{said}, {self._runs()}, delta = {self.race.rules.delta:g}"

    def _claims(self) -> list[str]:
        """What is proven: that those left are alike, and of each other one which is better than it."""
        winners = self.verdict.winners
        alike = f"{_listed([self.labels[k] for k in winners])}: no difference {self._above()}"
        return [alike] * (len(winners) > 1) + [self._ahead(i, j) for i, j in self.beaten]

    @property
    def beaten(self) -> list[tuple[int, int]]:
        """Of each contestant that is out, who put it out, and it; the last to go first."""
        state = self.race.session.state
        out = [k for k in range(len(self.labels)) if not self.race.session.is_in(k)]
        out.sort(key=lambda k: -state.out[k])
        return [(int(state.out_by[k]), k) for k in out]

    def _above(self) -> str:
        size = self.race.rules.epsilon
        return f"above {100.0 * size:g} %" if self.race.rules.scale == "log" else f"of {size:g}"

    def _ahead(self, best: int, other: int) -> str:
        """ "B is 1.34 times faster than A (at least 1.27)"; no bound where it would say nothing."""
        least = self._size(max(self.race.session.at_least(best, other), 0.0), math.floor)
        bound = "" if least == self._size(0.0) else f" (at least {least})"
        return f"{self.labels[best]} is {self._looks(best, other)}{bound}"

    def _size(self, difference: float, rounded: Callable[[float], float] = round) -> str:
        """A ratio or a difference; a bound is rounded down."""
        if self.race.rules.scale == "linear":
            digits = 3 - math.floor(math.log10(abs(difference))) if difference else 0
            return f"{rounded(difference * 10.0**digits) / 10.0**digits:.4g}"
        ratio = math.exp(difference)
        digits = 2 if ratio > 1.1 else 3
        return f"{rounded(ratio * 10.0**digits) / 10.0**digits:.{digits}f}"

    def _better(self) -> str:
        if self.timed:
            return "faster"
        return "lower" if self.race.rules.goal == "min" else "higher"

    def _runs(self) -> str:
        used = {int(n) for n in self.race.session.state.used}
        if len(used) == 1:
            return f"{used.pop():,} runs of each"
        return f"{min(used):,} to {max(used):,} runs of each"

    def _undecided(self) -> str:
        why = f"undecided after {_duration(self.race.seconds)}"
        if self.race.ended == "interrupted":
            why += " (interrupted)"
        first, rivals = self.verdict.leader, self._in_but(self.verdict.leader)
        said = [f"{self.labels[first]} looks {self._looks(first, k)}" for k in rivals]
        said += [self._ahead(i, j) for i, j in self.beaten]
        if self.race.session.held:
            said.append(UNSTEADY)
        return f"{why}, {self._runs()}: {'; '.join(said)}"

    def _looks(self, arm: int, other: int) -> str:
        mean = self.race.difference(arm, other)
        times = " times" if self.race.rules.scale == "log" else ""
        return f"{self._size(mean)}{times} {self._better()} than {self.labels[other]}"

    def _in_but(self, arm: int) -> list[int]:
        inside = range(len(self.labels))
        return [k for k in inside if k != arm and self.race.session.is_in(k)]

    # ------------------------------------------------------------------------------- table and values

    def shown(self, value: float) -> str:
        """A number of the metric, with its unit if it is a time."""
        number = checks.real(value)
        if number is None:
            raise BadArgument("value", value, "a number")
        if not self.timed:
            return f"{number:.5g}"
        size, unit = next((each for each in UNITS if abs(number) >= each[0]), UNITS[-1])
        return f"{number / size:.4g} {unit}"

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and a row for each contestant."""
        rows = []
        for arm, label in enumerate(self.labels):
            found = self.race.results(arm)
            if found.size:
                middle, (low, high) = np.median(found), np.quantile(found, (0.1, 0.9))
                numbers = [self.shown(middle), f"{self.shown(low)} to {self.shown(high)}"]
            else:
                numbers = ["", ""]
            rows.append([label, f"{found.size:,}", *numbers, self._place(arm)])
        return ["", "runs", "median", "10 to 90 %", ""], rows

    def _place(self, arm: int) -> str:
        state = self.race.session.state
        if not self.race.session.is_in(arm):
            return f"out after {state.out[arm]:,} runs"
        if arm in self.verdict.winners:
            return "fastest" if self.timed else "best"
        return "leads" if arm == self.verdict.leader and self.verdict.items else ""

    @property
    def progress(self) -> float:
        """How far the evidence is, of what a decision needs: by the nearer of a winner and a tie."""
        state, level = self.race.session.state, self.verdict.level
        inside = [k for k in range(len(self.labels)) if self.race.session.is_in(k)]
        pairs = [(i, j) for i in inside for j in inside if i < j]

        def of_pair(i: int, j: int) -> float:
            won = max(state.evidence[0, i, j], state.evidence[0, j, i])
            tied = min(
                level if state.passed[1, a, b] else state.evidence[1, a, b]
                for a, b in ((i, j), (j, i))
            )
            return float(max(won, tied, 0.0))

        least = min((of_pair(i, j) for i, j in pairs), default=level)
        return min(least / level, 1.0)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        rules, names = self.race.rules, self.labels
        session, beaten = self.race.session, self.beaten
        pairs = [
            {
                "better": names[i],
                "than": names[j],
                "proven": (i, j) in beaten,
                "mean": self.race.difference(i, j),
                "at_least": session.at_least(i, j),
                "evidence": float(session.state.evidence[0, i, j]),
            }
            for i in range(len(names))
            for j in range(len(names))
            if i != j
        ]
        return {
            "sentence": self.sentence,
            "ended": self.race.ended,
            "steady": not session.held,
            "winners": [names[k] for k in self.verdict.winners],
            "delta": rules.delta,
            "epsilon": rules.epsilon,
            "scale": rules.scale,
            "seconds": self.race.seconds,
            "level": self.verdict.level,
            "pairs": pairs,
            "results": {name: self.race.results(arm).tolist() for arm, name in enumerate(names)},
        }

    def plot(self) -> Any:
        """Every run of each contestant over time, and its median; returns the figure."""
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
        for arm, name in enumerate(self.labels):
            found = self.race.results(arm)
            (dots,) = axes.plot(np.arange(1, found.size + 1), found, ".", label=name)
            if found.size:
                axes.axhline(float(np.median(found)), color=dots.get_color(), alpha=0.5)
        axes.set_xlabel("block")
        axes.set_ylabel("seconds" if self.timed else "result")
        if self.race.rules.scale == "log":
            axes.set_yscale("log")
        axes.set_title(self.sentence, fontsize="small", loc="left", wrap=True)
        axes.legend()
        return figure

    def __repr__(self) -> str:
        from stopwise.core.tables import text_table

        return f"{text_table(*self.table())}\n{self.sentence}"


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _duration(seconds: float) -> str:
    return f"{seconds / 60.0:.3g} min" if seconds >= 60.0 else f"{seconds:.3g} s"
