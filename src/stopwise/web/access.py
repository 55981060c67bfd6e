"""Who is known to the service, and whether it needs a token at all."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict

from starlette.concurrency import run_in_threadpool

from stopwise.web.tokens import NOTICED, Token, Tokens

REMEMBERED = 2.0  # seconds for which a token is known without another look
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
