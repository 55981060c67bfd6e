"""Rows of the tables, as they are read."""

from __future__ import annotations

from typing import NamedTuple


class Head(NamedTuple):
    """A campaign's row."""

    id: int
    name: str
    spec: str
    key: str
    version: str
    created: float
    last: int
    decision: str | None
    slowest: float | None  # seconds that a sample has taken, at most so far
    changes: str | None  # what lifecycle events have changed, as JSON
    stored: int  # event after which the session's state was stored; 0: it is not
    hash: bytes  # of the last event; before the first one, of the campaign as it was created
    seal: bytes  # of this row


class Lease(NamedTuple):
    """A sample in flight."""

    token: str
    arm: int
    deadline: float
