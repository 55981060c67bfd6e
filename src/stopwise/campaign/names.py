"""Names, tokens and addresses: what is allowed, and the defaults."""

from __future__ import annotations

import os
import re
import secrets
from os import PathLike
from pathlib import Path
from typing import Any

from stopwise.campaign.errors import UnknownCampaign
from stopwise.campaign.spelling import normalised
from stopwise.campaign.storage.address import ADDRESSES
from stopwise.campaign.storage.store import DEFAULT
from stopwise.core import checks
from stopwise.core.errors import BadArgument

LONGEST_NAME = 200
LONGEST_NOTE = 1000
# characters that change how a line is shown: what is forged with them looks like something else
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
SECRET = 24  # digits of an ask's token, in hexadecimal, that are random
PLACES = ("/", "\\", "..")
FILES = (".db", ".sqlite", ".sqlite3")  # texts that end so are files, not addresses


def storage_address(storage: str | PathLike[str] | None = None) -> str:
    """Where campaigns are: as given, or STOPWISE_STORAGE, or stopwise.db in this folder."""
    given = os.environ.get("STOPWISE_STORAGE") or DEFAULT if storage is None else storage
    if isinstance(given, str):
        return f"sqlite:///{given}" if "://" not in given and given.endswith(FILES) else given
    if not isinstance(given, PathLike):
        raise BadArgument("storage", given, ADDRESSES)
    return f"sqlite:///{checks.path('storage', given)}"


def refuse_if_absent(name: str, address: str) -> None:
    """Looking for a campaign makes no file."""
    if isinstance(address, str) and address.startswith("sqlite:///"):
        path = Path(address.removeprefix("sqlite:///"))
        if not path.exists():
            raise UnknownCampaign(f"no campaign {name!r}: there is no file {path}.")


def new_name(given: Any) -> str:
    """The name of a campaign that is made now, as it is stored: nothing that means a place in a path."""
    name: str = normalised(campaign_name(given))
    if name == "." or any(part in name for part in PLACES):
        allowed = "a name without /, \\ and .., which mean places in addresses and paths"
        raise BadArgument("name", given, allowed, "For example summer-2026 instead of summer/2026.")
    return name


def campaign_name(given: Any) -> str:
    """Any name that a campaign may have, of this version or an earlier one, as given."""
    name = normalised(given)
    good = isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isprintable()
    if not good or name != name.strip():
        raise BadArgument("name", given, f"a printable text of 1 to {LONGEST_NAME} characters")
    return str(given)


def note_text(name: str, given: Any, most: int = LONGEST_NOTE) -> str:
    """A remark, a reason or a person's name: one line, which looks like what it is."""
    allowed = f"a line of text of at most {most:,} characters, without control characters"
    found = checks.text(name, given, most, allowed)
    if UNSEEN.search(found):
        raise BadArgument(name, given, allowed)
    return found


def visible(text: str) -> str:
    """A text of an earlier version, which may have had control characters, as one plain line."""
    return UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def new_tokens(first: int, count: int) -> list[str]:
    """For so many asks from this number on; nobody can guess them.

    Asks that follow each other have tokens that do: their rows share the pages of an index.
    """
    secret = secrets.token_hex(SECRET // 2 * count)
    return [
        f"{first + place:08x}{secret[SECRET * place : SECRET * (place + 1)]}"
        for place in range(count)
    ]


def is_token(given: Any) -> bool:
    return isinstance(given, str) and 0 < len(given) <= 64 and given.isprintable()


def token_text(given: Any) -> str:
    if not is_token(given):
        raise BadArgument("token", given, "a printable text of 1 to 64 characters")
    return str(given)


def difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    return "; ".join(f"{key}: there {old.get(key)!r}, given {new.get(key)!r}" for key in keys)
