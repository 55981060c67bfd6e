"""Samples that nobody asked for: one, many at once, or a file of them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np

from stopwise.campaign.changes import changes
from stopwise.campaign.errors import Conflict, NotPossible
from stopwise.campaign.events import Receipt
from stopwise.campaign.imports.known import Recognition, sources
from stopwise.campaign.imports.order import arranged
from stopwise.campaign.imports.result import Import
from stopwise.campaign.imports.rows import (
    Columns,
    Progress,
    check_columns,
    check_options,
    file_cells,
    read_rows,
)
from stopwise.campaign.lifecycle import Lifecycle
from stopwise.campaign.names import is_token, note_text, token_text
from stopwise.campaign.samples import Sample, arm_place, sample_value
from stopwise.campaign.spec import AnySession
from stopwise.campaign.storage.transaction import Transaction
from stopwise.campaign.work import other_value, pairs_of
from stopwise.core import checks
from stopwise.core.arrays import Ints
from stopwise.core.errors import BadArgument

TOGETHER = 10_000  # rows of an import that are written at once; more than from where compiling pays


def _silent(_: str, __: int) -> None:
    """Progress that nobody sees."""


class Recording(Lifecycle):
    """The part of a campaign for samples that were taken without an ask."""

    def record(self, arm: int | str, value: float, token: str | None = None) -> Receipt:
        """A sample that nobody asked for. With a ``token`` of yours it can be told again safely.

        Its turn comes after all that was asked before.
        """
        used = secrets.token_hex(16) if token is None else token
        (found,) = self.record_all([(arm, value, used)])
        return found

    def record_all(self, records: Sequence[tuple[int | str, float, str]]) -> list[Receipt]:
        """Arms, samples and tokens, in order, with one commit: all of them, or none.

        Were one left out because of its value, the others would not be a sample of their arm.
        """
        self._refuse_if_paired()
        given = pairs_of("records", records, ("arm", "value", "token"))
        with self._replica.change() as (transaction, session):
            self._expire_if_strict(transaction, session)
            transaction.read_about([token for *_, token in given if is_token(token)])
            new: dict[str, Sample] = {}
            for place, (arm, value, token) in enumerate(given):
                try:
                    self._check(transaction, new, arm, value, token)
                except (BadArgument, Conflict) as error:
                    raise _placed(error, place, len(given)) from None
            self._take(transaction, session, "recorded", list(new.values()))
            return [
                self._receipt(transaction, "recorded", token, float(value))
                for _, value, token in given
            ]

    def _check(
        self,
        transaction: Transaction,
        new: dict[str, Sample],
        arm: int | str,
        value: float,
        token: str,
    ) -> None:
        """Refuse a record; else add it to those that are ``new``, if it is."""
        place, sample = arm_place(self.labels, arm), sample_value(self.spec.design.family, value)
        past, _ = transaction.about(token_text(token))
        if "asked" in past:
            raise Conflict(f"token {token!r} belongs to an ask: use tell.")
        if "recorded" not in past:
            number = transaction.last + 1 + len(new)
            there = new.setdefault(token, Sample(token, place, sample, False, number))
            if (there.arm, there.value) != (place, sample):
                raise Conflict(f"token {token!r}: given twice, for different samples.")
        elif past["recorded"].arm != place:
            raise Conflict(
                f"token {token!r}: recorded for arm {past['recorded'].arm}, given {place}."
            )
        elif past["recorded"].value != sample:
            raise other_value(past["recorded"], sample)

    def _refuse_if_paired(self) -> None:
        if self.spec.pairs is not None:
            raise NotPossible(
                f"campaign {self.name!r} is paired: a result belongs to an item and is told by the "
                "ticket of its ask. Results that are there already: stopwise.evals.best_of reads them."
            )

    # ------------------------------------------------------------------------------------- files

    def import_results(
        self,
        path: str | PathLike[str],
        arm: str = "arm",
        value: str = "value",
        source: str | None = None,
        *,
        id: str | None = None,  # noqa: A002
        time: str | None = None,
        in_order: bool = False,
        new: bool = False,
        progress: Progress = _silent,
    ) -> Import:
        """Results of the past from a .csv or .parquet file: all of its rows, or none.

        ``arm``, ``value``, ``id`` and ``time`` name columns. Rows count in the order of ``time``;
        without it they are shuffled, unless ``in_order`` says that the file has them in the order in
        which they were taken. A result that is on record is not counted again: it is known by its
        ``id``, or because the file is an earlier one, perhaps grown. ``new`` says that none of the rows
        was imported from another file; ``source`` is a name for the file in place of its own.
        """
        columns, file = Columns(arm, value, id, time), checks.path("path", path)
        check_columns(columns)
        table, name = file_cells(file, columns), file.name if source is None else source
        return self.import_table(name, table, columns, in_order, new, progress)

    def import_table(
        self,
        source: str,
        table: Iterable[Sequence[Any]],
        columns: Columns,
        in_order: bool = False,
        new: bool = False,
        progress: Progress = _silent,
        actor: str | None = None,
    ) -> Import:
        """The same from rows of cells: arm, value, and identity and time if there are such columns."""
        self._refuse_if_paired()
        note_text("source", source)
        checks.truth("new", new)
        checks.function("progress", progress, "a function of a word and a number")
        check_options(columns.time, in_order)
        family = self.spec.design.family
        rows = read_rows(source, table, columns, self.labels, family, progress)
        with self._replica.change() as (transaction, session):
            self._expire_if_strict(transaction, session)
            found = Recognition(rows, sources(transaction.samples()), source, new)
            places = np.flatnonzero(~found.known)
            order, kind, seed = arranged(rows.only(places), in_order)
            counted, size = found.counted, int(places.size)
            if size:
                self._refuse_if_useless(transaction, session, size)
                note = {"file": source, "rows": len(rows), "new": size, "order": kind, "seed": seed}
                self._add(transaction, "imported", json.dumps(note), actor)
            for first in range(0, size, TOGETHER):
                part = places[order[first : first + TOGETHER]]
                counted += self._record_rows(transaction, session, found, part)
                progress("recorded", min(first + TOGETHER, size))
            decision = self._replica.decision
            return Import(len(rows), size, len(rows) - size, counted, kind, seed, decision)

    def _refuse_if_useless(self, transaction: Transaction, session: AnySession, count: int) -> None:
        """New rows would not count, or would wait in too large a number for samples in flight."""
        self._refuse_if_decided()
        now = changes(transaction.changes)
        if now.closed:
            self._refuse_if_not_running(now)
        if len(session.queue):
            self._refuse_if_crowded(session, count)

    def _record_rows(
        self, transaction: Transaction, session: AnySession, found: Recognition, places: Ints
    ) -> int:
        """Rows that are new, in this order; how many count."""
        first = transaction.last + 1
        tokens = found.tokens(places, first)
        arms, values = found.rows.arms[places].tolist(), found.rows.values[places].tolist()
        each = zip(tokens, arms, values, strict=True)
        new = [Sample(*row, False, first + place) for place, row in enumerate(each)]
        transaction.expect_new(tokens)
        counted = self._take(transaction, session, "recorded", new)
        transaction.flush()
        return counted


def _placed(error: BadArgument | Conflict, place: int, size: int) -> BadArgument | Conflict:
    """The same refusal, with which of several records it is about."""
    if size == 1:
        return error
    nothing = f"None of the {size:,} records was taken."
    if isinstance(error, BadArgument):
        hint = f"{error.hint} {nothing}".strip()
        return BadArgument(f"records[{place}]: {error.name}", error.given, error.allowed, hint)
    return Conflict(f"records[{place}]: {error} {nothing}")
