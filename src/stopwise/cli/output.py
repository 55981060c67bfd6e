"""What commands print: a text, a table, or JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from stopwise.core.waiting import PATIENCE

if TYPE_CHECKING:
    from stopwise.campaign.campaign import Campaign
    from stopwise.campaign.events import Decision, Receipt


def say(text: str, table: dict[str, Any], as_json: bool) -> None:
    """Print one of the two."""
    from stopwise.core.tables import plain

    typer.echo(json.dumps(plain(table), indent=2, ensure_ascii=False) if as_json else text)


def say_receipt(campaign: Campaign, receipt: Receipt, as_json: bool) -> None:
    """A value that is on record, and the decision if it brought one."""
    label = campaign.labels[receipt.arm]
    lines = [f"event {receipt.number}: {label} {receipt.value:.12g}"]
    if receipt.late:
        why = (
            "the campaign was decided"
            if receipt.decided
            else "its lease, or the campaign, was over"
        )
        lines[0] += f" (late: {why} before, it does not count)"
    if receipt.waiting:
        lines[0] += " (it waits for samples that were asked before it)"
    if receipt.decided and campaign.decision is not None:
        lines.append(decided(campaign.decision))
    say("\n".join(lines), {**receipt._asdict(), "label": label}, as_json)


def decided(decision: Decision) -> str:
    """The decision in one line."""
    return (
        f"decided: {decision.text} (evidence {decision.evidence:.3f}, "
        f"threshold {decision.threshold:.3f}, {decision.samples:,} samples)"
    )


def event_cells(campaign: Campaign, row: dict[str, Any]) -> list[str]:
    """The cells of an event's line."""
    from datetime import UTC, datetime

    from stopwise.campaign.names import visible

    kind = row["kind"] + (" (late)" if row["late"] else "")
    time = datetime.fromtimestamp(row["time"], UTC).isoformat(sep=" ", timespec="milliseconds")
    label = "-" if row["label"] is None else row["label"]
    value = "-" if row["value"] is None else f"{row['value']:.12g}"
    note = row["note"] or "-"
    if row["kind"] == "decided" and campaign.decision is not None:
        note = campaign.decision.text
    return [str(row["number"]), kind, time, label, value, row["token"], visible(note)]


def warn(text: str) -> None:
    """A line on standard error."""
    typer.echo(f"stopwise: {text}", err=True)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Words to the left, numbers to the right; long words are folded."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for place, name in enumerate(header):
        words = any(not cell[:1].isdigit() for cell in (row[place] for row in rows))
        shown.add_column(
            name, overflow="fold", no_wrap=not words, justify="left" if words else "right"
        )
    for row in rows:
        shown.add_row(*row)
    Console(highlight=False).print(shown)


class Progress:
    """A line on standard error that says how far something is, from its first second on."""

    def __init__(self) -> None:
        self._begun = self._said = time.monotonic()
        self._on_screen = sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __call__(self, what: str, rows: int) -> None:
        """So many rows so far."""
        now = time.monotonic()
        if now - self._said < (0.2 if self._on_screen else 2.0) or now - self._begun < PATIENCE:
            return
        self._said, text = now, f"stopwise: {what} {rows:,} rows"
        if self._on_screen:
            sys.stderr.write(f"\r{text:<60}")
            sys.stderr.flush()
        else:
            typer.echo(text, err=True)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._on_screen and self._said > self._begun:
            sys.stderr.write("\r" + " " * 60 + "\r")
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            warn("interrupted: nothing was imported.")
