"""A study: a grid of simulations that survives crashes, from values or from a file."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from stopwise import __version__
from stopwise.checks import whole
from stopwise.engine.batch import Batch
from stopwise.errors import BadArgument, StopwiseError
from stopwise.families import Gaussian
from stopwise.report import html_table, text_table
from stopwise.results import Results, collect, load
from stopwise.sampling import StickyTrackAndStop
from stopwise.simulation import MAX_ROUNDS, processors, reporter
from stopwise.stopping import Mixture
from stopwise.studies.runner import Block, blocks, missing, run_blocks
from stopwise.studies.spec import Cell, Spec, make_spec, read_spec
from stopwise.studies.store import BadBlock, Store, write_file


class NotComplete(StopwiseError):
    """Blocks are missing; run the study (again)."""


@dataclass(frozen=True)
class Status:
    """How much of each cell is stored."""

    name: str
    key: str
    folder: Path
    cells: tuple[Cell, ...]
    runs: tuple[int, ...]  # stored, of each cell
    repetitions: int
    interrupted: bool = False  # by Ctrl-C, in the run that gives this status

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return all(done == self.repetitions for done in self.runs)

    @property
    def done(self) -> int:
        """Stored runs, of all cells."""
        return sum(self.runs)

    @property
    def total(self) -> int:
        """Runs of the whole study."""
        return self.repetitions * len(self.cells)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and cells."""
        header = ["cell", "instance", "strategy", "threshold", "runs", "of", "done"]
        rows = [
            [
                *(str(cell.number), cell.instance.name, cell.strategy[0], cell.threshold[0]),
                *(f"{done:,}", f"{self.repetitions:,}", f"{done / self.repetitions:.0%}"),
            ]
            for cell, done in zip(self.cells, self.runs, strict=True)
        ]
        return header, rows

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        header, rows = self.table()
        return {
            "name": self.name,
            "hash": self.key,
            "folder": str(self.folder),
            "complete": self.complete,
            "done": self.done,
            "total": self.total,
            "cells": [dict(zip(header, row, strict=True)) for row in rows],
        }

    def _note(self) -> str:
        word = "complete" if self.complete else f"{self.done:,} of {self.total:,} runs"
        return f"{self.name} ({self.key}): {word}, in {self.folder}"

    def __repr__(self) -> str:
        return f"{text_table(*self.table())}\n{self._note()}"

    def _repr_html_(self) -> str:
        return f"{html_table(*self.table())}<p>{self._note()}</p>"


