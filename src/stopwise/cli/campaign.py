"""``stopwise create``, ``ask``, ``tell`` and the other commands of a campaign."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stopwise.cli.app import DEFAULT, Json, Storage, app
from stopwise.cli.output import decided, event_cells, say, say_receipt
from stopwise.core.errors import BadArgument, Costly

if TYPE_CHECKING:
    from stopwise.campaign.campaign import Campaign
    from stopwise.campaign.storage.store import Store

NO = 1  # exit code; those of refusals are the errors' own
EXITS = (
    "Exit codes: 0 fine; 1 no (verify does not agree; heartbeat of a sample that is not in flight); "
    "2 a mistake, in one line on stderr; 3 ask: the campaign is decided (import: "
    "before the new rows); 4 ask: its budget is spent; "
    "5 the storage does not answer, try again; 6 ask: the campaign is paused or archived; 7 ask: it was "
    "closed without an answer."
)
EXAMPLE = (
    "A spec for conversion rates (TOML, or the same as JSON; stopwise schema has all keys):"
    '\n\nquestion = {kind = "best-arm", epsilon = 0.01}'
    '\n\narms = ["A", "B", "C"]'
    '\n\nfamily = "bernoulli"'
    "\n\ndelta = 0.05"
)

Name = Annotated[str, typer.Argument(help="The campaign's name.", show_default=False)]
Token = Annotated[str, typer.Argument(help="The token that ask gave.", show_default=False)]
Value = Annotated[str, typer.Argument(help="The sample, a number.", show_default=False)]
Lease = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="How long the sample may take.",
        show_default="10 times the longest so far",
    ),
]


def command(
    name: str | None = None, epilog: str = EXITS
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command of campaigns."""
    # tokens and samples may start with a minus sign
    settings = {"ignore_unknown_options": True}
    return app.command(name, epilog=epilog, context_settings=settings, rich_help_panel="Campaigns")


@command(epilog=f"{EXITS}\n\n{EXAMPLE}")
def create(
    spec_file: Annotated[Path, typer.Argument(help="TOML or JSON.", show_default=False)],
    name: Annotated[
        str | None, typer.Option(help="The campaign's name.", show_default="the file's, bare")
    ] = None,
    storage: Storage = DEFAULT,
    as_json: Json = False,
) -> None:
    """Make a campaign from a file; the same again changes nothing."""
    from stopwise.campaign.campaign import Campaign

    _refuse_memory(storage)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Costly)  # it is said below
        made = Campaign.create(spec_file, storage, name)
    table = {
        "name": made.name,
        "key": made.spec.key,
        "spec": made.spec.table,
        "remark": made.spec.remark or None,
    }
    text = (
        f"{made.name}: {len(made.labels)} arms, delta = {made.spec.delta:g}, spec {made.spec.key}"
    )
    if made.spec.remark:
        text += f"\nwarning: {made.spec.remark}"
    say(text, table, as_json)


@command()
def ask(
    name: Name,
    number: Annotated[int, typer.Option("-n", help="How many samples.")] = 1,
    lease: Lease = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Until there are some, if it is paused or crowded.")
    ] = False,
    storage: Storage = DEFAULT,
    as_json: Json = False,
) -> None:
    """Say which samples to take: a line with token, arm, label and, if it is paired, item for each.

    A campaign that is decided prints its decision and exits with 3.
    """
    from stopwise.campaign.errors import CampaignDecided
    from stopwise.cli.watch import ask_patiently

    try:
        campaign = open_campaign(name, storage)
        tickets = ask_patiently(campaign, number, lease) if wait else campaign.ask(number, lease)
    except CampaignDecided as end:
        say(decided(end.decision), {"tickets": [], "decision": end.decision._asdict()}, as_json)
        raise typer.Exit(end.exit_code) from None
    columns = 3 if tickets[0].item is None else 4
    text = "\n".join("\t".join(map(str, each[:columns])) for each in tickets)
    say(text, {"tickets": [each.to_dict() for each in tickets], "decision": None}, as_json)


@command()
def tell(
    name: Name, token: Token, value: Value, storage: Storage = DEFAULT, as_json: Json = False
) -> None:
    """Give a sample that was asked for. The same again is safe."""
    campaign = open_campaign(name, storage)
    say_receipt(campaign, campaign.tell(token, _number(value)), as_json)


@command()
def record(
    name: Name,
    arm: Annotated[str, typer.Argument(help="Its label or number.", show_default=False)],
    value: Value,
    token: Annotated[
        str | None, typer.Option(help="A word of yours that makes it safe to repeat.")
    ] = None,
    storage: Storage = DEFAULT,
    as_json: Json = False,
) -> None:
    """Give a sample that nobody asked for."""
    campaign = open_campaign(name, storage)
    known = arm in campaign.labels or not arm.isdecimal()
    say_receipt(
        campaign, campaign.record(arm if known else int(arm), _number(value), token), as_json
    )


@command()
def release(
    name: Name,
    token: Token,
    reason: Annotated[str, typer.Option(help="Why, for the record.")] = "",
    storage: Storage = DEFAULT,
    as_json: Json = False,
) -> None:
    """Say that a sample will not come."""
    done = open_campaign(name, storage).release(token, reason)
    text = "released" if done else "not in flight: nothing to release"
    say(text, {"token": token, "released": done}, as_json)


@command()
def heartbeat(
    name: Name, token: Token, lease: Lease = None, storage: Storage = DEFAULT, as_json: Json = False
) -> None:
    """Give a sample more time; exit code 1 if it is not in flight any more."""
    done = open_campaign(name, storage).heartbeat(token, lease)
    text = "extended" if done else "not in flight any more"
    say(text, {"token": token, "extended": done}, as_json)
    if not done:
        raise typer.Exit(NO)


