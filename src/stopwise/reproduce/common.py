"""What the paper's experiments share: their settings, what they claim, and what is written."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import stopwise as sw
from stopwise.core.arrays import Floats, Ints
from stopwise.core.errors import BadArgument, StopwiseError
from stopwise.core.optional import load
from stopwise.core.tables import plain
from stopwise.engine.design import Setting
from stopwise.studies import look
from stopwise.studies.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Progress = bool | Callable[[int], None] | None
Columns = Mapping[str, Any]


class Order(NamedTuple):
    """How an experiment is to be run, and where its files go."""

    folder: Path
    repetitions: int
    seed: int
    workers: int | None = None
    full: bool = False  # at the paper's own size
    progress: Progress = None


class Number(NamedTuple):
    """A measured figure; exact ones have no standard error."""

    name: str
    value: float
    standard_error: float | None = None

    def __str__(self) -> str:
        error = self.standard_error
        if error is None or not (math.isfinite(error) and error > 0.0):
            return short(self.value)
        places = max(0, 1 - math.floor(math.log10(error)))  # two digits of the error
        return f"{self.value:,.{places}f} ± {error:,.{places}f}"


class Claim(NamedTuple):
    """What the paper says beside what was measured; ``supported`` None: there is nothing to decide."""

    what: str
    paper: str
    measured: str
    supported: bool | None

    @property
    def verdict(self) -> str:
        """ "supported", "not supported", or nothing."""
        return {True: "supported", False: "not supported", None: "—"}[self.supported]


class Made(NamedTuple):
    """What an experiment hands over: everything that will be written."""

    parameters: dict[str, Any]
    numbers: list[Number]
    claims: list[Claim]
    notes: list[str]
    tables: Mapping[str, Results | Columns]
    figure: Figure


@dataclass(frozen=True)
class Reproduction:
    """One of the paper's experiments, done again; for "all" of them the ``parts`` are the ones."""

    name: str
    title: str
    seed: int
    parameters: dict[str, Any] = field(default_factory=dict)
    numbers: tuple[Number, ...] = ()
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    parts: tuple[Reproduction, ...] = ()

    def __getitem__(self, name: str) -> Number:
        """The number of that name."""
        for number in self.numbers:
            if number.name == name:
                return number
        raise BadArgument("name", name, ", ".join(number.name for number in self.numbers))

    @property
    def unsupported(self) -> tuple[Claim, ...]:
        """What the paper says and the measurement does not."""
        return tuple(claim for claim in self.claims if claim.supported is False)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows of the comparison with the paper."""
        header = ["", "paper", "measured", "verdict"]
        return header, [[c.what, c.paper, c.measured, c.verdict] for c in self.claims]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; nothing in them depends on time or place."""
        return {
            "name": self.name,
            "title": self.title,
            "parameters": self.parameters,
            "seed": self.seed,
            "versions": versions(),
            "numbers": {
                each.name: plain({"value": each.value, "standard_error": each.standard_error})
                for each in self.numbers
            },
            "comparison": [{**claim._asdict(), "verdict": claim.verdict} for claim in self.claims],
            "notes": list(self.notes),
        }


def versions() -> dict[str, str]:
    """Of all that can change a number."""
    return {
        "stopwise": sw.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "numba")},
    }


def simulated(
    order: Order, key: str, asked: Setting, means: ArrayLike, delta: float, max_rounds: int
) -> Results:
    """All runs of one strategy, stored in blocks in the folder: if interrupted, it goes on there."""
    study = sw.Study(
        asked.problem,
        means,
        family=asked.family,
        strategies=asked.strategy,
        stopping=asked.stopping,
        deltas=delta,
        repetitions=order.repetitions,
        seed=order.seed,
        max_rounds=max_rounds,
        name=key,
        folder=order.folder / "blocks",
    )
    status = study.run(order.workers, progress=order.progress)
    if status.interrupted:
        raise StopwiseError(
            f"{order.folder.name}: interrupted after {status.done} of {order.repetitions} runs of "
            f"{key!r}; the same command goes on from there."
        )
    ((_, found),) = study.collect()
    return found


