"""Who may do what: bearer tokens, and the role that each request needs."""

from __future__ import annotations

import time
from collections import OrderedDict

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from stopwise.web.middleware.http import parsed, refusal
from stopwise.web.tokens import ROLES, Tokens

OPEN = ("/", "/health", "/ready")  # what anybody may see, and /static/: no data
REMEMBERED = 5.0  # seconds for which a token's role is remembered
MOST_TOKENS = 10_000  # that are remembered
# what only admins do with a campaign
MANAGE = frozenset({"pause", "resume", "close", "archive", "unarchive", "rename", "change"})
CHALLENGE = {"www-authenticate": "Bearer"}


class Authentication:
    """Lets a request pass if its token has the role that it needs."""

    def __init__(self, app: ASGIApp, tokens: Tokens) -> None:
        self._app, self._tokens = app, tokens
        self._roles: OrderedDict[str, tuple[float, str | None]] = OrderedDict()  # until, role

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        refused = await self._refusal(scope) if scope["type"] == "http" else None
        await (refused or self._app)(scope, receive, send)

    async def _refusal(self, scope: Scope) -> Response | None:
        needed, given = _needed(scope["method"], scope["path"]), parsed(scope).token
        if needed is None:
            return None
        if given is None:
            message = "a token is needed: Authorization: Bearer sw_..."
            return refusal(401, "NoToken", message, CHALLENGE)
        role = await self._role(given)
        if role is None:
            message = "the token is not known, or was revoked."
            return refusal(401, "UnknownToken", message, CHALLENGE)
        if ROLES.index(role) < ROLES.index(needed):
            return refusal(403, "NotAllowed", f"the token may {role}; this needs {needed}.")
        return None

    async def _role(self, given: str) -> str | None:
        now = time.monotonic()
        until, role = self._roles.get(given, (0.0, None))
        if now >= until:
            role = await run_in_threadpool(self._tokens.role, given)
            self._roles[given] = (now + REMEMBERED, role)
            if len(self._roles) > MOST_TOKENS:
                self._roles.popitem(last=False)
        return role


def _needed(method: str, path: str) -> str | None:
    """The role that a request needs; None: it is open to everybody."""
    if path in OPEN or path.startswith("/static/"):
        return None
    if method != "POST":
        return "read"
    manages = path == "/api/campaigns" or path.rpartition("/")[2] in MANAGE
    return "admin" if manages else "work"
