"""Tokens: who may do what. The store keeps hashes only; a token is shown once, when it is made."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from typing import NamedTuple

import sqlalchemy as sa

from stopwise.campaign.storage.store import Store
from stopwise.core.errors import BadArgument

ROLES = ("read", "work", "admin")  # each may do what those before it may
LONGEST_NAME = 100
TOKEN = re.compile(r"sw_([0-9a-f]{1,16})_([\w-]{1,100})", re.ASCII)
NOTICED = 0.25  # seconds after which every open service knows of the first token

table = sa.Table(
    "stopwise_tokens",
    sa.MetaData(),
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("name", sa.String(LONGEST_NAME), nullable=False),
    sa.Column("role", sa.String(10), nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("created", sa.Float(53), nullable=False),
    sa.Column("revoked", sa.Float(53)),
)


class Token(NamedTuple):
    """What is known of a token; not the token itself."""

    id: str
    name: str
    role: str
    created: float
    revoked: float | None


class Tokens:
    """The tokens of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        with store.guarded(), store.engine.begin() as connection:
            table.create(connection, checkfirst=True)

    def create(self, name: str, role: str) -> str:
        """A new token: the only time that it can be read."""
        if role not in ROLES:
            raise BadArgument("role", role, f"one of {', '.join(ROLES)}")
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise BadArgument("name", name, f"a printable text of 1 to {LONGEST_NAME} characters")
        short, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        row = {"id": short, "name": name, "role": role, "digest": _digest(secret)}
        first = not self.any()
        with self._store.guarded(), self._store.engine.begin() as connection:
            connection.execute(sa.insert(table), {**row, "created": time.time()})
        if first:
            time.sleep(NOTICED)  # who holds a token can be sure that nobody gets in without one
        return f"sw_{short}_{secret}"

    def any(self) -> bool:
        """Whether a token was ever made, be it revoked."""
        with self._store.guarded(), self._store.engine.connect() as connection:
            reading = connection.execution_options(reads=True)
            return reading.execute(sa.select(table.c.id).limit(1)).first() is not None

    def all(self) -> list[Token]:
        """Every token, oldest first."""
        columns = [table.c[name] for name in Token._fields]
        with self._store.guarded(), self._store.engine.connect() as connection:
            rows = connection.execute(sa.select(*columns).order_by(table.c.created))
            return [Token(*row) for row in rows]

    def ids(self) -> frozenset[str]:
        """Of all tokens that open something."""
        wanted = sa.select(table.c.id).where(table.c.revoked.is_(None))
        with self._store.guarded(), self._store.engine.connect() as connection:
            rows = connection.execution_options(reads=True).execute(wanted)
            return frozenset(row.id for row in rows)

    def revoke(self, short: str) -> None:
        """From now on it opens nothing."""
        change = sa.update(table).where(table.c.id == short, table.c.revoked.is_(None))
        with self._store.guarded(), self._store.engine.begin() as connection:
            done = connection.execute(change.values(revoked=time.time())).rowcount
        if not done:
            known = ", ".join(each.id for each in self.all() if each.revoked is None) or "none"
            raise BadArgument("token", short, f"the id of a token in use: {known}")

    def holder(self, given: str) -> Token | None:
        """Whose token it is; None if it is unknown or revoked."""
        short = token_id(given)
        if short is None:
            return None
        columns = [table.c[name] for name in Token._fields]
        wanted = sa.select(table.c.digest, *columns).where(table.c.id == short)
        with self._store.guarded(), self._store.engine.connect() as connection:
            row = connection.execution_options(reads=True).execute(wanted).first()
        digest = row.digest if row is not None else _digest("")
        same = hmac.compare_digest(digest, _digest(given.split("_", 2)[2]))
        if row is None or not same or row.revoked is not None:
            return None
        return Token(*row[1:])


def token_id(given: str) -> str | None:
    """The part of a token that is no secret; None if it cannot be a token."""
    found = TOKEN.fullmatch(given)
    return None if found is None else found[1]


def _digest(secret: str) -> str:
    """Secrets have 256 random bits: a plain hash is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()
