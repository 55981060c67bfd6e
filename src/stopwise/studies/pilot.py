"""Pilot data from a file: a column for each arm, its label in the first line."""

from __future__ import annotations

import csv
import math
from os import PathLike
from pathlib import Path

from stopwise.core.errors import BadArgument

BETWEEN = ",;\t"  # what may stand between two cells
FORM = "a first line with the arms' labels, then a number for each arm in every line"


def read_pilot(path: str | PathLike[str]) -> dict[str, list[float]]:
    """The values of each column; columns may end early, but have no gaps."""
    lines = _lines(Path(path))
    labels = _labels(str(path), lines[0])
    found: dict[str, list[float]] = {label: [] for label in labels}
    ended: dict[str, int] = {}  # the row of a column's first empty cell
    for row, cells in enumerate(lines[1:], start=2):
        if len(cells) > len(labels) and any(cells[len(labels) :]):
            allowed = f"at most {len(labels)} cells, as many as there are labels"
            raise BadArgument(f"{path}, row {row}", ",".join(cells), allowed)
        for label, cell in zip(labels, cells + [""] * len(labels), strict=False):
            if cell == "":
                ended.setdefault(label, row)
            elif label in ended:
                raise _gap(f"{path}, row {ended[label]}, column {label!r}")
            else:
                found[label].append(_number(f"{path}, row {row}, column {label!r}", cell))
    for label, values in found.items():
        if len(values) < 2:
            allowed = "at least two: one value says nothing about the spread"
            raise BadArgument(f"{path}, column {label!r}", f"{len(values)} values", allowed)
    return found


def _lines(path: Path) -> list[list[str]]:
    """The cells of every line that is not empty; gaps at the end of a line are cells."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadArgument("pilot", str(path), f"a file that exists, with {FORM}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadArgument("pilot", str(path), f"a text file that can be read ({error})") from None
    first = text.partition("\n")[0]
    between = max(BETWEEN, key=first.count)
    reader = csv.reader(text.splitlines(), delimiter=between, strict=True)
    try:
        rows = [[cell.strip() for cell in row] for row in reader]
    except csv.Error as error:  # such as a quote that never ends
        raise BadArgument("pilot", str(path), f"a CSV file that can be read ({error})") from None
    while rows and not any(rows[-1]):
        rows.pop()
    if len(rows) < 2:
        raise BadArgument("pilot", str(path), f"a file that is not empty: {FORM}")
    return rows


def _labels(path: str, cells: list[str]) -> list[str]:
    if len(cells) < 2:
        hint = "Between two cells stands a comma, a semicolon or a tab."
        raise BadArgument(f"{path}, row 1", cells, "two columns at least, one for each arm", hint)
    if all(map(_is_number, cells)):
        raise BadArgument(f"{path}, row 1", cells, FORM)
    for place, label in enumerate(cells):
        if label == "" or label in cells[:place]:
            raise BadArgument(
                f"{path}, row 1, column {place + 1}", label, "labels that differ and are not empty"
            )
    return cells


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell)) and "_" not in cell  # Python's 1_0 is ten
    except ValueError:
        return False


def _number(where: str, cell: str) -> float:
    if not _is_number(cell):
        raise BadArgument(where, cell, "a finite number, with a decimal point, such as 0.95")
    return float(cell)


def _gap(where: str) -> BadArgument:
    return BadArgument(
        where,
        "",
        "a number in every cell up to a column's last one",
        "A gap is not left out in silence: why a value is missing may depend on it.",
    )
