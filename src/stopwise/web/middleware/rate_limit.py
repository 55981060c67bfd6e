"""A token bucket for each known bearer token, and for each address of those who have none."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from functools import lru_cache
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
ISSUED = Limit(5.0, 20.0)  # a token that has not been seen yet, if the store has its id


@lru_cache(maxsize=1000)
def loopback(where: str) -> bool:
    """Whether an address is this machine's own."""
    try:
        return ipaddress.ip_address(where).is_loopback
    except ValueError:
        return False


class RateLimit:
    """Refuses clients that send too many requests.

    A token counts only if the store knows it, so nobody gets a new allowance by making one up. One that
    has not been seen yet counts for its address; if the store has its id, only after a small allowance
    of its own, so that others there do not hold it up. An open service does not limit its own machine.
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
        where, token = address(scope), parsed(scope).token
        if not self._access.seems_closed:
            if loopback(where):
                return None
            client, limit = f"address {where}", KNOWN
        elif (known := self._access.remembered(token)) is not None:
            client, limit = f"token {known.id}", KNOWN
        else:
            client, limit = f"address {where}", STRANGER
            issued = self._access.issued(token)
            if issued is not None and self._allows(f"token {issued} at {where}", ISSUED):
                return None
        return None if self._allows(client, limit) else limit

    def _allows(self, client: str, limit: Limit) -> bool:
        now = time.monotonic()
        left, since = self._buckets.pop(client, (limit.burst, now))
        left = min(limit.burst, left + limit.rate * (now - since))
        self._buckets[client] = (max(left - 1.0, 0.0) if left >= 1.0 else left, now)
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return left >= 1.0
