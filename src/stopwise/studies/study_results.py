"""How much of a study is stored, and its results case by case."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from stopwise import __version__
from stopwise.core import checks
from stopwise.core.errors import BadArgument
from stopwise.core.optional import load
from stopwise.core.tables import html_table, text_table
from stopwise.families.laws import in_words
from stopwise.studies.blocks import write_file
from stopwise.studies.results import Results
from stopwise.studies.spec import Case, StudySpec

LABELS = ("instance", "strategy", "stopping")


@dataclass(frozen=True)
class StudyStatus:
    """How much of each case is stored."""

    name: str
    key: str
    folder: Path
    cases: tuple[Case, ...]
    runs: tuple[int, ...]  # stored, of each case
    repetitions: int
    interrupted: bool = False  # by Ctrl-C, in the run that gives this status

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return all(done == self.repetitions for done in self.runs)

    @property
    def done(self) -> int:
        """Stored runs, of all cases."""
        return sum(self.runs)

    @property
    def total(self) -> int:
        """Runs of the whole study."""
        return self.repetitions * len(self.cases)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows."""
        header = ["case", *LABELS, "runs", "of", "done"]
        rows = [
            [
                *(str(case.number), *_names(case)),
                *(f"{done:,}", f"{self.repetitions:,}", f"{done / self.repetitions:.0%}"),
            ]
            for case, done in zip(self.cases, self.runs, strict=True)
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
            "cases": [dict(zip(header, row, strict=True)) for row in rows],
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
    """The results of every case, in order."""

    spec: StudySpec
    key: str
    cases: tuple[tuple[Case, Results], ...]

    def __iter__(self) -> Iterator[tuple[Case, Results]]:
        return iter(self.cases)

    def __len__(self) -> int:
        return len(self.cases)

    def case(
        self,
        instance: str | None = None,
        strategy: str | None = None,
        stopping: str | None = None,
    ) -> Results:
        """The one case with these names."""
        names = (instance, strategy, stopping)
        for what, name in zip(("instance", "strategy", "stopping"), names, strict=True):
            if name is not None and not isinstance(name, str):
                raise BadArgument(what, name, "a name, or None for any")
        found = [
            results
            for case, results in self.cases
            if all(wanted in (None, own) for wanted, own in zip(names, _names(case), strict=True))
        ]
        if len(found) != 1:
            listed = "; ".join(str(_names(case)) for case, _ in self.cases[:20])
            raise BadArgument(
                "instance, strategy, stopping",
                names,
                f"names of exactly one case, not {len(found)}: {listed}",
            )
        return found[0]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows: every case's summary."""
        header, rows = [], []
        for case, results in self.cases:
            inner, lines = results.summary().table()
            header = [*LABELS, *inner]
            rows += [[*_names(case), *line] for line in lines]
        return header, rows

    def brief(self) -> tuple[list[str], list[list[str]]]:
        """The same, for a narrow place: no columns that are the same in every row."""
        header, rows = self.table()
        dull = {"runs", "undecided", "5 %", "stopping", "instance"}
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
        write_file(checks.path("path", path), content.getvalue())

    def _arrow(self) -> Any:
        arrow = load("pyarrow", "to_parquet")
        tables = []
        for case, results in self.cases:
            rows = len(results) * len(results.deltas)
            columns = results.columns()
            counts = [columns.pop(name) for name in list(columns) if name.startswith("count_")]
            flat = arrow.array(np.stack(counts, axis=1).reshape(-1))
            ends = arrow.array(np.arange(rows + 1) * len(counts), type=arrow.int64())
            labels = {
                name: arrow.array([text] * rows, type=arrow.string())
                for name, text in zip(LABELS, _names(case), strict=True)
            }
            answers = arrow.array(columns.pop("answer"), type=arrow.string())
            number = np.full(rows, case.number)
            table = {"case": number, **labels, **columns, "answer": answers}
            table["counts"] = arrow.LargeListArray.from_arrays(ends, flat)
            tables.append(arrow.table(table))
        whole = arrow.concat_tables(tables)
        return whole.replace_schema_metadata(
            {"stopwise.study": json.dumps(describe(self.spec, self.key))}
        )


def _names(case: Case) -> tuple[str, str, str]:
    return case.instance.name, case.strategy[0], case.stopping[0]


def describe(spec: StudySpec, key: str) -> dict[str, Any]:
    """A spec for people to read."""
    laws = {each.name: [in_words(law) for law in each.laws] for each in spec.instances if each.laws}
    return {
        "name": spec.name,
        "hash": key,
        "version": __version__,
        "family": repr(spec.family),
        "instances": {each.name: list(each.means) for each in spec.instances},
        **({"laws": laws} if laws else {}),
        "problems": sorted({repr(each.problem) for each in spec.instances}),
        "strategies": {name: repr(value) for name, value in spec.strategies},
        "stopping": {name: repr(value) for name, value in spec.stopping},
        "deltas": list(spec.deltas),
        "repetitions": spec.repetitions,
        "seed": spec.seed,
        "max_rounds": spec.max_rounds,
        "block": spec.block,
        **({} if spec.costs is None else {"costs": spec.costs}),
    }
