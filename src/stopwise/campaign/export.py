"""A campaign's record as a file that other software reads."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stopwise.campaign.events import Event
from stopwise.core.errors import BadArgument, StopwiseError
from stopwise.core.optional import load

# what a spreadsheet takes for a formula, also after apostrophes, and numbers, which it does not
FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
NUMBER = re.compile(r"[+-]?[0-9]+([.][0-9]*)?([eE][+-]?[0-9]+)?")
COLUMNS = ("number", "kind", "token", "arm", "label", "value", "time", "late", "note", "actor")


def rows(record: Sequence[Event], labels: Sequence[str]) -> list[dict[str, Any]]:
    """One dict for each event, with the arm's label."""
    found = []
    for event in record:
        table = event.to_dict()
        table["label"] = None if event.arm is None else labels[event.arm]
        found.append({name: table[name] for name in COLUMNS})
    return found


def export(record: Sequence[Event], labels: Sequence[str], path: Path) -> Path:
    """Write the record; the ending says how."""
    makers = {".csv": _csv, ".jsonl": _json_lines, ".parquet": _parquet}
    if path.suffix not in makers:
        raise BadArgument("path", str(path), f"a file that ends with {', '.join(makers)}")
    content = makers[path.suffix](rows(record, labels))
    try:
        path.write_bytes(content)
    except OSError as error:
        raise StopwiseError(f"{path}: cannot be written ({error.strerror or error}).") from error
    return path


def _csv(table: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _inert(cell) for name, cell in row.items()} for row in table)
    return text.getvalue().encode()


def _inert(cell: Any) -> Any:
    """A text that a spreadsheet would run gets an apostrophe in front: it is shown, and not run."""
    if not isinstance(cell, str) or not FORMULA.match(cell) or NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"


def _json_lines(table: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table).encode()


def _parquet(table: list[dict[str, Any]]) -> bytes:
    arrow = load("pyarrow", "export")
    parquet = load("pyarrow.parquet", "export")
    types = {
        **{name: arrow.string() for name in ("kind", "token", "label", "note", "actor")},
        **{name: arrow.int64() for name in ("number", "arm")},
        **{name: arrow.float64() for name in ("value", "time")},
        "late": arrow.bool_(),
    }
    schema = arrow.schema([(name, types[name]) for name in COLUMNS])
    content = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(table, schema=schema), content)
    return content.getvalue()
