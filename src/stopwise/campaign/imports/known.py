"""Which rows of a file are on record already, by what they say and not by the file's name.

A value says little by itself: 0 and 1 repeat all the time. Rows are recognised as those of an earlier
import if all of that import is in the file, row by row: the same export, or the same grown by more
rows. What else looks alike is not guessed: the import is refused, with what to say to make it clear.
"""

from __future__ import annotations

import hashlib
import math
import re
from array import array
from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from stopwise.campaign.imports.rows import ID, NOTHING, Rows
from stopwise.core.arrays import Floats, Ints
from stopwise.core.errors import BadArgument

ENOUGH = 20.0  # bits: by accident rows agree so well once in a million times
SUSPICIOUS = 10.0  # bits: at this point a person is asked
TOLD = ""  # the source of samples that were told or recorded one by one
PREFIX, BY_ID = "import", "import id"  # how tokens begin
# of a row, with the number of its event between; without that number by 0.3.0
TOKEN = re.compile(
    r"import (id \d{10} (?P<id>[0-9a-f]{32})|(?P<key>[0-9a-f]{16})( \d{10})? row (?P<row>\d{1,12}))"
)
ASK = (
    "Are they the same results? Then import them by a column that identifies each result (--id "
    "COLUMN). Are all of them new? Then say so (--new)."
)


def source_key(source: str) -> str:
    """How tokens have the name of a source: as in 0.3.0."""
    return hashlib.sha256(source.encode()).hexdigest()[:16]


class Samples(NamedTuple):
    """Samples of a source in the order of its file: their places there from 0 on, and what they say."""

    places: Ints
    arms: Ints
    values: Floats
    late: Any


class Source:
    """Samples on record that came together."""

    def __init__(self) -> None:
        self._rows, self._arms, self._late = array("q"), array("q"), array("b")
        self._values, self.ids = array("d"), bytearray()

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, row: int, arm: int, value: float, late: bool) -> None:
        """One sample more; its row in the file, from 1 on."""
        self._rows.append(row)
        self._arms.append(arm)
        self._values.append(value)
        self._late.append(late)

    @cached_property
    def samples(self) -> Samples:
        """All of them; nothing is added any more."""
        rows = np.array(self._rows, dtype=np.int64)
        order = np.argsort(rows, kind="stable")
        arms, values = np.array(self._arms, dtype=np.int64), np.array(self._values, dtype=float)
        late = np.array(self._late, dtype=bool)
        return Samples(rows[order] - 1, arms[order], values[order], late[order])


def sources(record: Iterable[tuple[str, int, float, bool]]) -> dict[str, Source]:
    """The samples of a record (token, arm, value, late) by their sources."""
    found: dict[str, Source] = {TOLD: Source()}
    for number, (token, arm, value, late) in enumerate(record, 1):
        key, row = TOLD, number
        if token.startswith(PREFIX) and (parts := TOKEN.fullmatch(token)):
            if parts["id"]:
                key = BY_ID
                found.setdefault(key, Source()).ids += bytes.fromhex(parts["id"])
            else:
                key, row = parts["key"], int(parts["row"])
        found.setdefault(key, Source()).add(row, arm, value, late)
    return {key: source for key, source in found.items() if len(source)}