@dataclass(frozen=True, eq=False)
class StudyResults:
    """The results of every cell, in order."""

    spec: Spec
    key: str
    cells: tuple[tuple[Cell, Results], ...]

    def __iter__(self) -> Iterator[tuple[Cell, Results]]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def cell(
        self,
        instance: str | None = None,
        strategy: str | None = None,
        threshold: str | None = None,
    ) -> Results:
        """The one cell with these names."""
        names = (instance, strategy, threshold)
        found = [
            results
            for cell, results in self.cells
            if all(
                wanted is None or wanted == own
                for wanted, own in zip(names, _names(cell), strict=True)
            )
        ]
        if len(found) != 1:
            listed = "; ".join(str(_names(cell)) for cell, _ in self.cells[:20])
            raise BadArgument(
                "cell", names, f"names of exactly one cell, not {len(found)}: {listed}"
            )
        return found[0]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and cells: every cell's summary."""
        header, rows = [], []
        for cell, results in self.cells:
            inner, lines = results.summary().table()
            header = ["instance", "strategy", "threshold", *inner]
            rows += [[*_names(cell), *line] for line in lines]
        return header, rows

    def brief(self) -> tuple[list[str], list[list[str]]]:
        """The same, for a narrow place: no columns that are the same in every row."""
        header, rows = self.table()
        dull = {"runs", "undecided", "5 %", "threshold", "instance"}
        keep = [
            place
            for place, name in enumerate(header)
            if not name.startswith("error rate")
            and (name not in dull or (name != "5 %" and len({row[place] for row in rows}) > 1))
        ]
        short = ["ratio" if "T*" in name else name for name in header]
        return [short[k] for k in keep], [[row[k] for k in keep] for row in rows]

    def __repr__(self) -> str:
        return text_table(*self.table())

    def _repr_html_(self) -> str:
        return html_table(*self.table())

    def to_pandas(self) -> Any:
        """A row for each run and delta."""
        load("pandas", "to_pandas")
        return self._arrow().to_pandas()

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """The same as a Parquet file, with nothing in it that depends on time or place."""
        from io import BytesIO

        content = BytesIO()
        load("pyarrow.parquet", "to_parquet").write_table(self._arrow(), content)
        write_file(Path(path), content.getvalue())

    def _arrow(self) -> Any:
        arrow = load("pyarrow", "to_parquet")
        tables = []
        for cell, results in self.cells:
            rows = len(results) * len(results.deltas)
            columns = results.columns()
            counts = [columns.pop(name) for name in list(columns) if name.startswith("count_")]
            flat = arrow.array(np.stack(counts, axis=1).reshape(-1))
            ends = arrow.array(np.arange(rows + 1) * len(counts), type=arrow.int64())
            labels = {
                name: arrow.array([text] * rows, type=arrow.string())
                for name, text in zip(
                    ("instance", "strategy", "threshold"), _names(cell), strict=True
                )
            }
            answers = arrow.array(columns.pop("answer"), type=arrow.string())
            number = np.full(rows, cell.number)
            table = {"cell": number, **labels, **columns, "answer": answers}
            table["counts"] = arrow.LargeListArray.from_arrays(ends, flat)
            tables.append(arrow.table(table))
        whole = arrow.concat_tables(tables)
        return whole.replace_schema_metadata(
            {"stopwise.study": json.dumps(describe(self.spec, self.key))}
        )


def _names(cell: Cell) -> tuple[str, str, str]:
    return cell.instance.name, cell.strategy[0], cell.threshold[0]


def describe(spec: Spec, key: str) -> dict[str, Any]:
    """A spec for people to read."""
    return {
        "name": spec.name,
        "hash": key,
        "version": __version__,
        "family": repr(spec.family),
        "instances": {each.name: list(each.means) for each in spec.instances},
        "problems": sorted({repr(each.problem) for each in spec.instances}),
        "strategies": {name: repr(value) for name, value in spec.strategies},
        "thresholds": {name: repr(value) for name, value in spec.thresholds},
        "deltas": list(spec.deltas),
        "repetitions": spec.repetitions,
        "seed": spec.seed,
        "max_rounds": spec.max_rounds,
        "block": spec.block,
    }


