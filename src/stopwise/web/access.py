"""Who is known to the service, and whether it needs a token at all."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict

from starlette.concurrency import run_in_threadpool

from stopwise.web.tokens import NOTICED, Token, Tokens, token_id

REMEMBERED = 2.0  # seconds for which a token is known without another look
IDS = 1.0  # seconds for which the ids of all tokens are not looked up again
MOST_TOKENS = 10_000  # that are remembered


class Access:
    """The tokens of a store, as a service that runs sees them.

    Without any token, ever, the service is open. The first token closes it for good: a look at the store
    is never older than ``NOTICED``, which is how long the first token's maker waits. ``always_open`` is
    for those who said so.
    """

    def __init__(self, tokens: Tokens, always_open: bool = False) -> None:
        self._tokens, self.always_open = tokens, always_open
        self._closed, self._looked, self._looking = False, float("-inf"), asyncio.Lock()
        self._asked: dict[str, asyncio.Future[Token | None]] = {}  # who waits for the store
        self._ids: frozenset[str] = frozenset()  # of all tokens in use
        self._ids_looked, self._ids_asked = float("-inf"), False
        self._known: OrderedDict[str, tuple[float, Token]] = OrderedDict()  # looked up at this time

    async def closed(self) -> bool:
        """Whether a token is needed."""
        if self.always_open or self._closed or self._fresh():
            return self._closed
        async with self._looking:  # one for all who wait
            if not self._fresh():
                started = time.monotonic()
                self._closed = await run_in_threadpool(self._tokens.any)
                self._looked = started
        return self._closed

    def _fresh(self) -> bool:
        return time.monotonic() < self._looked + NOTICED

    @property
    def seems_closed(self) -> bool:
        """Whether a token was needed when somebody last looked."""
        return self._closed

    def remembered(self, given: str | None) -> Token | None:
        """Whose token it is, if the store has said so, be it a while ago: no proof, but not made up."""
        found = self._known.get(given) if given is not None else None
        return None if found is None else found[1]

    def issued(self, given: str | None) -> str | None:
        """The id that a token names, if the store has it: that says nothing of the rest of the token.

        What is known of ids may be a second old; a later one is looked up meanwhile.
        """
        short = None if given is None else token_id(given)
        if short is None:
            return None
        if time.monotonic() > self._ids_looked + IDS and not self._ids_asked:
            self._ids_asked = True
            asked = asyncio.ensure_future(self._look_up_ids())
            asked.add_done_callback(lambda done: done.exception())  # the store is away: later
        return short if short in self._ids else None

    async def _look_up_ids(self) -> None:
        self._ids_looked = time.monotonic()
        try:
            self._ids = await run_in_threadpool(self._tokens.ids)
        finally:
            self._ids_asked = False

    async def holder(self, given: str) -> Token | None:
        """Whose token it is; None if it is unknown, or was revoked."""
        looked, token = self._known.get(given, (float("-inf"), None))
        if time.monotonic() < looked + REMEMBERED:
            return token
        asked = self._asked.get(given)
        if asked is None:
            asked = self._asked[given] = asyncio.ensure_future(self._look_up(given))
            asked.add_done_callback(lambda _: self._asked.pop(given, None))
        return await asyncio.shield(asked)

    async def _look_up(self, given: str) -> Token | None:
        now = time.monotonic()
        token = await run_in_threadpool(self._tokens.holder, given)
        self._known.pop(given, None)
        if token is not None:  # what is made up is not kept
            self._known[given] = (now, token)
            if len(self._known) > MOST_TOKENS:
                self._known.popitem(last=False)
        return token
