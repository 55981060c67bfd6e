"""A token bucket for each bearer token or address."""

from __future__ import annotations

import time
from collections import OrderedDict

from starlette.types import ASGIApp, Receive, Scope, Send

from stopwise.web.middleware.http import parsed, refusal

RATE, BURST = 2000.0, 4000.0  # requests a second of one client, and how many at once
MOST_CLIENTS = 10_000  # that are remembered


class RateLimit:
    """Refuses clients that send too many requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # left, at this time

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "http" and not self._allows(_client(scope)):
            message = f"more than {RATE:g} requests a second. Slow down."
            await refusal(429, "TooManyRequests", message)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _allows(self, client: str) -> bool:
        now = time.monotonic()
        left, since = self._buckets.pop(client, (BURST, now))
        left = min(BURST, left + RATE * (now - since))
        self._buckets[client] = (left - 1.0, now)
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return left >= 1.0


def _client(scope: Scope) -> str:
    address = scope["client"][0] if scope.get("client") else "?"
    return parsed(scope).token or address
