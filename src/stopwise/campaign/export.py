"""A campaign's record as a file that other software reads."""

from __future__ import annotations

import csv
import json
import os
import re
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from stopwise.campaign.events import Event
from stopwise.core import checks
from stopwise.core.errors import BadArgument, StopwiseError
from stopwise.core.optional import load

# what a spreadsheet takes for a formula, also after apostrophes, and numbers, which it does not
FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
NUMBER = re.compile(r"[+-]?[0-9]+([.][0-9]*)?([eE][+-]?[0-9]+)?")
COLUMNS = ("number", "kind", "token", "arm", "label", "value", "time", "late", "note", "actor")


def rows(record: Iterable[Event], labels: Sequence[str]) -> list[dict[str, Any]]:
    """One dict for each event, with the arm's label."""
    found = []
    for event in record:
        table = event.to_dict()
        table["label"] = None if event.arm is None else labels[event.arm]
        found.append({name: table[name] for name in COLUMNS})
    return found


def export(parts: Iterable[Iterable[Event]], labels: Sequence[str], given: Any) -> Path:
    """Write a record, part by part; the ending says how. The file is there once it is whole."""
    writers = {".csv": _write_csv, ".jsonl": _write_json_lines, ".parquet": _write_parquet}
    allowed = f"a file that ends with {', '.join(writers)}"
    path = checks.path("path", given, allowed)
    if path.suffix not in writers:
        raise BadArgument("path", str(path), allowed)
    tables = (rows(part, labels) for part in parts)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        writers[path.suffix](unfinished, tables)
        os.replace(unfinished, path)
    except OSError as error:
        raise StopwiseError(f"{path}: cannot be written ({error.strerror or error}).") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def _write_csv(path: Path, tables: Iterable[list[dict[str, Any]]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for table in tables:
            writer.writerows({name: _inert(cell) for name, cell in row.items()} for row in table)


def _inert(cell: Any) -> Any:
    """A text that a spreadsheet would run gets an apostrophe in front: it is shown, and not run."""
    if not isinstance(cell, str) or not FORMULA.match(cell) or NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"


def _write_json_lines(path: Path, tables: Iterable[list[dict[str, Any]]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        for table in tables:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in table)


def _write_parquet(path: Path, tables: Iterable[list[dict[str, Any]]]) -> None:
    arrow = load("pyarrow", "export")
    parquet = load("pyarrow.parquet", "export")
    types = {
        **{name: arrow.string() for name in ("kind", "token", "label", "note", "actor")},
        **{name: arrow.int64() for name in ("number", "arm")},
        **{name: arrow.float64() for name in ("value", "time")},
        "late": arrow.bool_(),
    }
    schema = arrow.schema([(name, types[name]) for name in COLUMNS])
    with parquet.ParquetWriter(path, schema) as writer:
        for table in tables:
            writer.write_table(arrow.Table.from_pylist(table, schema=schema))
