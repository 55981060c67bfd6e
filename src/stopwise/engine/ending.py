"""How a stretch of rounds ended, with a sentence for each way."""

from __future__ import annotations

from enum import IntEnum

from stopwise.core.data import State
from stopwise.core.errors import StopwiseError
from stopwise.engine.design import Design


class Ending(IntEnum):
    """What the loop returns."""

    FINE = 0
    BAD_SAMPLE = 1
    BAD_WEIGHTS = 2
    BAD_ARM = 3
    BAD_EVIDENCE = 4

    def error(self, design: Design, state: State, rounds: int) -> StopwiseError:
        """Which function gave a number that makes no sense, and for which data."""
        problem, family, strategy, rule = (type(each).__name__ for each in design.setting)
        source = "an arm's law" if design.laws else f"draw of {family}"
        sentences = {
            Ending.BAD_SAMPLE: f"{source} gave a sample that is not finite",
            Ending.BAD_WEIGHTS: (
                f"target of {strategy} (or the oracle of {problem}) gave weights that are not >= 0 with "
                f"sum 1: {state.plan.weights.tolist()}"
            ),
            Ending.BAD_ARM: (
                f"next_arm of {strategy} gave an arm that is none of 0 to {state.taken.size - 1}"
            ),
            Ending.BAD_EVIDENCE: (
                f"margin of {rule} gave nan: the evidence (cost or project of {problem}) is not a "
                "number >= 0"
            ),
        }
        counts, means = state.data.counts.tolist(), state.data.means.tolist()
        return StopwiseError(
            f"{sentences[self]}, after {rounds} rounds, counts {counts}, means {means}."
        )