class Recognition:
    """Finds which rows of a file are known. ``new``: the user says that no other source has them."""

    def __init__(self, rows: Rows, there: dict[str, Source], source: str, new: bool) -> None:
        self.rows, self._there, self._source, self._new = rows, there, source, new
        self.known = np.zeros(len(rows), dtype=bool)
        self.counted = 0  # of the known rows, how many are not late
        self._key = source_key(source)
        if rows.ids is not None:
            self._by_id(rows.ids)
        elif BY_ID in there and not new:
            raise self._ask("earlier imports of this campaign were by a column of identities")
        self._by_rows()
        if not new:
            self._refuse_overlap()

    def tokens(self, places: Ints, number: int) -> list[str]:
        """Of new rows that are the events from this number on, by their identity or row.

        Rows that follow each other have tokens that do: they share the pages of an index.
        """
        if self.rows.ids is not None:
            hashes = self.rows.ids[places].tobytes().hex(" ", ID.itemsize).split(" ")
            return [f"{BY_ID} {number + i:010} {each}" for i, each in enumerate(hashes)]
        start = f"{PREFIX} {self._key}"
        return [
            f"{start} {number + i:010} row {each + 1}" for i, each in enumerate(places.tolist())
        ]

    def _by_id(self, ids: Any) -> None:
        """The same identity is the same result: counted once, and it must say the same."""
        rows, old = self.rows, self._there.get(BY_ID, Source())
        size = old.samples.arms.size
        every = np.concatenate([np.frombuffer(bytes(old.ids), ID), ids])
        _, earliest, groups = np.unique(every, return_index=True, return_inverse=True)
        first = earliest[groups][size:]  # where each row's identity occurs first
        arms = np.concatenate([old.samples.arms, rows.arms])[first]
        values = np.concatenate([old.samples.values, rows.values])[first]
        wrong = (arms != rows.arms) | (values != rows.values)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise BadArgument(
                f"{self._source}, row {row + 1}",
                f"arm {rows.arms[row]}, value {float(rows.values[row])!r}",
                f"what the same id says elsewhere, arm {arms[row]}, value {float(values[row])!r}",
                f"Samples are not corrected. {NOTHING}",
            )
        self.known = first != size + np.arange(len(rows))
        self.counted += int((~old.samples.late[first[first < size]]).sum())

    def _by_rows(self) -> None:
        """All of an earlier import, row by row: of the same source, or by what it says."""
        candidates = [self._key] if self._key in self._there else []
        if not self._new:
            candidates += [key for key in self._there if key not in (TOLD, BY_ID, self._key)]
        best, agreed = None, 0
        for key in candidates:
            found = self._agrees(key)
            if key == self._key and not found and self.rows.ids is None:
                raise BadArgument(
                    "file",
                    self._source,
                    f"rows that begin as when {self._source!r} was imported before",
                    "Samples are not corrected. Is it another file? Then give it a name of its own "
                    f"(--source NAME). {NOTHING}",
                )
            if found > agreed:
                best, agreed = key, found
        if best is None:
            return
        old = self._there[best].samples
        here = old.places < len(self.rows)
        within = old.places[here]
        bits = information(self.rows.arms, self.rows.values)[within].sum()
        if best != self._key and bits < ENOUGH:
            raise self._ask(
                f"{within.size:,} of its rows are, one by one, those of an earlier import"
            )
        self._key = best
        self.counted += int((~old.late[here] & ~self.known[within]).sum())
        self.known[within] = True

    def _agrees(self, key: str) -> int:
        """How many rows of a source the file has, in their places; 0 if one of them differs."""
        rows, old = self.rows, self._there[key].samples
        here = old.places < len(rows)
        within = old.places[here]
        same = (rows.arms[within] == old.arms[here]) & (rows.values[within] == old.values[here])
        return int(within.size) if same.all() else 0

    def _refuse_overlap(self) -> None:
        """Rows that are not known by now must not look like others that are on record."""
        rest = self.rows.only(~self.known)
        others = [key for key in self._there if key != BY_ID]
        if not len(rest) or not others:
            return
        every: list[tuple[Ints, Floats]] = []
        for key in others:
            _, arms, values, _ = self._there[key].samples
            every.append((arms, values))
            name = "samples on record" if key == TOLD else "an earlier import"
            if _same_content(rest, arms, values):
                raise self._ask(f"its rows are those of {name}, in another order")
            run = common_run(rest, arms, values)
            if run:
                raise self._ask(f"{run:,} rows in a row are also rows of {name}")
        arms, values = (np.concatenate(parts) for parts in zip(*every, strict=True))
        shared = shared_rarely(rest, arms, values)
        if shared:
            raise self._ask(f"{shared:,} of its values, otherwise rare, are on record already")

    def _ask(self, why: str) -> BadArgument:
        allowed = "a file whose rows are certainly known or certainly new"
        return BadArgument("file", self._source, allowed, f"{_upper(why)}. {ASK} {NOTHING}")


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def contents(arms: Ints, values: Floats) -> tuple[Any, Any, Ints]:
    """Rows that say the same: as sorted distinct rows, which of them each row is, and how often."""
    table = np.empty(arms.size, dtype=[("arm", "i8"), ("value", "f8")])
    table["arm"], table["value"] = arms, values
    found: tuple[Any, Any, Ints] = np.unique(table, return_inverse=True, return_counts=True)
    return found


