"""``stopwise status --watch``: evidence against threshold, redrawn in the terminal."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import typer

from stopwise.core.tables import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stopwise.campaign.campaign import Campaign
    from stopwise.campaign.events import Ticket
    from stopwise.campaign.status import Status

WIDTH = 48  # of the bar and of the curve
LEVELS = "▁▂▃▄▅▆▇█"
STOPPED = 130  # exit code after Ctrl-C


class Curve:
    """The evidence seen so far, thinned out so that it always fits."""

    def __init__(self) -> None:
        self.points: list[float] = []
        self._step, self._seen = 1, 0

    def add(self, evidence: float | None) -> None:
        """The next value; every second one goes when there is no room left."""
        if self._seen % self._step == 0:
            self.points.append(0.0 if evidence is None else evidence)
            if len(self.points) > WIDTH:
                self.points, self._step = self.points[::2], 2 * self._step
        self._seen += 1

    def line(self, top: float) -> str:
        """As a line of blocks, of which the highest is ``top``."""
        shares = [min(1.0, max(0.0, point / top)) for point in self.points] if top > 0 else []
        return "".join(LEVELS[round(share * (len(LEVELS) - 1))] for share in shares)


def drawing(status: Status, curve: Curve | None = None, note: str = "") -> RenderableType:
    """A campaign's state for the terminal."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = [Text(line) for line in status.lines()]
    if status.evidence is not None and status.threshold:
        share = min(1.0, max(0.0, status.evidence / status.threshold))
        full = round(share * WIDTH)
        colour = "green" if status.decision else "cyan"
        bar = ("█" * full, colour), ("░" * (WIDTH - full), "dim"), f" {share:.0%}"
        parts.append(Text.assemble(*bar))
        if curve is not None:
            parts.append(Text(curve.line(status.threshold), style="cyan"))
    header, rows = status.table()
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for place, name in enumerate(header):
        table.add_column(name, overflow="fold", justify="right" if place else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    return Group(*parts, table, *([Text(note, style="yellow")] if note else []))


def follow(campaign: Campaign, every: float, as_json: bool) -> None:
    """Show the state until there is nothing to wait for; Ctrl-C ends it."""
    from rich.console import Console

    console = Console(highlight=False)
    try:
        if as_json or not console.is_terminal:
            _print_changes(campaign, every, as_json)
        else:
            _redraw(console, campaign, every)
    except KeyboardInterrupt:
        raise typer.Exit(STOPPED) from None


def ask_patiently(campaign: Campaign, number: int, lease: float | None) -> list[Ticket]:
    """Tickets, once there are any: a pause may end, and samples in flight may get lost."""
    from stopwise.campaign.errors import BudgetSpent, CampaignPaused, NothingToAsk, StorageAway

    while True:
        try:
            return campaign.ask(number, lease)
        except (BudgetSpent, CampaignPaused, NothingToAsk):
            status = campaign.status()
            if status.state not in ("running", "paused") or status.archived:
                raise
        except StorageAway:
            pass
        time.sleep(1.0)


def _redraw(console: Any, campaign: Campaign, every: float) -> None:
    from rich.live import Live

    from stopwise.campaign.errors import StorageAway

    curve, status = Curve(), campaign.status()
    with Live(drawing(status, curve), console=console, auto_refresh=False) as live:
        while True:
            note = ""
            try:
                status = campaign.status()
                curve.add(status.evidence)
            except StorageAway as error:
                note = f"{error}"
            live.update(drawing(status, curve, note), refresh=True)
            if status.state not in ("running", "paused"):
                return
            time.sleep(every)


def _print_changes(campaign: Campaign, every: float, as_json: bool) -> None:
    """Where nobody can redraw: a line for each change."""
    before = -1
    while True:
        status = campaign.status()
        if status.events != before:
            before = status.events
            lines = "; ".join(status.lines())
            typer.echo(json.dumps(plain(status.to_dict())) if as_json else lines)
        if status.state not in ("running", "paused"):
            return
        time.sleep(every)
