"""The cells of a CSV or Parquet file: rows of texts (or of Parquet's own values), by columns' names."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

from stopwise.core.errors import BadArgument, StopwiseError
from stopwise.core.optional import load

BETWEEN = ",;\t|"  # what may stand between two cells
SHOWN = 60  # characters of a cell in a message
BATCH = 50_000  # rows of a Parquet file at a time


def cells(path: Path, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The cells of these columns, row by row; rows without any content are passed over."""
    readers = {".csv": _csv, ".parquet": _parquet}
    if path.suffix.lower() not in readers:
        raise BadArgument("file", str(path), f"a file that ends with {', '.join(readers)}")
    return readers[path.suffix.lower()](path, columns)


def shown(cell: Any) -> Any:
    """A cell as a message has it: not longer than a line."""
    text = cell if isinstance(cell, str) else repr(cell)
    return cell if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _csv(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            yield from _lines(path, file, columns)
    except UnicodeDecodeError as error:
        hint = "Save it as UTF-8: spreadsheets call that 'CSV UTF-8'."
        raise BadArgument("file", str(path), f"text in UTF-8 ({error.reason})", hint) from None
    except (OSError, csv.Error) as error:
        raise BadArgument("file", str(path), f"a CSV file that can be read ({error})") from None


def _lines(path: Path, file: TextIO, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
    header, between = _header(file, columns)
    places = _places(path, header, columns)
    chosen = itemgetter(*places) if len(places) > 1 else lambda row: (row[places[0]],)
    reader = csv.reader(file, delimiter=between, strict=True)  # a quote that never ends is an error
    _first(reader)
    for row in reader:
        if len(row) == len(header):
            if any(row):
                yield chosen(row)
        elif any(cell.strip() for cell in row):
            hint = "A decimal comma, or a comma in a text, needs quotes around its cell."
            given = shown(between.join(row))
            allowed = f"{len(header)} cells, as in the first line; here are {len(row)}"
            raise BadArgument(f"{path.name}, line {reader.line_num}", given, allowed, hint)


def _header(file: TextIO, columns: Sequence[str]) -> tuple[list[str], str]:
    """The columns' names, and what stands between two cells: where most of the columns are found."""
    headers = {}
    for between in BETWEEN:
        file.seek(0)
        headers[between] = [cell.strip() for cell in _first(csv.reader(file, delimiter=between))]
    file.seek(0)
    found = {between: len(set(columns) & set(names)) for between, names in headers.items()}
    best = max(BETWEEN, key=lambda each: (found[each], len(headers[each])))
    return headers[best], best


def _first(reader: Iterator[list[str]]) -> list[str]:
    """The first line that has something in it."""
    return next((row for row in reader if any(row)), [])


def _places(path: Path, header: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Where the columns are; each must be there once."""
    for name in columns:
        if header.count(name) != 1:
            listed = ", ".join(map(str, map(shown, header))) or "none"
            once = "" if name not in header else " Rename one of the columns of this name."
            hint = f"{path.name} has {listed}.{once}"
            raise BadArgument("column", name, "a column that the file has once", hint)
    return [header.index(name) for name in columns]


def _parquet(path: Path, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    parquet = load("pyarrow.parquet", "export")
    try:
        with parquet.ParquetFile(path) as file:
            _places(path, list(file.schema_arrow.names), columns)
            for batch in file.iter_batches(BATCH, columns=list(dict.fromkeys(columns))):
                yield from zip(*(batch.column(name).to_pylist() for name in columns), strict=True)
    except (OSError, ValueError) as error:  # pyarrow's own are ValueErrors
        if isinstance(error, StopwiseError):
            raise
        raise BadArgument("file", str(path), f"a Parquet file that can be read ({error})") from None
