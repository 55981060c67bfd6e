"""Which role each route needs: one table. A route that is not in it is not served."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.types import Scope

ANYBODY = "anybody"  # no token is needed; the other roles are those of tokens

CAMPAIGN = "/api/campaigns/{name}"
NEEDED = {
    "GET /": ANYBODY,
    "GET /health": ANYBODY,
    "GET /ready": ANYBODY,
    "GET /static": ANYBODY,
    "GET /metrics": "read",
    "GET /api/openapi.json": "read",
    "GET /api/schema": "read",
    "GET /api/campaigns": "read",
    f"GET {CAMPAIGN}": "read",
    f"GET {CAMPAIGN}/explain": "read",
    f"GET {CAMPAIGN}/recommend": "read",
    f"GET {CAMPAIGN}/verify": "read",
    f"GET {CAMPAIGN}/events": "read",
    f"GET {CAMPAIGN}/export": "read",
    f"GET {CAMPAIGN}/page": "read",
    f"GET {CAMPAIGN}/stream": "read",
    "POST /api/preview": "work",
    f"POST {CAMPAIGN}/ask": "work",
    f"POST {CAMPAIGN}/tell": "work",
    f"POST {CAMPAIGN}/tells": "work",
    f"POST {CAMPAIGN}/record": "work",
    f"POST {CAMPAIGN}/records": "work",
    f"POST {CAMPAIGN}/release": "work",
    f"POST {CAMPAIGN}/heartbeat": "work",
    f"POST {CAMPAIGN}/expire": "work",
    f"POST {CAMPAIGN}/note": "work",
    f"POST {CAMPAIGN}/import": "work",
    "POST /api/campaigns": "admin",
    f"POST {CAMPAIGN}/add": "admin",
    f"POST {CAMPAIGN}/pause": "admin",
    f"POST {CAMPAIGN}/resume": "admin",
    f"POST {CAMPAIGN}/close": "admin",
    f"POST {CAMPAIGN}/archive": "admin",
    f"POST {CAMPAIGN}/unarchive": "admin",
    f"POST {CAMPAIGN}/rename": "admin",
    f"POST {CAMPAIGN}/change": "admin",
}


class Roles:
    """The role of a request is that of the route that will answer it."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        self._routes = routes
        served = {key for route in routes for key in _keys(route)}
        if served != NEEDED.keys():
            odd = ", ".join(sorted(served ^ NEEDED.keys()))
            raise ValueError(f"routes without a role, or roles without a route: {odd}")

    def needed(self, scope: Scope) -> str:
        """The role that a request needs; where there is no route, whoever may look may know it."""
        for route in self._routes:
            if route.matches(scope)[0] is Match.FULL:
                return NEEDED[_key(route, scope["method"])]
        return "read"


def _keys(route: BaseRoute) -> list[str]:
    methods = route.methods or () if isinstance(route, Route) else ("GET",)
    return [_key(route, method) for method in methods]


def _key(route: BaseRoute, method: str) -> str:
    """A file of a mounted folder is only ever read, and HEAD is GET without the body."""
    assert isinstance(route, (Route, Mount)), route
    only_read = isinstance(route, Mount) or method == "HEAD"
    return f"{'GET' if only_read else method} {route.path}"
