"""``stopwise names``: what problems, families, strategies and stopping rules are called."""

from __future__ import annotations

import inspect
import json
from typing import Annotated, Any

import typer

from stopwise.cli.app import app
from stopwise.core import registry

HEADINGS = {
    "problem": "problems",
    "family": "families",
    "strategy": "strategies",
    "stopping": "stopping rules",
}
SPELLED = (
    "All problems, families, strategies and stopping rules, with their options: stopwise names."
)


@app.command()
def names(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List what can be named in files and commands, with its options: name:option=value,..."""
    found = {role: _listed(role) for role in registry.ROOMS}
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    for role, rows in found.items():
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
        for title in (HEADINGS[role], "options", ""):
            table.add_column(title, overflow="fold")
        for row in rows:
            table.add_row(row["name"], ", ".join(row["options"]), row["title"])
        Console(highlight=False).print(table)


def _listed(role: str) -> list[dict[str, Any]]:
    from stopwise.core.spelling import parameters

    def option(name: str, each: inspect.Parameter) -> str:
        """With its default, if it has one."""
        if each.default in (inspect.Parameter.empty, None):
            return name if each.default is inspect.Parameter.empty else f"({name})"
        return f"{name}={each.default}"

    return [
        {
            "name": name,
            "options": [option(*item) for item in parameters(kind).items() if item[0] != "arms"],
            "title": kind.title,
        }
        for name, kind in registry.load(role).items()
    ]
