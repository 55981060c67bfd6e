"""What people change in the life of a campaign: each change is an event, and the sum of them a value."""

from __future__ import annotations

import functools
import getpass
import json
import os
import socket
from collections.abc import Iterable
from typing import Any, NamedTuple

from stopwise.campaign.events import Event

LIFE = ("paused", "resumed", "closed", "archived", "unarchived", "renamed", "noted", "changed")


class Changes(NamedTuple):
    """All changes so far. ``spec`` has the new values of its keys."""

    paused: bool = False
    closed: bool = False
    archived: bool = False
    reason: str = ""  # why it was paused or closed
    spec: tuple[tuple[str, Any], ...] = ()

    def after(self, event: Event) -> Changes:
        """With one event more."""
        if event.kind in ("paused", "closed"):
            return self._replace(reason=event.note, paused=event.kind == "paused")._replace(
                closed=event.kind == "closed"
            )
        if event.kind == "resumed":
            return self._replace(paused=False, reason="")
        if event.kind in ("archived", "unarchived"):
            return self._replace(archived=event.kind == "archived")
        if event.kind == "changed":
            return self._replace(spec=_sorted({**dict(self.spec), **json.loads(event.note)}))
        return self

    def to_json(self) -> str | None:
        """As it is stored; None if there are none."""
        if self == Changes():
            return None
        return json.dumps({**self._asdict(), "spec": dict(self.spec)}, sort_keys=True)


@functools.lru_cache(maxsize=256)
def changes(text: str | None) -> Changes:
    """What ``to_json`` wrote."""
    if text is None:
        return Changes()
    found = json.loads(text)
    return Changes(**{**found, "spec": _sorted(found["spec"])})


def all_changes(record: Iterable[Event]) -> Changes:
    """What the events of a record change, one after another."""
    found = Changes()
    for event in record:
        found = found.after(event)
    return found


def _sorted(table: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(table.items()))


@functools.cache
def myself() -> str:
    """Who runs this process: user@host."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in some containers
        user = f"user {os.getuid()}"
    return f"{user}@{socket.gethostname()}"[:200]
