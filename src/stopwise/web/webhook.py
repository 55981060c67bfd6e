"""Tells another service of every decision, whoever made it: signed, tried again, and bounded.

A thread looks for decisions that nobody was told of, and claims each in the store before it is sent:
of several services on one store only one sends it, and another one only if that one does not come back
within ``CLAIMED`` seconds. What was sent is kept, so that a restart repeats nothing; decisions that were
there before the first start are not sent.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import logging
import threading
import time
import traceback
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

import sqlalchemy as sa
from sqlalchemy import exc

from stopwise.campaign.storage.store import Store
from stopwise.campaign.storage.tables import campaigns
from stopwise.core.errors import BadArgument, StopwiseError

EVERY = 2.0  # seconds between two looks
TIMEOUT = 10.0  # of one request
CLAIMED = 120.0  # seconds for which nobody else sends it
TRIES = 10  # the last one after about 17 minutes; then it is given up, and logged
MOST = 100  # decisions of one look
NEAR = ("127.0.0.1", "localhost", "::1")

log = logging.getLogger("stopwise.web")
table = sa.Table(
    "stopwise_webhooks",
    sa.MetaData(),
    sa.Column("campaign", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("done", sa.Boolean, nullable=False),
    sa.Column("again", sa.Float(53), nullable=False),
)


class News(NamedTuple):
    """A decision that is to be told."""

    id: int
    name: str
    decision: str
    tries: int


class Webhook:
    """One address for all decisions of a store."""

    def __init__(self, store: Store, url: str, secret: str) -> None:
        parts = _parts(url)
        if parts is None or parts.scheme not in ("https", "http") or not parts.hostname:
            raise BadArgument("webhook", url, "an address such as https://example.org/hook")
        if parts.scheme == "http" and parts.hostname not in NEAR:
            raise BadArgument("webhook", url, "https, or http on this machine")
        if len(secret) < 16:
            hint = "Set STOPWISE_WEBHOOK_SECRET: whoever receives it checks the signature with it."
            raise BadArgument("webhook", url, "a secret of at least 16 characters", hint)
        self._store, self._parts, self._secret = store, parts, secret.encode()
        self._prepare()

    def start(self) -> None:
        """Look on, in a thread that ends with the process."""
        threading.Thread(target=self._run, name="stopwise-webhook", daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                self.look()
            except StopwiseError as error:  # the store is away: try again
                log.warning(json.dumps({"webhook": str(error)}))
            except Exception as error:  # the thread goes on, whatever it was
                log.error(json.dumps({"webhook": "".join(traceback.format_exception(error))}))
            time.sleep(EVERY)

    def _prepare(self) -> None:
        """At the first start all decisions so far count as told."""
        try:
            self._create_table()
        except (StopwiseError, exc.SQLAlchemyError):  # another service may have been faster
            with self._store.guarded(), self._store.engine.connect() as connection:
                if not sa.inspect(connection).has_table(table.name):
                    raise

    def _create_table(self) -> None:
        with self._store.guarded(), self._store.engine.begin() as connection:
            if sa.inspect(connection).has_table(table.name):
                return
            table.create(connection)
            decided = sa.select(campaigns.c.id).where(campaigns.c.decision.is_not(None))
            for (each,) in connection.execute(decided).all():
                row = {"campaign": each, "tries": 0, "done": True, "again": 0.0}
                connection.execute(sa.insert(table), row)

    def look(self) -> int:
        """Tell what is to be told now; how many decisions arrived."""
        return sum(self._tell(news) for news in self._news() if self._claimed(news))

    def _claimed(self, news: News) -> bool:
        """Whether this service is the one that sends it: a try is counted before it is made."""
        now = time.time()
        row = {"tries": news.tries + 1, "again": now + CLAIMED}
        change = sa.update(table).where(
            table.c.campaign == news.id,
            table.c.done.is_(sa.false()),
            table.c.again <= now,
        )
        try:
            with self._store.guarded(), self._store.engine.begin() as connection:
                if not news.tries:
                    first = {"campaign": news.id, "done": False, **row}
                    connection.execute(sa.insert(table), first)
                    return True
                return bool(connection.execute(change.values(**row)).rowcount)
        except exc.IntegrityError:  # another service has it
            return False

    def _news(self) -> list[News]:
        wanted = (
            sa.select(campaigns.c.id, campaigns.c.name, campaigns.c.decision, table.c.tries)
            .join(table, table.c.campaign == campaigns.c.id, isouter=True)
            .where(
                campaigns.c.decision.is_not(None),
                sa.or_(table.c.done.is_(None), table.c.done.is_(sa.false())),
                sa.or_(table.c.again.is_(None), table.c.again <= time.time()),
            )
            .limit(MOST)
        )
        with self._store.guarded(), self._store.engine.connect() as connection:
            rows = connection.execution_options(reads=True).execute(wanted).all()
        return [News(*row[:3], row[3] or 0) for row in rows]

    def _tell(self, news: News) -> bool:
        body = json.dumps({"campaign": news.name, "decision": json.loads(news.decision)}).encode()
        arrived, why = self._send(body)
        tries = news.tries + 1
        over = arrived or tries >= TRIES
        self._note(news.id, over, time.time() + 2.0**tries)
        if over and not arrived:
            log.error(json.dumps({"webhook": f"given up after {tries} tries", "why": why}))
        return arrived

    def _send(self, body: bytes) -> tuple[bool, str]:
        """Whether it arrived; redirections are not followed."""
        now = str(int(time.time()))
        signature = hmac.new(self._secret, now.encode() + b"." + body, hashlib.sha256).hexdigest()
        headers = {
            "content-type": "application/json",
            "x-stopwise-time": now,
            "x-stopwise-signature": f"sha256={signature}",
        }
        secure = self._parts.scheme == "https"
        kind: Any = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        line = kind(self._parts.hostname, self._parts.port, timeout=TIMEOUT)
        path = (self._parts.path or "/") + (f"?{self._parts.query}" if self._parts.query else "")
        try:
            line.request("POST", path, body, headers)
            status = line.getresponse().status
        except (
            OSError,
            ValueError,
            http.client.HTTPException,
        ) as error:  # ValueError: a host's name
            return False, str(error) or type(error).__name__
        finally:
            line.close()
        return 200 <= status < 300, f"status {status}"

    def _note(self, campaign: int, done: bool, again: float) -> None:
        change = sa.update(table).where(table.c.campaign == campaign)
        with self._store.guarded(), self._store.engine.begin() as connection:
            connection.execute(change.values(done=done, again=again))


def _parts(url: str) -> SplitResult | None:
    """None for what is not an address, such as one with a space, or a port that cannot be."""
    if not (url.isascii() and url.isprintable()) or " " in url:
        return None
    try:
        parts = urlsplit(url)
        return None if parts.port == 0 else parts
    except ValueError:
        return None
