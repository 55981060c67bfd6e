"""A token bucket for each known bearer token, and for each address of those who have none."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import NamedTuple

from starlette.responses import Response
from starlette.types import Scope

from stopwise.web.access import Access
from stopwise.web.middleware.http import address, parsed, refusal

MOST_CLIENTS = 10_000  # that are remembered


class Limit(NamedTuple):
    """Requests of one client."""

    rate: float  # a second
    burst: float  # at once


KNOWN = Limit(2000.0, 4000.0)  # who has a token; and everybody, where none is needed
STRANGER = Limit(50.0, 200.0)  # who has none, or one that is made up


class RateLimit:
    """Refuses clients that send too many requests.

    A token counts only if the store knows it, so nobody gets a new allowance by making one up. The
    first request of a token that has not been seen yet counts for its address.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # left, at this time

    def refusal(self, scope: Scope) -> Response | None:
        """Why a request does not pass."""
        limit = self._exceeded(scope)
        if limit is None:
            return None
        message = f"more than {limit.rate:g} requests a second. Slow down."
        return refusal(429, "TooManyRequests", message, {"retry-after": "1"})

    def _exceeded(self, scope: Scope) -> Limit | None:
        """The limit that a client has reached."""
        known = self._access.remembered(parsed(scope).token) if self._access.seems_closed else None
        if known is not None:
            client, limit = f"token {known.id}", KNOWN
        else:
            limit = STRANGER if self._access.seems_closed else KNOWN
            client = f"address {address(scope)}"
        return None if self._allows(client, limit) else limit

    def _allows(self, client: str, limit: Limit) -> bool:
        now = time.monotonic()
        left, since = self._buckets.pop(client, (limit.burst, now))
        left = min(limit.burst, left + limit.rate * (now - since))
        self._buckets[client] = (max(left - 1.0, 0.0) if left >= 1.0 else left, now)
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return left >= 1.0
