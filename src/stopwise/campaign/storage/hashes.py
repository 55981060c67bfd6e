"""Hashes of what is stored, so that a row that was changed afterwards is seen.

Events form a chain: the hash of each covers the event and the hash before it, and the first covers the
campaign as it was created. The campaign's row keeps the hash of the last event. Rows that are not
events (the campaign's, and those of samples in flight) have a seal: a hash of the row itself.

Whoever may write to the storage could compute all hashes anew. Then the last one is another: compare
it with one that was noted elsewhere.
"""

from __future__ import annotations

import hashlib
import math
import struct
from typing import Any

import sqlalchemy as sa

from stopwise.campaign.events import Event
from stopwise.campaign.storage.rows import Head, Lease
from stopwise.campaign.storage.tables import campaigns, events, leases

SIZE = 16  # bytes
AT_ONCE = 20_000  # events that get their hashes together
NUMBERS = struct.Struct("<qqdd?III")  # of an event, with the lengths of its texts
NOTHING = -1  # in place of an arm


def _hash(before: bytes, text: str) -> bytes:
    return hashlib.sha256(before + text.encode("utf-8", "surrogatepass")).digest()[:SIZE]


def _real(value: Any) -> Any:
    """As databases give it back: whole numbers as real ones, and 0.0 for -0.0."""
    return value + 0.0 if isinstance(value, int | float) else value


def first_hash(spec: str, key: str, version: str, created: float) -> bytes:
    """Where the chain of a campaign begins: with what never changes."""
    return _hash(b"campaign", f"{key} {version} {_real(created)!r} {spec}")


def event_hash(before: bytes, event: Event) -> bytes:
    """Of an event, and of all before it."""
    number, kind, token, arm, value, time, late, note, actor = event
    try:
        head = NUMBERS.pack(
            number, NOTHING if arm is None else arm, math.nan if value is None else value + 0.0,
            time, late, len(kind), len(token), len(note),
        )  # fmt: skip
        text = f"{kind}{token}{note}{actor}"
    except (struct.error, TypeError):  # somebody has changed it: no event that was written is so
        head, text = b"", ascii(event)
    return _hash(before + head, text)


def row_seal(
    name: str,
    last: int,
    decision: str | None,
    slowest: float | None,
    changes: str | None,
    stored: int,
    last_hash: bytes,
) -> bytes:
    """Of a campaign's row. What never changes is in the chain, which begins with it."""
    numbers = f"{last} {_real(slowest)!r} {stored}"
    return _hash(b"row" + last_hash, f"{numbers} {name!a} {decision!a} {changes!a}")


def head_seal(head: Head) -> bytes:
    """The same of a row that was read."""
    return row_seal(head.name, *head[6:-1])


def lease_seal(lease: Lease) -> bytes:
    """Of the row of a sample in flight."""
    return _hash(b"lease", f"{lease.token} {lease.arm} {_real(lease.deadline)!r}")


def sealed_state(last: int, content: bytes) -> bytes:
    """What a session knows after event ``last``, as it is stored."""
    body = last.to_bytes(8, "little") + content
    return hashlib.sha256(body).digest()[:SIZE] + body


def opened_state(stored: bytes) -> tuple[int, bytes] | None:
    """What ``sealed_state`` made of it; None if it was changed since."""
    body = stored[SIZE:]
    if len(body) < 8 or hashlib.sha256(body).digest()[:SIZE] != stored[:SIZE]:
        return None
    return int.from_bytes(body[:8], "little"), body[8:]


def add_hashes(connection: sa.Connection) -> None:
    """Give hashes to campaigns that were stored without."""
    columns = [campaigns.c[name] for name in Head._fields]
    for row in connection.execute(sa.select(*columns)).all():
        head = Head(*row)
        last = _hash_events(connection, head)
        change = sa.update(campaigns).where(campaigns.c.id == head.id)
        connection.execute(change.values(hash=last, seal=head_seal(head._replace(hash=last))))
    fields = [leases.c[name] for name in Lease._fields]
    for campaign, *found in connection.execute(sa.select(leases.c.campaign, *fields)).all():
        lease = Lease(*found)
        which = (leases.c.campaign == campaign, leases.c.token == lease.token)
        connection.execute(sa.update(leases).where(*which).values(seal=lease_seal(lease)))


def _hash_events(connection: sa.Connection, head: Head) -> bytes:
    """Fill in the hashes of a campaign's events; the last one."""
    here = events.c.campaign == head.id
    found = first_hash(head.spec, head.key, head.version, head.created)
    change = (
        sa.update(events)
        .where(here, events.c.number == sa.bindparam("of"))
        .values(hash=sa.bindparam("new"))
    )
    wanted = sa.select(*(events.c[name] for name in Event._fields)).order_by(events.c.number)
    after = 0
    while rows := connection.execute(
        wanted.where(here, events.c.number > after).limit(AT_ONCE)
    ).all():
        new = []
        for row in rows:
            found = event_hash(found, Event(*row))
            new.append({"of": row.number, "new": found})
        connection.execute(change, new)
        after = rows[-1].number
    return found
