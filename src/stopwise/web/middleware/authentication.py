"""Who may do what: bearer tokens, and the role that each request needs."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import Scope

from stopwise.core.errors import StopwiseError
from stopwise.web.access import Access
from stopwise.web.middleware.http import ALLOWED, HOLDER, parsed, refusal
from stopwise.web.roles import ANYBODY
from stopwise.web.tokens import ROLES

CHALLENGE = {"www-authenticate": "Bearer"}
AGAIN = {"retry-after": "1"}


class Authentication:
    """Lets a request pass if its token has the role that it needs."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def refusal(self, scope: Scope, needed: str) -> Response | None:
        """Why a request that needs this role does not pass."""
        scope[ALLOWED] = lambda: self._still_allowed(scope, needed)
        try:
            return await self._refusal(scope, needed)
        except (
            StopwiseError
        ):  # the store is away: whoever asks is not known, and is told no address
            return refusal(503, "StorageAway", "the storage does not answer. Try again.", AGAIN)

    async def _still_allowed(self, scope: Scope, needed: str) -> bool:
        """For answers that take long: whether the same request would pass now."""
        try:
            return await self._refusal(scope, needed) is None
        except StopwiseError:  # the store is away: nobody's token has changed
            return True

    async def _refusal(self, scope: Scope, needed: str) -> Response | None:
        given = parsed(scope).token
        if needed == ANYBODY or not await self._access.closed():
            return None
        if given is None:
            message = "a token is needed: Authorization: Bearer sw_..."
            return refusal(401, "NoToken", message, CHALLENGE)
        holder = await self._access.holder(given)
        if holder is None:
            message = "the token is not known, or was revoked."
            return refusal(401, "UnknownToken", message, CHALLENGE)
        scope[HOLDER] = holder
        if ROLES.index(holder.role) < ROLES.index(needed):
            message = f"the token may {holder.role}; this needs {needed}."
            return refusal(403, "NotAllowed", message)
        return None
