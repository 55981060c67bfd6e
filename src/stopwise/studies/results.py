"""What many runs say: stopping times, answers, counts, and a summary with error bars."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stopwise.core import checks
from stopwise.core.arrays import Floats, Ints
from stopwise.core.errors import BadArgument, StopwiseError
from stopwise.core.optional import load
from stopwise.core.tables import html_table, plain, text_table
from stopwise.engine.batch import Batch
from stopwise.engine.design import Design
from stopwise.engine.truth import known_family
from stopwise.families.family import Family
from stopwise.families.laws import in_words
from stopwise.oracles.quantities import oracle
from stopwise.problems.problem import Code, Problem
from stopwise.sampling.strategy import Strategy
from stopwise.stopping.rule import StoppingRule

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Row:
    """One delta's line of a summary. Undecided runs count in the mean at their round limit."""

    delta: float
    runs: int
    undecided: int
    mean: float
    standard_error: float
    quantiles: dict[float, float]
    errors: int
    error_rate: float
    error_interval: tuple[float, float]  # exact (Clopper-Pearson), 95 %
    ratio: float  # mean / (T* log 1/delta)
    cost: float | None = None  # the mean cost of a run, if costs were given


@dataclass(frozen=True, eq=False)
class Summary:
    """A table with a line for each delta."""

    rows: tuple[Row, ...]
    proven: bool
    guarantee: str  # the same in words
    characteristic_time: float

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> Row:
        return self.rows[place]

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values (infinite and undefined numbers become None)."""
        rows, time = [vars(row) for row in self.rows], self.characteristic_time
        return plain({"rows": rows, "proven": self.proven, "characteristic_time": time})

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows."""
        header = ["delta", "runs", "undecided", "mean", "+-", "5 %", "median", "95 %"]
        header += ["errors", "error rate (95 % interval)", "mean/(T* log 1/delta)"]
        header += ["mean cost"] if self.rows[0].cost is not None else []
        rows = []
        for row in self.rows:
            low, high = row.error_interval
            rows.append(
                [
                    f"{row.delta:.4g}",
                    f"{row.runs:,}",
                    f"{row.undecided:,}",
                    f"{row.mean:,.1f}",
                    f"{row.standard_error:,.1f}",
                    *(f"{row.quantiles[q]:,.0f}" for q in (0.05, 0.5, 0.95)),
                    f"{row.errors:,}",
                    f"{row.error_rate:.4f} ({low:.4f} to {high:.4f})",
                    f"{row.ratio:.3f}",
                    *([] if row.cost is None else [f"{row.cost:,.1f}"]),
                ]
            )
        return header, rows

    def _note(self) -> str:
        return f"delta-correct: {self.guarantee}; T* = {self.characteristic_time:.6g}"

    def __repr__(self) -> str:
        return f"{text_table(*self.table())}\n{self._note()}"

    def _repr_html_(self) -> str:
        return f"{html_table(*self.table())}<p>{self._note()}</p>"


