"""What a plan says: the lower bound, and the samples that each strategy needs, with error bars."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.errors import BadArgument
from stopwise.core.tables import html_table, text_table
from stopwise.engine.design import Setting, default_stopping
from stopwise.engine.truth import known_family
from stopwise.families.family import Family
from stopwise.families.laws import in_words
from stopwise.problems.problem import Problem
from stopwise.stopping.rule import StoppingRule
from stopwise.studies.amounts import NOT_KNOWN, TARGET, Guess, amount, spelled
from stopwise.studies.classical import LACKS, fixed_sample
from stopwise.studies.detectable import Detectable, Experiment, detectable
from stopwise.studies.expected import BEYOND, QUANTILES, Instance, StrategyForecast

SHOWN = 30  # arms in tables

Table = tuple[str, list[str], list[list[str]]]  # title, header, rows


@dataclass(frozen=True, eq=False)
class Forecast:
    """What an experiment will need: the lower bound for any method, and each strategy's samples.

    ``instances`` are the means at which runs were simulated: one, or ``draws`` of them if ranges were
    given. ``sharp`` says whether one answer is correct (``bound_note`` puts it in words).
    """

    problem: Problem
    family: Family
    stopping: StoppingRule
    delta: float
    guesses: tuple[Guess, ...]  # the means as given
    costs: Floats | None
    seed: int
    repetitions: int  # of each strategy at each instance
    max_rounds: int
    proven: bool
    guarantee: str  # the same in words
    sharp: bool
    complete: bool  # False after Ctrl-C
    instances: tuple[Instance, ...]
    strategies: dict[str, StrategyForecast]
    labels: tuple[str, ...] = ()  # the arms', if pilot data have some

    def __getitem__(self, name: str) -> StrategyForecast:
        return self.strategies[name]

    @property
    def lower_bound(self) -> float:
        """Expected samples that any delta-correct method needs (the mean over the instances)."""
        return float(np.mean([each.lower_bound for each in self.instances]))

    @property
    def classical(self) -> float:
        """Samples of a classical test that is planned for these means (the mean over the instances)."""
        return float(np.mean([fixed_sample(each.oracle, self.delta) for each in self.instances]))

    @property
    def best(self) -> StrategyForecast:
        """The strategy, of those that people can run, with the fewest samples that people plan with."""
        order = sorted(self.strategies.values(), key=lambda each: each.samples.quantiles[TARGET])
        return next((each for each in order if not each.strategy.needs_truth), order[0])

    def detectable(self, samples: int) -> Detectable:
        """The least difference that so many samples tell, with probability 80 %."""
        if len(self.instances) > 1:
            allowed = "a number for each arm, not ranges, where differences are asked for"
            raise BadArgument("means", self.guesses, allowed)
        (instance,), best = self.instances, self.best
        asked = Setting(self.problem, self.family, best.strategy, self.stopping)
        own = Experiment(asked, instance.oracle, instance.laws, self.delta, self.seed)
        return detectable(own, best.name, samples, best.samples.quantiles[TARGET])

    @property
    def cost_bound(self) -> float:
        """Expected cost of any delta-correct method, at least (the mean over the instances)."""
        return float(np.mean([each.cost_bound for each in self.instances]))

    @property
    def characteristic_time(self) -> float:
        """T* (the mean over the instances)."""
        return float(np.mean([each.oracle.time for each in self.instances]))

    @property
    def oracle_weights(self) -> Floats:
        """Shares of the arms for the first oracle answer (the mean over the instances)."""
        return np.mean([each.oracle.weights[0] for each in self.instances], axis=0)

    @property
    def bound_note(self) -> str:
        """Which lower bound this is, and for whom it holds."""
        text = (
            "T* kl(delta, 1 - delta): no delta-correct method needs fewer on average "
            "(Garivier & Kaufmann 2016)"
        )
        if not self.sharp:
            text = (
                "no delta-correct method needs fewer on average, whichever correct answer it gives; "
                f"as delta goes to 0 it becomes T* log(1/delta), here {self._scale()}"
            )
        remark = known_family(self.family, self.instances[0].laws).bound_remark()
        return f"{text}; {remark}" if remark else text

    def _scale(self) -> str:
        return amount(-self.characteristic_time * math.log(self.delta))

    @property
    def classical_note(self) -> str:
        """The classical test beside it, and what that lacks."""
        price = (
            ""
            if self.costs is None
            else f", which cost {amount(self.classical * self.costs.mean())}"
        )
        return (
            f"A classical test with equal shares (one-sided, power {TARGET:.0%}, Bonferroni), planned "
            f"for exactly these means, takes {amount(self.classical)} samples{price}: {LACKS}."
        )

    def facts(self) -> list[tuple[str, str]]:
        """Names and values: the question and the lower bound."""
        bounds = [each.lower_bound for each in self.instances]
        several, laws = len(bounds) > 1, self.instances[0].laws
        answers = list(dict.fromkeys(repr(each.oracle.answers[0]) for each in self.instances))
        span = f" on average ({amount(min(bounds))} to {amount(max(bounds))})" if several else ""
        plan = f"{self.repetitions} of each strategy"
        plan += f" at each of {len(bounds)} drawn instances" if several else ""
        return [
            ("problem", f"{self.problem!r}, {self.family!r}"),
            ("means", ", ".join(spelled(each) for each in self.guesses)),
            *([("samples", "; ".join(map(in_words, laws)))] if laws and not several else []),
            ("delta", f"{self.delta:g}"),
            ("stopping", f"{self.stopping!r} ({self.guarantee})"),
            ("oracle answer", " or ".join(answers[:6]) + (" or ..." if len(answers) > 6 else "")),
            ("T*", amount(self.characteristic_time) + (" on average" if several else "")),
            ("lower bound", f"{amount(self.lower_bound)} samples{span}"),
            (
                "classical test",
                f"{amount(self.classical)} samples{' on average' if several else ''}",
            ),
            ("simulated runs", f"{plan}, seed {self.seed}"),
        ]

    def notes(self) -> list[str]:
        """What the numbers say and what they rest on, in sentences."""
        found = [_headline(self), self.classical_note, f"Lower bound: {self.bound_note}."]
        if self.proven:
            found.append(
                f"{type(self.stopping).__name__} is {self.guarantee}: a wrong answer has probability "
                f"at most {self.delta:g}, whatever the means."
            )
        else:
            found.append(
                f"{type(self.stopping).__name__} is NOT proven: errors may exceed {self.delta:g}. "
                f"{type(default_stopping(self.family)).__name__}, the default, is proven."
            )
        remarks = [
            self.stopping.misplaced_warning(self.family, each.means) for each in self.instances
        ]
        found += [f"Warning: {each}" for each in remarks if each][:1]
        if len(self.instances) > 1:
            found.append(
                f"The means were drawn uniformly and independently from their ranges, "
                f"{len(self.instances)} times; the quantiles are over draws and runs."
            )
        if self.costs is not None:
            found.append(
                "Strategies that track oracle weights save money, not samples; no delta-correct method "
                f"costs less than {amount(self.cost_bound)} on average."
            )
        if any(each.undecided for each in self.strategies.values()):
            found.append(
                f"Undecided runs ended at max_rounds = {self.max_rounds:,} and count with that: "
                "means and high quantiles are too low. Near-ties take any number of samples (ranges "
                "that overlap hold some); an epsilon > 0 ends them."
            )
        if not all(each.known(q) for each in self.strategies.values() for q in QUANTILES):
            runs = round(BEYOND / (1.0 - QUANTILES[-1]))
            found.append(f"'-': too few runs for this quantile; {runs} of a strategy show all.")
        if not self.complete:
            found.append("Interrupted: only the runs that had finished are counted.")
        return found

    def table(self) -> Table:
        """Samples needed by each strategy."""
        header = ["strategy", "mean", "+-", *(f"{q:.0%}" for q in QUANTILES), "x bound", "wrong"]
        loose = any(each.undecided for each in self.strategies.values())
        rows = [
            [
                *(each.name, each.least + amount(each.samples.mean)),
                amount(each.samples.standard_error),
                *(each.at_most(q).replace("more than", ">") for q in QUANTILES),
                *(f"{each.least}{each.ratio:.2f}", str(each.errors)),
                *([str(each.undecided)] if loose else []),
            ]
            for each in self.strategies.values()
        ]
        return "samples", header + (["undecided"] if loose else []), rows

    def arm_table(self) -> Table:
        """Samples of each arm: the mean, and in brackets the 95 % quantile."""
        weights = self.oracle_weights
        names = self.labels or tuple(map(str, range(weights.size)))
        header = ["arm", "mean", "oracle share", *self.strategies]
        rows = [
            [
                *(names[k], spelled(self.guesses[k]), f"{weights[k]:.3f}"),
                *(
                    f"{amount(each.arm_means[k])} ({amount(each.arm_highs[k])})"
                    for each in self.strategies.values()
                ),
            ]
            for k in range(min(weights.size, SHOWN))
        ]
        if weights.size > SHOWN:
            rows.append(["..."] + [""] * (len(header) - 1))
        return "samples of each arm: mean (95%)", header, rows

    def cost_table(self) -> Table:
        """What the samples cost."""
        header = ["strategy", "mean", "+-", *(f"{q:.0%}" for q in QUANTILES)]
        rows = [
            [
                *(each.name, each.least + amount(each.cost.mean), amount(each.cost.standard_error)),
                *(
                    amount(each.cost.quantiles[q]) if each.known(q) else NOT_KNOWN
                    for q in QUANTILES
                ),
            ]
            for each in self.strategies.values()
            if each.cost is not None
        ]
        return "cost", header, rows

    def spread_table(self) -> Table:
        """How much of the spread is due to the means, and how much to chance at given means."""
        header = ["strategy", "least", "median", "most", "s.d. of draws", "s.d. of runs"]
        rows = [
            [
                each.name,
                *(amount(float(np.quantile(each.instance_means, q))) for q in (0, 0.5, 1)),
                *(amount(each.between), amount(each.within)),
            ]
            for each in self.strategies.values()
        ]
        return "mean samples over the drawn instances", header, rows

    def tables(self) -> list[Table]:
        """All that apply."""
        found = [self.table(), self.arm_table()]
        if self.costs is not None:
            found.insert(1, self.cost_table())
        if len(self.instances) > 1:
            found.append(self.spread_table())
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "problem": repr(self.problem),
            "family": repr(self.family),
            "stopping": repr(self.stopping),
            "proven": self.proven,
            "delta": self.delta,
            "means": [list(g) if isinstance(g, tuple) else g for g in self.guesses],
            **({"labels": list(self.labels)} if self.labels else {}),
            "costs": None if self.costs is None else self.costs.tolist(),
            "seed": self.seed,
            "repetitions": self.repetitions,
            "max_rounds": self.max_rounds,
            "complete": self.complete,
            "characteristic_time": self.characteristic_time,
            "lower_bound": self.lower_bound,
            **({} if self.costs is None else {"cost_bound": self.cost_bound}),
            "bound": self.bound_note,
            "classical": self.classical,
            "oracle_weights": self.oracle_weights.tolist(),
            "instances": [
                {
                    "means": each.means.tolist(),
                    **({"deviations": [law.deviation for law in each.laws]} if each.laws else {}),
                    "seed": each.seed,
                    "characteristic_time": each.oracle.time,
                    "lower_bound": each.lower_bound,
                    "oracle_answers": list(each.oracle.answers),
                    "oracle_weights": [weights.tolist() for weights in each.oracle.weights],
                }
                for each in self.instances
            ],
            "strategies": [each.to_dict() for each in self.strategies.values()],
            "notes": self.notes(),
        }

    def __repr__(self) -> str:
        lines = ["Forecast", *(f"{name:<16}{value}" for name, value in self.facts())]
        for title, header, rows in self.tables():
            lines += ["", title, text_table(header, rows)]
        return "\n".join([*lines, "", *self.notes()])

    def _repr_html_(self) -> str:
        from html import escape

        text = html_table(["", ""], [list(fact) for fact in self.facts()])
        for title, header, rows in self.tables():
            text += f"<h4>{escape(title)}</h4>" + html_table(header, rows)
        return text + "".join(f"<p>{escape(note)}</p>" for note in self.notes())

    def plot(self) -> Any:
        """A figure: how likely the experiment is over after N samples, and the samples of each arm."""
        from stopwise.studies.forecast_plot import draw, picture

        return draw(picture(self))


def _headline(forecast: Forecast) -> str:
    """With probability 80 % ... needs at most N samples: the best strategy that people can run."""
    best = forecast.best
    need = best.at_most(TARGET)
    if best.known(TARGET) and not best.censored(TARGET):
        error = best.samples.quantile_errors[TARGET]
        need = f"at most {need}" + (f" +- {amount(error)}" if math.isfinite(error) else "")
    text = f"With probability {TARGET:.0%}, {best.name} needs {need} samples"
    others = [each for each in forecast.strategies.values() if each is not best]
    rest = ", ".join(f"{each.name}: {each.at_most(TARGET)}" for each in others)
    return f"{text} ({rest})." if rest else f"{text}."