class Study:
    """Every combination of instances, strategies and thresholds, simulated so many times.

    ``problem`` is a problem, or a function of the number of arms (such as BestArm itself).
    ``instances`` are means: of one instance, a list of them, or a dict from names; ``strategies`` and
    ``thresholds`` likewise. ``block`` is how many repetitions are stored together. Results depend on
    these and on ``seed``, never on who computes them; ``folder`` is where blocks are kept.
    """

    def __init__(
        self,
        problem: Any,
        instances: Any,
        family: Any = Gaussian(),
        strategies: Any = StickyTrackAndStop(),
        thresholds: Any = Mixture(),
        deltas: float | Sequence[float] = 0.1,
        repetitions: int = 1000,
        seed: int = 0,
        max_rounds: int = MAX_ROUNDS,
        block: int | None = None,
        name: str = "study",
        folder: str | PathLike[str] | None = None,
    ) -> None:
        spec = make_spec(
            *(name, problem, family, instances, strategies, thresholds),
            *(deltas, repetitions, seed, max_rounds, block),
        )
        self._set(spec, Path(f"{name}.study" if folder is None else folder))

    @classmethod
    def load(cls, path: str | PathLike[str], folder: str | PathLike[str] | None = None) -> Study:
        """A study from its file; blocks are kept beside it unless a folder is given."""
        file = Path(path)
        study = cls.__new__(cls)
        study._set(read_spec(file), file.with_suffix(".study") if folder is None else Path(folder))
        return study

    def _set(self, spec: Spec, folder: Path) -> None:
        self.spec, self.key, self.folder = spec, spec.fingerprint(), folder
        self._store = Store(folder, self.key)

    def __repr__(self) -> str:
        return f"Study({self.spec.name!r}, {len(self.spec.cells())} cells, {self.key})"

    def run(
        self,
        workers: int | None = None,
        executor: Any = None,
        shard: tuple[int, int] = (1, 1),
        progress: bool | Callable[[int], None] | None = None,
        warn: Callable[[str], None] = warnings.warn,
    ) -> Status:
        """Compute what is missing, and store it block by block.

        ``executor`` is anything with ``submit`` (default: ``workers`` threads). ``shard`` (i, n) takes
        every n-th block, from the i-th. Ctrl-C keeps what is stored: run again to go on.
        """
        part, parts = shard
        if not 1 <= part <= parts:
            raise BadArgument("shard", f"{part}/{parts}", "i/n with 1 <= i <= n")
        threads = processors() if workers is None else whole("workers", workers, least=1)
        about = json.dumps(describe(self.spec, self.key), indent=2)
        write_file(self._store.folder / "spec.json", f"{about}\n".encode())
        todo = missing(self.spec, self._store, shard, warn)
        ours = [block for place, block in enumerate(blocks(self.spec)) if place % parts == part - 1]
        before = sum(block.size for block in ours) - sum(block.size for block in todo)
        with reporter(progress, sum(block.size for block in ours)) as report:

            def tell(done: int) -> None:
                if report is not None:
                    report(before + done)

            done = run_blocks(self.spec, todo, self._store, executor, threads, tell)
        return replace(self.status(), interrupted=not done)

    def status(self) -> Status:
        """How much is stored."""
        cells = self.spec.cells()
        runs = [0] * len(cells)
        for block in blocks(self.spec):
            if self._store.done(block.cell.number, block.number):
                runs[block.cell.number] += block.size
        return Status(
            *(self.spec.name, self.key, self.folder, cells, tuple(runs), self.spec.repetitions)
        )

    def collect(self) -> StudyResults:
        """All results; refused while blocks are missing or damaged."""
        by_cell: dict[int, list[Batch]] = {}
        for block in blocks(self.spec):
            by_cell.setdefault(block.cell.number, []).append(self._read(block))
        cells = tuple(
            (cell, self._results(cell, by_cell[cell.number])) for cell in self.spec.cells()
        )
        self._store.tidy()
        return StudyResults(self.spec, self.key, cells)

    def _read(self, block: Block) -> Batch:
        cell, number, first, size = block
        if not self._store.done(cell.number, number):
            status = self.status()
            raise NotComplete(
                f"{self.spec.name}: {status.done:,} of {status.total:,} runs are stored in "
                f"{self.folder}. Run the study to compute the others."
            )
        try:
            return self._store.read(cell.number, number, first, size)
        except BadBlock as error:
            raise BadBlock(f"{error} Run the study again to compute it anew.") from error

    def _results(self, cell: Cell, batches: Sequence[Batch]) -> Results:
        spec, plan = self.spec, self.spec.plan(cell)
        joined = Batch(
            0, *(np.concatenate(column) for column in list(zip(*batches, strict=True))[1:])
        )
        deltas = spec.deltas if len(spec.deltas) > 1 else spec.deltas[0]
        return collect(plan, cell.strategy[1], deltas, spec.seed, joined, True)

    def report(self, path: str | PathLike[str] | None = None) -> Path:
        """One self-contained HTML page about the collected results; where it was written."""
        from stopwise.studies.report import page

        target = self.folder / "report.html" if path is None else Path(path)
        write_file(target, page(self.collect()).encode())
        return target


__all__ = ["NotComplete", "Status", "Study", "StudyResults"]
