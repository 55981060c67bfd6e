"""What a request must pass before anything is done for it: one place, whichever way it takes."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from stopwise.web.access import Access
from stopwise.web.middleware.authentication import Authentication
from stopwise.web.middleware.content_type import ContentType
from stopwise.web.middleware.printable_path import PrintablePath
from stopwise.web.middleware.rate_limit import RateLimit
from stopwise.web.middleware.trusted_host import TrustedHost
from stopwise.web.roles import Roles


class Checks:
    """One concern each, in this order."""

    def __init__(self, hosts: frozenset[str], access: Access, roles: Roles) -> None:
        self._roles = roles
        self._path, self._host, self._kind = PrintablePath(), TrustedHost(hosts), ContentType()
        self._rate, self._holder = RateLimit(access), Authentication(access)

    async def refusal(self, scope: Scope, role: str | None = None) -> Response | None:
        """Why a request for a route of this role (None: of the route that matches) does not pass."""
        return (
            self._path.refusal(scope)
            or self._host.refusal(scope)
            or self._kind.refusal(scope)
            or self._rate.refusal(scope)
            or await self._holder.refusal(scope, role or self._roles.needed(scope))
        )


class Checked:
    """Passes on what passes the checks."""

    def __init__(self, app: ASGIApp, checks: Checks) -> None:
        self._app, self._checks = app, checks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        refused = await self._checks.refusal(scope) if scope["type"] == "http" else None
        await (refused or self._app)(scope, receive, send)
