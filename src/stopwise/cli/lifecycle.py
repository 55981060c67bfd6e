"""``stopwise pause``, ``close``, ``rename`` and the other commands for people who run campaigns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from stopwise.cli.app import DEFAULT, Json, Storage
from stopwise.cli.campaign import Name, command, open_campaign
from stopwise.cli.output import Progress, say
from stopwise.core.errors import BadArgument

Reason = Annotated[str, typer.Option(help="Why, for the record.")]


def _say(name: str, changed: bool, text: str, nothing: str, as_json: bool) -> None:
    say(text if changed else nothing, {"name": name, "changed": changed}, as_json)


@command()
def pause(
    name: Name, reason: Reason = "", storage: Storage = DEFAULT, as_json: Json = False
) -> None:
    """Answer no asks until resume; samples in flight still count."""
    done = open_campaign(name, storage).pause(reason)
    _say(name, done, f"{name}: paused", f"{name}: paused already", as_json)


@command()
def resume(name: Name, storage: Storage = DEFAULT, as_json: Json = False) -> None:
    """Answer asks again."""
    done = open_campaign(name, storage).resume()
    _say(name, done, f"{name}: running", f"{name}: not paused", as_json)


@command()
def close(
    name: Name,
    reason: Annotated[str, typer.Argument(help="Why there is no answer.", show_default=False)],
    storage: Storage = DEFAULT,
    as_json: Json = False,
) -> None:
    """End a campaign without an answer, for good."""
    done = open_campaign(name, storage).close(reason)
    _say(name, done, f"{name}: closed", f"{name}: closed already", as_json)


def _archive(name: str, storage: str, back: bool) -> bool:
    """Also a campaign that cannot be opened."""
    from stopwise.campaign.changes import myself
    from stopwise.campaign.errors import CampaignUnreadable
    from stopwise.campaign.lifecycle import archive_unreadable
    from stopwise.campaign.names import storage_address
    from stopwise.campaign.storage.store import Store

    try:
        campaign = open_campaign(name, storage)
    except CampaignUnreadable:
        return archive_unreadable(name, Store(storage_address(storage)), myself(), back=back)
    return campaign.unarchive() if back else campaign.archive()


@command()
def archive(name: Name, storage: Storage = DEFAULT, as_json: Json = False) -> None:
    """Leave a campaign out of the list; everything is kept."""
    done = _archive(name, storage, back=False)
    _say(name, done, f"{name}: archived", f"{name}: archived already", as_json)


@command()
def unarchive(name: Name, storage: Storage = DEFAULT, as_json: Json = False) -> None:
    """Put a campaign back into the list."""
    done = _archive(name, storage, back=True)
    _say(name, done, f"{name}: in the list", f"{name}: not archived", as_json)


@command()
def rename(
    name: Name,
    new: Annotated[str, typer.Argument(help="The new name.", show_default=False)],
    storage: Storage = DEFAULT,
    as_json: Json = False,
) -> None:
    """Give a campaign another name; the old one still leads to it."""
    done = open_campaign(name, storage).rename(new)
    _say(new, done, f"{name}: renamed to {new}", f"{name}: the same name", as_json)


@command()
def note(
    name: Name,
    text: Annotated[str, typer.Argument(help="What to remember.", show_default=False)],
    storage: Storage = DEFAULT,
    as_json: Json = False,
) -> None:
    """Write a remark into the record."""
    done = open_campaign(name, storage).note(text)
    _say(name, done, f"{name}: noted", "", as_json)


@command()
def change(
    name: Name,
    budget: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Samples at most; none: no limit.")
    ] = None,
    minimum: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Samples of each arm before a decision.")
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option(metavar="OLD=NEW", help="Another label for an arm.")
    ] = None,
    losses: Annotated[
        str | None,
        typer.Option(
            metavar="ASSUMPTION",
            help="'at random': leave out values that have not come, because their losses have nothing "
            "to do with the values. There is no way back.",
        ),
    ] = None,
    storage: Storage = DEFAULT,
    as_json: Json = False,
) -> None:
    """Change the budget, the minimum of samples an arm, labels, or what is assumed of losses."""
    wanted: dict[str, Any] = {"labels": dict(map(_pair, label or []))}
    if budget is not None:
        wanted["budget"] = _budget(budget)
    if minimum is not None:
        wanted["minimum"] = minimum
    if losses is not None:
        wanted["losses"] = losses
    done = open_campaign(name, storage).change(**wanted)
    _say(name, done, f"{name}: changed", f"{name}: nothing to change", as_json)


@command()
def add(
    name: Name,
    label: Annotated[str, typer.Argument(help="The new arm's label.", show_default=False)],
    storage: Storage = DEFAULT,
    as_json: Json = False,
) -> None:
    """Add an arm to a campaign whose spec has room for it."""
    arm = open_campaign(name, storage).add_arm(label)
    say(f"{name}: arm {arm} is {label}", {"name": name, "arm": arm, "label": label}, as_json)


@command()
def recommend(name: Name, storage: Storage = DEFAULT, as_json: Json = False) -> None:
    """Say what the data favour now, and whether that is proven."""
    found = open_campaign(name, storage).recommend()
    say(repr(found), found.to_dict(), as_json)


@command("import")
def import_results(
    name: Name,
    file: Annotated[Path, typer.Argument(help=".csv or .parquet", show_default=False)],
    arm: Annotated[str, typer.Option(metavar="COLUMN", help="With labels or numbers.")] = "arm",
    value: Annotated[str, typer.Option(metavar="COLUMN", help="With the samples.")] = "value",
    row_id: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Identifies a result in all files."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="When each was taken; else rows are shuffled."),
    ] = None,
    in_order: Annotated[
        bool, typer.Option("--in-order", help="The file's order is that of the experiment.")
    ] = False,
    new: Annotated[
        bool, typer.Option("--new", help="None of the rows was imported from another file.")
    ] = False,
    source: Annotated[
        str | None, typer.Option(help="Names the file, if that changes.", show_default="its name")
    ] = None,
    storage: Storage = DEFAULT,
    as_json: Json = False,
) -> None:
    """Record results of the past: all rows of the file, or none; each counts once."""
    campaign = open_campaign(name, storage)
    with Progress() as progress:
        found = campaign.import_results(
            *(file, arm, value, source),
            id=row_id,
            time=time,
            in_order=in_order,
            new=new,
            progress=progress,
        )
    say(repr(found), found.to_dict(), as_json)


def _budget(text: str) -> int | None:
    if text == "none":
        return None
    if not text.isdecimal():
        raise BadArgument("budget", text, "a whole number, or none")
    return int(text)


def _pair(text: str) -> tuple[str, str]:
    old, found, new = text.partition("=")
    if not found:
        raise BadArgument("label", text, "OLD=NEW")
    return old, new