@command()
def status(
    name: Name,
    watch: Annotated[bool, typer.Option("--watch", help="Redraw until it is decided.")] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Until it is over; exit code 1 without an answer.")
    ] = False,
    every: Annotated[float, typer.Option(min=0.01, metavar="SECONDS", help="How often.")] = 1.0,
    storage: Storage = DEFAULT,
    as_json: Json = False,
) -> None:
    """Say where a campaign stands: evidence against threshold, and each arm."""
    campaign = open_campaign(name, storage)
    if wait:
        campaign.wait(every=every)
    if watch:
        from stopwise.cli.watch import follow

        follow(campaign, every, as_json)
    elif as_json:
        say("", campaign.status().to_dict(), as_json)
    else:
        from rich.console import Console

        from stopwise.cli.watch import drawing

        Console(highlight=False).print(drawing(campaign.status()))
    if wait and campaign.decision is None:
        raise typer.Exit(NO)


@command()
def explain(name: Name, storage: Storage = DEFAULT, as_json: Json = False) -> None:
    """Say in plain words what is pursued and why, and what comes next."""
    found = open_campaign(name, storage).explain()
    say(found.text, found.to_dict(), as_json)


@command()
def export(
    name: Name,
    file: Annotated[Path, typer.Argument(help=".csv, .jsonl or .parquet", show_default=False)],
    storage: Storage = DEFAULT,
    as_json: Json = False,
) -> None:
    """Write the record into a file."""
    written = open_campaign(name, storage).export(file)
    say(f"wrote {written}", {"file": str(written)}, as_json)


@command()
def verify(name: Name, storage: Storage = DEFAULT, as_json: Json = False) -> None:
    """Derive everything anew from the events alone; exit code 1 if it does not agree."""
    found = open_campaign(name, storage).verify()
    say(repr(found), found.to_dict(), as_json)
    if not found.agrees:
        raise typer.Exit(NO)


@command("list")
def list_campaigns(
    context: typer.Context,
    file: Annotated[
        str | None, typer.Argument(help="The same as --storage.", show_default=False)
    ] = None,
    archived: Annotated[bool, typer.Option("--archived", help="Those, too.")] = False,
    storage: Storage = DEFAULT,
    as_json: Json = False,
) -> None:
    """Say which campaigns there are, oldest first, and where each stands."""
    if file is not None:
        source = context.get_parameter_source("storage")
        if source is not None and source.name == "COMMANDLINE" and storage != file:
            given = f"{file} --storage {storage}"
            raise BadArgument("storage", given, "one storage", "Leave one of the two out.")
        storage = file
    _refuse_missing(storage)
    from stopwise.campaign.names import storage_address
    from stopwise.campaign.storage.store import Store

    store = Store(storage_address(storage))
    found = [_listed(name, store) for name in store.names()]
    rows = [row for row in found if archived or not row["archived"]]
    lines = [
        f"{row['name']}\t{row['state']}\t{row['samples']:,}\t{row['leading'] or '-'}"
        for row in rows
    ]
    for row in rows:
        if "problem" in row:
            typer.echo(f"stopwise: {row['problem']}", err=True)
    say("\n".join(["name\tstate\tsamples\tleading", *lines]), {"campaigns": rows}, as_json)


def _listed(name: str, store: Store) -> dict[str, Any]:
    """A campaign's line in the list; of one that cannot be opened, why."""
    from stopwise.campaign.campaign import Campaign
    from stopwise.campaign.errors import CampaignUnreadable

    keys = ("name", "state", "samples", "evidence", "threshold", "leading", "archived")
    try:
        status = Campaign.open(name, store).status()
    except CampaignUnreadable as error:
        found: dict[str, Any] = dict.fromkeys(keys) | {"name": name, "state": "cannot be opened"}
        return {**found, "samples": 0, "archived": error.archived, "problem": str(error)}
    return {key: getattr(status, key) for key in keys}


@command()
def events(
    name: Name,
    after: Annotated[int, typer.Option(help="Only events with a larger number.")] = 0,
    storage: Storage = DEFAULT,
    as_json: Json = False,
) -> None:
    """Print the record, an event a line."""
    from stopwise.campaign.export import rows

    campaign = open_campaign(name, storage)
    found = rows(campaign.events(after), campaign.labels)
    lines = ["\t".join(map(str, event_cells(campaign, row))) for row in found]
    header = "\t".join(("number", "kind", "time", "label", "value", "token", "note"))
    say("\n".join([header, *lines]), {"events": found}, as_json)


@command()
def schema() -> None:
    """Print the JSON Schema of a campaign's spec, for editors and validators."""
    from stopwise.campaign.schema import schema as made

    typer.echo(json.dumps(made(), indent=2))


def open_campaign(name: str, storage: str) -> Campaign:
    """A campaign that is there."""
    _refuse_missing(storage)
    from stopwise.campaign.campaign import Campaign

    return Campaign.open(name, storage)


def _refuse_memory(storage: str) -> None:
    if storage == "memory:":
        allowed = (
            "FILE.db, sqlite:///FILE or a PostgreSQL address; memory does not outlast a command"
        )
        raise BadArgument("storage", storage, allowed)


def _refuse_missing(storage: str) -> None:
    """A look into the wrong folder should not leave an empty database there."""
    _refuse_memory(storage)
    from stopwise.campaign.names import storage_address

    address = storage_address(storage)
    file = Path(address.removeprefix("sqlite:///").partition("?")[0])
    if address.startswith("sqlite:///") and not file.exists():
        hint = "stopwise create makes it; --storage or STOPWISE_STORAGE says where campaigns are."
        raise BadArgument("storage", storage, "a file that exists", hint)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadArgument("value", text, "a number") from None
