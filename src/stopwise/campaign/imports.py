"""Results of the past, from a file with an arm and a value in each row."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from stopwise.campaign.events import Decision, Receipt
from stopwise.core.errors import BadArgument, StopwiseError
from stopwise.core.optional import load

TOGETHER = 1000  # rows of one commit
Row = tuple[str | int, float, str]  # arm, value, token
WORDS = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}


@dataclass(frozen=True)
class Import:
    """What came of a file: its rows, how many matter, and the decision that they lead to."""

    rows: int
    counted: int  # up to the decision, or all
    decision: Decision | None

    def __repr__(self) -> str:
        if self.decision is None:
            return f"{self.rows:,} rows, no decision yet"
        return (
            f"{self.rows:,} rows; decided after {self.counted:,} of them: {self.decision.text} "
            f"(evidence {self.decision.evidence:.3f}, threshold {self.decision.threshold:.3f})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        found = asdict(self)
        found["decision"] = None if self.decision is None else self.decision._asdict()
        return found


def rows(path: Path, arm: str, value: str, source: str | None, labels: Sequence[str]) -> list[Row]:
    """A file's rows in order; each has a token of its own, so that it is counted once."""
    readers = {".csv": _csv, ".parquet": _parquet}
    if path.suffix not in readers:
        raise BadArgument("file", str(path), f"a file that ends with {', '.join(readers)}")
    short = hashlib.sha256((path.name if source is None else source).encode()).hexdigest()[:16]
    return [
        (_arm(cell, labels), _number(number, sample), f"import {short} row {number}")
        for number, (cell, sample) in enumerate(readers[path.suffix](path, arm, value), 1)
    ]


def send(
    found: Sequence[Row], record: Callable[[Sequence[Row]], list[Receipt | StopwiseError]]
) -> int:
    """Record all rows, many with one commit; how many matter. The first refusal ends it."""
    left, counted, number = iter(found), 0, 0
    while part := list(islice(left, TOGETHER)):
        for receipt in record(part):
            number += 1
            if isinstance(receipt, StopwiseError):
                raise StopwiseError(f"row {number}: {receipt}") from receipt
            counted += not receipt.late
    return counted


def _csv(path: Path, arm: str, value: str) -> Iterator[tuple[Any, Any]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, delimiter=_between(file))
            _check_columns(path, arm, value, list(reader.fieldnames or []))
            for row in reader:
                yield row[arm], row[value]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadArgument("file", str(path), f"a CSV file that can be read ({error})") from None


def _between(file: TextIO) -> str:
    """What stands between the cells of the first line: a comma, a semicolon or a tab."""
    first = file.readline()
    file.seek(0)
    return max(",;\t", key=first.count)


def _parquet(path: Path, arm: str, value: str) -> Iterator[tuple[Any, Any]]:
    parquet = load("pyarrow.parquet", "export")
    try:
        _check_columns(path, arm, value, list(parquet.read_schema(path).names))
        table = parquet.read_table(path, columns=[arm, value])
    except (OSError, ValueError) as error:  # pyarrow's own are ValueErrors
        if isinstance(error, StopwiseError):
            raise
        raise BadArgument("file", str(path), f"a Parquet file that can be read ({error})") from None
    yield from zip(table[arm].to_pylist(), table[value].to_pylist(), strict=True)


def _check_columns(path: Path, arm: str, value: str, there: list[str]) -> None:
    for name in (arm, value):
        if name not in there:
            hint = f"{path.name} has {', '.join(there) or 'none'}."
            raise BadArgument("column", name, "a column of the file", hint)


def _arm(cell: Any, labels: Sequence[str]) -> str | int:
    """A label, or else an arm's number."""
    text = str(cell)
    return int(text) if text not in labels and text.isdecimal() else text


def _number(row: int, cell: Any) -> float:
    try:
        known = WORDS.get(str(cell).strip().lower())
        return float(cell) if known is None else known
    except (TypeError, ValueError):
        allowed = f"a number, or one of {', '.join(WORDS)}"
        raise BadArgument(f"row {row}", cell, allowed) from None
