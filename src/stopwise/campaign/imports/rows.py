"""A file's rows as numbers, all of them checked before anything is done with the first."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stopwise.campaign.imports.cells import cells, shown
from stopwise.campaign.samples import arm_place, sample_value
from stopwise.core import checks
from stopwise.core.arrays import Floats, Ints
from stopwise.core.errors import BadArgument
from stopwise.families.family import Family

WORDS = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
REMEMBERED = 4096  # cells that are known already, such as 0 and 1: checked once
EVERY = 10_000  # rows between two reports of progress
ID = np.dtype("V16")
EPOCH, NAIVE_EPOCH = datetime(1970, 1, 1, tzinfo=UTC), datetime(1970, 1, 1)
NOTHING = "Nothing was imported."
Progress = Callable[[str, int], None]  # what is being done, and with how many rows so far


LONGEST_COLUMN = 1000


class Columns(NamedTuple):
    """The names of a file's columns."""

    arm: str
    value: str
    id: str | None = None
    time: str | None = None


@dataclass(frozen=True)
class Rows:
    """One entry a row, in the order of the file."""

    arms: Ints
    values: Floats
    ids: np.ndarray[Any, np.dtype[Any]] | None = None  # what --id has, as hashes
    times: Floats | None = None

    def __len__(self) -> int:
        return int(self.arms.size)

    def only(self, chosen: Any) -> Rows:
        """Some of the rows, by their places or by a mask."""
        return replace(
            self,
            arms=self.arms[chosen],
            values=self.values[chosen],
            ids=None if self.ids is None else self.ids[chosen],
            times=None if self.times is None else self.times[chosen],
        )


def check_columns(columns: Columns) -> None:
    """Refuse what cannot be the name of a column."""
    for name, given in columns._asdict().items():
        if given is not None or name in ("arm", "value"):
            checks.text(name, given, LONGEST_COLUMN, "the name of a column")


def check_options(time: str | None, in_order: bool) -> None:
    """Refuse two orders at once."""
    checks.truth("in_order", in_order)
    if time is not None and in_order:
        raise BadArgument("in_order", True, "False where rows are ordered by a column of times")


def file_cells(path: Path, columns: Columns) -> Iterator[Sequence[Any]]:
    """A file's cells, in the order of the columns."""
    return cells(path, [name for name in columns if name is not None])


def read_rows(
    name: str,
    table: Iterable[Sequence[Any]],
    columns: Columns,
    labels: Sequence[str],
    family: Family,
    progress: Progress,
) -> Rows:
    """All rows of a table; if any of them is refused, all are. ``name`` is for messages."""
    arms, values, ids, times = array("q"), array("d"), bytearray(), array("d")
    arm_of, value_of, time_of = _arms(labels), _values(family), _Times()
    first: BadArgument | None = None
    width = sum(each is not None for each in columns)
    number = refused = 0
    for number, row in enumerate(table, 1):
        try:
            if len(row) != width:
                raise BadArgument("cells", len(row), f"{width} cells")
            rest = iter(row[2:])
            arms.append(arm_of(row[0]))
            values.append(value_of(row[1]))
            if columns.id is not None:
                ids += _id(next(rest))
            if columns.time is not None:
                times.append(time_of(next(rest)))
        except BadArgument as error:
            first = first or error.renamed(f"{name}, row {number}: {error.name}")
            refused += 1
        if number % EVERY == 0:
            progress("read", number)
    if first is not None:
        hint = f"{first.hint} {refused:,} of {number:,} rows are refused. {NOTHING}".strip()
        raise BadArgument(first.name, first.given, first.allowed, hint)
    if not arms:
        raise BadArgument("file", name, "a file with at least one row below the first line")
    return Rows(
        np.frombuffer(arms, dtype=np.int64),
        np.frombuffer(values, dtype=float) + 0.0,  # no -0.0
        None if columns.id is None else np.frombuffer(ids, ID),
        None if columns.time is None else np.frombuffer(times, dtype=float),
    )


def _arms(labels: Sequence[str]) -> Callable[[Any], int]:
    """From a cell to the arm: by its label, or else by its number."""
    known = {label: place for place, label in enumerate(labels)}

    def found(cell: Any) -> int:
        text = str(cell)
        if text in known:
            return known[text]
        bare = text.strip()
        if bare in known:
            return known[bare]
        number = bare.isascii() and bare.isdecimal()
        return arm_place(labels, int(bare) if number else shown(text))

    return found


def _values(family: Family) -> Callable[[Any], float]:
    """From a cell to a sample of the family."""
    known: dict[Any, float] = {}

    def found(cell: Any) -> float:
        if type(cell) is str and cell in known:
            return known[cell]
        sample = sample_value(family, _number(cell))
        if type(cell) is str and len(known) < REMEMBERED:
            known[cell] = sample
        return sample

    return found


def _number(cell: Any) -> float:
    """A number as programs write it; a gap, nan, 1_000 and 1,5 are none."""
    text = str(cell).strip()
    try:
        if not text or cell is None or "_" in text or not text.isascii():
            raise ValueError
        found = WORDS.get(text.lower())
        found = float(cell) if found is None else found
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found):
        allowed = f"a finite number with a decimal point, or one of {', '.join(WORDS)}"
        gap = (
            ""
            if text and cell is not None
            else (
                "A missing result is not left out in silence: why it is missing may depend on it."
            )
        )
        raise BadArgument("value", shown(cell), allowed, gap)
    return found


def _id(cell: Any) -> bytes:
    text = "" if cell is None else str(cell).strip()
    if not text:
        raise BadArgument("id", cell, "a text or number in every row, for each result its own")
    return hashlib.sha256(text.encode()).digest()[: ID.itemsize]


class _Times:
    """From a cell to seconds: a number, or a date and time in the order of ISO 8601, all alike."""

    def __init__(self) -> None:
        self._kind: str | None = None

    def __call__(self, cell: Any) -> float:
        kind, found = self._read(cell)
        if self._kind is None:
            self._kind = kind
        if not math.isfinite(found) or kind != self._kind:
            allowed = f"{self._kind}, as in the rows before"
            raise BadArgument("time", shown(cell), allowed)
        return found

    def _read(self, cell: Any) -> tuple[str, float]:
        if isinstance(cell, int | float) and not isinstance(cell, bool):
            return "a number", float(cell)
        try:
            if isinstance(cell, str):
                text = cell.strip()
                if _is_number(text):
                    return "a number", float(text)
                cell = datetime.fromisoformat(text)
            elif isinstance(cell, date) and not isinstance(cell, datetime):
                cell = datetime(cell.year, cell.month, cell.day)
            if cell.tzinfo is None:
                return "a time without a time zone", (cell - NAIVE_EPOCH) / timedelta(seconds=1)
            return "a time with a time zone", (cell - EPOCH) / timedelta(seconds=1)
        except (TypeError, ValueError, AttributeError):
            allowed = "a number, or a time such as 2026-01-31 or 2026-01-31T12:30:00"
            raise BadArgument("time", shown(cell), allowed) from None


def _is_number(text: str) -> bool:
    """Whether it is a number such as seconds since 1970; 20260131 is a date, but sorts like one."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
