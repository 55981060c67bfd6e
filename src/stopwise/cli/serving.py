"""Who gets in when ``stopwise serve`` starts, said before anybody does; and the form of its log."""

from __future__ import annotations

import ipaddress
import json
import logging
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stopwise.core.errors import BadArgument, StopwiseError

if TYPE_CHECKING:
    from stopwise.campaign.storage.store import Store
    from stopwise.web.tokens import Token

LEVELS = ("debug", "info", "warning", "error")
MAY = {"read": "look", "work": "also ask and tell", "admin": "also create"}


def refuse_to_be_open(
    host: str, names: Sequence[str], tokens: Sequence[Token], store: Store
) -> None:
    """A service is open on this machine only, and before the first token, unless somebody says so."""
    if any(token.revoked is None for token in tokens):
        return
    if tokens:
        raise StopwiseError(
            f"every token in {store.shown} is revoked, so nobody could get in. Create one: "
            f"{_create(store)}. Or say --open, and whoever reaches the service may do everything."
        )
    if names:
        given, why = f"allow_host: got {', '.join(names)!r}", "others get in by a proxy"
    elif not _loopback(host):
        given, why = f"host: got {host!r}", "others can reach it"
    else:
        return
    raise StopwiseError(
        f"{given}: {why}, and there is no token in {store.shown}. Allowed without a token: --host "
        "127.0.0.1, ::1 or localhost, and no --allow-host; or --open, and whoever reaches the service "
        f"may do everything. Create a token first: {_create(store)}"
    )


def _create(store: Store) -> str:
    """The command that makes a token; in memory it would be gone before the service starts."""
    kept = store.address != "memory:"
    where = shlex.quote(store.shown) if kept else "FILE.db"
    hint = "" if kept else " (memory: keeps none; serve FILE.db instead)"
    return f"stopwise token create NAME --role admin --storage {where}{hint}"


def who_gets_in(host: str, names: Sequence[str], tokens: Sequence[Token], always_open: bool) -> str:
    """From where, with what, and what they may do then."""
    near = "this machine" if _loopback(host) else f"every machine that reaches {host}"
    far = f", and by a proxy as {', '.join(names)}" if names else ""
    if always_open:
        return f"Reached from {near}{far}: without a token, everybody may do everything (--open)."
    if not tokens:
        return (
            f"Reached from {near}: without a token, everybody there may do everything, until the first "
            "token is created."
        )
    held = Counter(token.role for token in tokens if token.revoked is None)
    roles = ", ".join(f"{held[role]} {role} ({may})" for role, may in MAY.items() if held[role])
    return f"Reached from {near}{far}, with a token: {roles}."


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Line(logging.Formatter):
    """Lines of ours are JSON already; those of the server below become so."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        text = super().format(record)
        return text if text.startswith("{") else json.dumps({"server": text})


def log_lines(level: str) -> None:
    """One JSON object a line, on standard error."""
    if level not in LEVELS:
        raise BadArgument("log_level", level, "debug, info, warning or error")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Line("%(message)s"))
    for name, least in (
        ("stopwise.web", level),
        ("uvicorn", max(level, "warning", key=LEVELS.index)),
    ):
        logger = logging.getLogger(name)
        logger.setLevel(least.upper())
        logger.handlers = [handler]
        logger.propagate = False
