"""The statements of a store.

SQLAlchemy writes them, once for each kind of database; they run on the driver's own connection, which
takes a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from stopwise.campaign.events import Event
from stopwise.campaign.storage.tables import campaigns, events, former_names, leases, states

ALL = 2**62  # more rows than there are


class Statement:
    """A statement, compiled once for each kind of database."""

    def __init__(self, clause: Any) -> None:
        self._clause = clause
        self._made: dict[str, tuple[str, Sequence[str] | None, dict[str, Any]]] = {}

    def on(self, dialect: Any) -> tuple[str, Sequence[str] | None, dict[str, Any]]:
        """Its text; the values' names in turn (None: the driver takes names); and the defaults."""
        if dialect.name not in self._made:
            compiled = self._clause.compile(dialect=dialect)
            places = compiled.positiontup
            order = None if places is None else tuple(places)
            self._made[dialect.name] = (str(compiled), order, dict(compiled.params))
        return self._made[dialect.name]


class Connection:
    """The driver's own connection, in a transaction."""

    def __init__(self, raw: Any, dialect: Any) -> None:
        self.raw, self._dialect = raw, dialect

    def rows(self, statement: Statement, **values: Any) -> list[tuple[Any, ...]]:
        """What a query finds."""
        text, order, usual = statement.on(self._dialect)
        given: Any = {**usual, **values}
        if order is not None:
            given = [given[name] for name in order]
        found: list[tuple[Any, ...]] = self.raw.execute(text, given).fetchall()
        return found

    def write(
        self, statement: Statement, names: tuple[str, ...], rows: Sequence[tuple[Any, ...]]
    ) -> None:
        """The same change with each of these rows of values, which have these names."""
        if not rows:
            return
        text, order, _ = statement.on(self._dialect)
        made: Sequence[Any] = rows
        if order is None:
            made = [dict(zip(names, row, strict=True)) for row in rows]
        elif order != names:
            places = [names.index(name) for name in order]
            made = [[row[place] for place in places] for row in rows]
        if len(made) == 1:
            self.raw.execute(text, made[0])
        else:
            self.raw.cursor().executemany(text, made)


def _here(table: sa.Table) -> Any:
    return table.c.campaign == sa.bindparam("wanted")


FIELDS = [events.c[name] for name in Event._fields]
HEAD = list(campaigns.c)
HEAD_OF = Statement(sa.select(*HEAD).where(campaigns.c.name == sa.bindparam("wanted")))
LOCKED_HEAD_OF = Statement(
    sa.select(*HEAD).where(campaigns.c.name == sa.bindparam("wanted")).with_for_update()
)
# of a campaign that was once called so
ONCE = campaigns.c.id.in_(
    sa.select(former_names.c.campaign).where(former_names.c.name == sa.bindparam("wanted"))
)
HEAD_ONCE = Statement(sa.select(*HEAD).where(ONCE))
LOCKED_HEAD_ONCE = Statement(sa.select(*HEAD).where(ONCE).with_for_update())
RENAME = Statement(
    sa.update(campaigns)
    .where(campaigns.c.id == sa.bindparam("wanted"))
    .values(name=sa.bindparam("new_name"))
)
ADD_NAME = Statement(sa.insert(former_names))
DROP_NAME = Statement(sa.delete(former_names).where(former_names.c.name == sa.bindparam("wanted")))
NAMES = Statement(
    sa.select(campaigns.c.name, campaigns.c.last)
    .order_by(campaigns.c.id)
    .limit(sa.bindparam("most"))
)
STATE_OF = Statement(sa.select(states.c.content).where(_here(states)))
DROP_STATE = Statement(sa.delete(states).where(_here(states)))
ADD_STATE = Statement(sa.insert(states))
FORMER_NAMES_OF = Statement(
    sa.select(former_names.c.name).where(_here(former_names)).order_by(former_names.c.name)
)
SAME_LEASE = sa.and_(leases.c.campaign == events.c.campaign, leases.c.token == events.c.token)
MOST_TOKENS = (1, 8, 16, 32, 64, 512)  # of one query: each number is a statement
TOKENS = [f"token_{place}" for place in range(MOST_TOKENS[-1])]


def _by_tokens(count: int) -> Statement:
    tokens: list[Any] = [sa.bindparam(name) for name in TOKENS[:count]]
    return Statement(
        sa.select(*FIELDS, leases.c.deadline)
        .select_from(events.outerjoin(leases, SAME_LEASE))
        .where(_here(events), events.c.token.in_(tokens))
    )


BY_TOKENS = {count: _by_tokens(count) for count in MOST_TOKENS}
SINCE = Statement(
    sa.select(*FIELDS, events.c.hash)
    .where(_here(events), events.c.number > sa.bindparam("after"))
    .order_by(events.c.number)
    .limit(sa.bindparam("most"))
)
SAMPLE_FIELDS = [events.c[name] for name in ("number", "kind", "token", "arm", "value", "late")]
SAMPLES = Statement(
    sa.select(*SAMPLE_FIELDS)
    .where(_here(events), events.c.number > sa.bindparam("after"))
    .order_by(events.c.number)
    .limit(sa.bindparam("most"))
)
LEASES_OF = sa.select(leases.c.token, leases.c.arm, leases.c.deadline).where(_here(leases))
ORDER = (leases.c.deadline, leases.c.token)
ALL_LEASES = Statement(LEASES_OF.order_by(*ORDER).limit(sa.bindparam("most")))
IN_FLIGHT = Statement(
    sa.select(leases.c.arm, sa.func.count()).where(_here(leases)).group_by(leases.c.arm)
)
EXPIRED = Statement(LEASES_OF.where(leases.c.deadline < sa.bindparam("now")).order_by(*ORDER))
ADD_EVENT = Statement(sa.insert(events))
EVENT_ROW = ("campaign", *Event._fields, "hash")
ADD_LEASE = Statement(sa.insert(leases))
LEASE_ROW = ("campaign", "token", "arm", "deadline", "seal")
SEALED_LEASES = Statement(
    sa.select(leases.c.token, leases.c.arm, leases.c.deadline, leases.c.seal).where(_here(leases))
)
ONE_LEASE = (_here(leases), leases.c.token == sa.bindparam("under"))
DROP_LEASE = Statement(sa.delete(leases).where(*ONE_LEASE))
EXTEND_LEASE = Statement(
    sa.update(leases)
    .where(*ONE_LEASE)
    .values(deadline=sa.bindparam("until"), seal=sa.bindparam("new_seal"))
)
SAVED = ("last", "decision", "slowest", "changes", "stored", "hash", "seal")
SAVE_ROW = ("wanted", *(f"new_{name}" for name in SAVED))
SAVE = Statement(
    sa.update(campaigns)
    .where(campaigns.c.id == sa.bindparam("wanted"))
    .values({name: sa.bindparam(f"new_{name}") for name in SAVED})
)