def information(arms: Ints, values: Floats) -> Floats:
    """Bits that each value says, given its arm: -log2 of its share among the arm's values.

    The arms' order says nothing: it may follow a plan, such as one after the other.
    """
    _, codes, counts = contents(arms, values)
    return -np.log2(counts[codes] / np.bincount(arms)[arms])


def _same_content(rows: Rows, arms: Ints, values: Floats) -> bool:
    if len(rows) != arms.size:
        return False
    one, two = np.lexsort((rows.values, rows.arms)), np.lexsort((values, arms))
    same = (rows.arms[one] == arms[two]) & (rows.values[one] == values[two])
    return bool(same.all())


def common_run(rows: Rows, arms: Ints, values: Floats) -> int:
    """The length of a run that both have, if it is too long for an accident; else 0.

    There are n N pairs of places at which one may begin, and each agrees by accident with
    probability 2^-bits: so log2(n N) bits more are asked for.
    """
    bits = information(rows.arms, rows.values)
    needed = SUSPICIOUS + math.log2(len(rows) * arms.size)
    if bits.mean() <= 0.0:
        return 0
    width = math.ceil(1.2 * needed / float(bits.mean()))  # of typical rows a little more
    size = min(len(rows), arms.size, width)
    _, codes, _ = contents(np.concatenate([rows.arms, arms]), np.concatenate([rows.values, values]))
    hashes, known = _windows(codes[: len(rows)], size), _windows(codes[len(rows) :], size)
    sums = np.concatenate([[0.0], np.cumsum(bits)])
    telling = sums[size:] - sums[:-size] >= needed
    return size if np.isin(hashes[telling], known).any() else 0


def _windows(codes: Ints, size: int) -> Any:
    """A hash of each window of so many codes, by doubling: of 1, 2, 4 ... of them."""
    with np.errstate(over="ignore"):
        power, hashes = codes.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15), None
        left, length, offset = size, 1, 0
        while left:
            if left & 1:
                part = power[offset : offset + codes.size - size + 1]
                hashes = part if hashes is None else _mixed(hashes, part)
                offset += length
            left >>= 1
            if left:
                power, length = _mixed(power[:-length], power[length:]), 2 * length
    return hashes


def _mixed(one: Any, two: Any) -> Any:
    mixed = (one ^ (one >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + two
    return mixed ^ (mixed >> np.uint64(32))


def shared_rarely(rows: Rows, arms: Ints, values: Floats) -> int:
    """How many contents occur twice, once here and once there, if these are too many; else 0.

    Were all rows new, which n of the n + N rows are the file's would have nothing to do with what they
    say. If each were the file's by itself with probability f = n/(n + N), a content that occurs twice
    would be split with p = 2 f (1 - f), and S of T with a chance of at most exp(-T d(S/T, p))
    (Chernoff); that there are just n costs at most the factor sqrt(8 n N/(n + N)).
    """
    n, size = len(rows), len(rows) + arms.size
    both = np.concatenate([rows.arms, arms]), np.concatenate([rows.values, values])
    _, codes, counts = contents(*both)
    mine = np.bincount(codes[:n], minlength=counts.size)
    twice = counts == 2
    pairs, split = int(twice.sum()), int((mine[twice] == 1).sum())
    p, needed = (
        2.0 * n * arms.size / size**2,
        SUSPICIOUS + 0.5 * math.log2(8 * n * arms.size / size),
    )
    if pairs == 0 or split <= pairs * p:
        return 0
    share = split / pairs
    rest = 0.0 if split == pairs else (1.0 - share) * math.log2((1.0 - share) / (1.0 - p))
    return split if pairs * (share * math.log2(share / p) + rest) >= needed else 0