@dataclass(frozen=True, eq=False)
class Results:
    """The finished runs of a simulation.

    With one delta ``stopping_times``, ``answers`` and ``correct`` have one entry for each run, and
    ``counts`` a row; with a list of deltas there is a second axis for them. A run that reached
    ``max_rounds`` is undecided: time 0, answer None, not correct. ``counts`` are those at the stopping
    time (for undecided runs at the end). ``complete`` is False after Ctrl-C or a failure.
    """

    problem: Problem
    family: Family
    strategy: Strategy
    stopping: StoppingRule
    means: Floats
    delta: float | tuple[float, ...]
    seed: int
    max_rounds: int
    proven: bool
    guarantee: str  # the same in words
    complete: bool
    repetitions: Ints  # the numbers of the finished runs
    stopping_times: Ints
    codes: Code
    counts: Floats
    laws: tuple[Any, ...] = ()  # the arms', where samples are not the family's
    costs: Floats | None = None  # of a sample of each arm, if they were given

    @property
    def cost(self) -> Floats:
        """What the samples of each run cost (their number, if no costs were given)."""
        return np.asarray(
            self.counts @ (np.ones(self.means.size) if self.costs is None else self.costs)
        )

    @property
    def deltas(self) -> tuple[float, ...]:
        """Every delta, as given."""
        return self.delta if isinstance(self.delta, tuple) else (self.delta,)

    @property
    def undecided(self) -> NDArray[np.bool_]:
        """Runs that reached the round limit."""
        return self.stopping_times == 0

    @cached_property
    def answers(self) -> NDArray[Any]:
        """The answers given; None where undecided."""
        table, places = self._distinct
        found = np.empty(len(table) + 1, dtype=object)
        for place, code in enumerate(table):
            found[place] = self.problem.decode(code)
        return found[np.where(self.undecided, len(table), places)]

    @cached_property
    def correct(self) -> NDArray[np.bool_]:
        """Whether each answer is correct at the true means."""
        table, places = self._distinct
        right = set(self.problem.correct_answers(self.means)) if len(table) else set()
        good = np.array([self.problem.decode(code) in right for code in table] + [False])
        return good[np.where(self.undecided, len(table), places)]

    @cached_property
    def _distinct(self) -> tuple[Code, Ints]:
        """The codes that occur among decided runs, and for each run which one it has."""
        flat = self.codes.reshape(-1, self.codes.shape[-1])
        table, places = np.unique(flat, axis=0, return_inverse=True)
        return table, places.reshape(self.stopping_times.shape)

    def __len__(self) -> int:
        return int(self.repetitions.size)

    def summary(self) -> Summary:
        """Mean, standard error, quantiles, errors with an exact interval, and the ratio to the bound."""
        if len(self) == 0:
            raise StopwiseError("summary: no run has finished.")
        known = known_family(self.family, self.laws)
        time = oracle(self.problem, self.means, family=known).time
        shape = (len(self), len(self.deltas))
        times, correct = self.stopping_times.reshape(shape), self.correct.reshape(shape)
        rows = tuple(
            self._row(delta, times[:, d], correct[:, d], time)
            for d, delta in enumerate(self.deltas)
        )
        if self.costs is not None:
            spent = self.cost.reshape(shape).mean(axis=0)
            rows = tuple(replace(row, cost=float(spent[d])) for d, row in enumerate(rows))
        return Summary(rows, self.proven, self.guarantee, time)

    def _row(self, delta: float, times: Ints, correct: NDArray[np.bool_], time: float) -> Row:
        decided = times > 0
        spent = np.where(decided, times, self.max_rounds).astype(float)
        errors, runs = int(np.sum(decided & ~correct)), int(times.size)
        mean = float(spent.mean())
        return Row(
            delta,
            runs,
            int(np.sum(~decided)),
            mean,
            float(spent.std(ddof=1) / math.sqrt(runs)) if runs > 1 else math.nan,
            {q: float(np.quantile(spent, q)) for q in QUANTILES},
            errors,
            errors / runs,
            binomial_interval(errors, runs),
            mean / (time * math.log(1.0 / delta)),
        )

    def to_pandas(self) -> Any:
        """A table with a row for each run and delta."""
        pandas = load("pandas", "to_pandas")
        return pandas.DataFrame(self.columns())

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """The same table as a Parquet file, with the settings in its metadata."""
        arrow = load("pyarrow", "to_parquet")
        parquet = load("pyarrow.parquet", "to_parquet")
        table = arrow.table(self.columns())
        settings = {f"stopwise.{name}": value for name, value in self.settings().items()}
        target = checks.path("path", path)
        try:
            parquet.write_table(table.replace_schema_metadata(settings), target)
        except OSError as error:
            raise BadArgument("path", path, f"a file that can be written ({error})") from error

    def settings(self) -> dict[str, str]:
        """What was simulated, as text."""
        return {
            "problem": repr(self.problem),
            "family": repr(self.family),
            "strategy": repr(self.strategy),
            "stopping": repr(self.stopping),
            "proven": str(self.proven),
            "means": repr(self.means.tolist()),
            **({"laws": "; ".join(map(in_words, self.laws))} if self.laws else {}),
            "delta": repr(self.delta),
            **({} if self.costs is None else {"costs": repr(self.costs.tolist())}),
            "seed": str(self.seed),
            "max_rounds": str(self.max_rounds),
        }

    def columns(self) -> dict[str, Any]:
        """The table's columns: an entry for each run and delta."""
        runs, deltas = len(self), len(self.deltas)
        counts = self.counts.reshape(runs * deltas, -1)
        answers = self.answers.reshape(-1)
        columns: dict[str, Any] = {
            "repetition": np.repeat(self.repetitions, deltas),
            "delta": np.tile(np.array(self.deltas), runs),
            "stopping_time": self.stopping_times.reshape(-1),
            "undecided": self.undecided.reshape(-1),
            "answer": [None if answer is None else str(answer) for answer in answers],
            "correct": self.correct.reshape(-1),
        }
        for arm in range(counts.shape[1]):
            columns[f"count_{arm}"] = counts[:, arm].astype(np.int64)
        if self.costs is not None:
            columns["cost"] = self.cost.reshape(-1)
        return columns

    def __repr__(self) -> str:
        lines = [f"{name:<12}{value}" for name, value in self.settings().items()]
        end = "" if self.complete else " (not complete)"
        lines.append(f"{'runs':<12}{len(self)}{end}")
        return "\n".join(["Results", *lines, repr(self.summary()) if len(self) else ""])

    def _repr_html_(self) -> str:
        rows = [list(item) for item in self.settings().items()]
        table = self.summary()._repr_html_() if len(self) else ""
        return html_table(["", ""], rows) + table


def binomial_interval(errors: int, runs: int) -> tuple[float, float]:
    """The exact (Clopper-Pearson) interval for a probability."""
    from scipy.special import betaincinv

    tail = 0.5 * (1.0 - CONFIDENCE)
    low = 0.0 if errors == 0 else float(betaincinv(errors, runs - errors + 1, tail))
    high = 1.0 if errors == runs else float(betaincinv(errors + 1, runs - errors, 1.0 - tail))
    return low, high


def collect(
    design: Design, delta: float | tuple[float, ...], seed: int, batch: Batch, complete: bool
) -> Results:
    """The finished rows, with the deltas in the order in which they were given."""
    done = np.flatnonzero(batch.finished)
    times, codes, counts = batch.times[done], batch.codes[done], batch.counts[done]
    if isinstance(delta, tuple):
        places = [int(np.flatnonzero(design.deltas == each)[0]) for each in delta]
        times, codes, counts = times[:, places], codes[:, places], counts[:, places]
    else:
        times, codes, counts = times[:, 0], codes[:, 0], counts[:, 0]
    return Results(
        *design.given,
        design.truth,
        delta,
        seed,
        design.max_rounds,
        design.proven,
        design.guarantee,
        complete,
        batch.first + done,
        times,
        codes,
        counts,
        design.laws,
    )