def write(name: str, title: str, setting: Order, made: Made) -> Reproduction:
    """Pictures, data and summary.json in the setting's folder; the summary comes last."""
    folder = setting.folder
    files = list(look.save(made.figure, folder, name))
    for key, table in made.tables.items():
        files.append(folder / f"{key}.parquet")
        _write_table(table, files[-1])
    files.append(folder / "summary.json")
    done = Reproduction(
        name,
        title,
        setting.seed,
        made.parameters,
        tuple(made.numbers),
        tuple(made.claims),
        tuple(made.notes),
        tuple(files),
    )
    text = json.dumps(done.to_dict(), indent=2, ensure_ascii=False)
    files[-1].write_text(text + "\n", encoding="utf-8")
    return done


def _write_table(table: Results | Columns, path: Path) -> None:
    if isinstance(table, Results):
        table.to_parquet(path)
        return
    arrow, parquet = load("pyarrow", "to_parquet"), load("pyarrow.parquet", "to_parquet")
    parquet.write_table(arrow.table(dict(table)), path)


def mean_of(name: str, values: ArrayLike) -> Number:
    """A mean with its standard error."""
    array = np.asarray(values, dtype=float)
    spread = float(array.std(ddof=1)) if array.size > 1 else math.nan
    return Number(name, float(array.mean()), spread / math.sqrt(array.size))


def share_of(name: str, flags: NDArray[np.bool_]) -> Number:
    """A share of runs with its standard error."""
    share = float(np.mean(flags))
    return Number(name, share, math.sqrt(share * (1.0 - share) / flags.size))


def draw_times(
    axes: Axes, times: Mapping[str, Ints], bins: Any, lower: float, rise: float
) -> float:
    """Histograms of two strategies' stopping times; all means and the lower bound as lines that high.

    ``rise`` is the height of the lines in units of the tallest bar, whose height is returned.
    """
    tallest = 0.0
    for place, each in enumerate(list(times.values())[:2]):
        bars, _, _ = axes.hist(each, bins, zorder=2, **share_bars(place, each.size))
        tallest = max(tallest, float(np.max(bars)))
    ends = [0.0, rise * tallest]
    for place, (name, each) in enumerate(times.items()):
        mean = mean_of("", each)
        label = f"{name}: mean {mean.value:,.0f} ± {mean.standard_error:,.0f}"
        line = {**look.series_style(place), "linewidth": 2.2}
        axes.plot([mean.value] * 2, ends, zorder=4, label=label, **line)
    line = {"color": look.INK, "linestyle": look.DASHES[3], "linewidth": 1.6}
    label = f"lower bound T* log 1/δ: {lower:,.0f}"
    axes.plot([lower] * 2, ends, zorder=5, label=label, **line)
    axes.set(xlabel="stopping time τ (samples)", ylabel="% of runs in each bar")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    return tallest


def share_bars(place: int, runs: int) -> dict[str, Any]:
    """How a histogram of so many runs is drawn in percent."""
    shares = np.full(runs, 100.0 / runs)
    return {"weights": shares, "histtype": "stepfilled", **look.bar_style(place)}


def scaled(name: str, number: Number, factor: float) -> Number:
    """A number in other units."""
    error = None if number.standard_error is None else abs(factor) * number.standard_error
    return Number(name, factor * number.value, error)


def short(value: float) -> str:
    """A number as people write it: whole from a thousand on, else four digits."""
    if not math.isfinite(value):
        return "unknown" if math.isnan(value) else "infinite"
    return f"{value:,.0f}" if abs(value) >= 1000.0 else f"{value:.4g}"


def nearest_distance(proportions: Floats, targets: Floats) -> Floats:
    """Each row's distance, in sup norm, to the nearest of the targets."""
    found = np.full(len(proportions), math.inf)
    for target in targets:
        np.minimum(found, np.abs(proportions - target).max(axis=1), out=found)
    return found
