"""What several middlewares need of a request, and how they refuse one."""

from __future__ import annotations

from typing import NamedTuple

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

# where a scope keeps
PARSED = "stopwise.parsed"  # what was parsed
HOLDER = "stopwise.holder"  # whose token it is, once that is certain
ALLOWED = "stopwise.allowed"  # a function: whether the request would still pass
REFUSED = "stopwise.refused"  # why it was refused


ONCE = (b"host", b"origin", b"authorization", b"content-type")  # or else whose word counts?


class Parsed(NamedTuple):
    """A request's headers by their names in small letters, and its bearer token."""

    headers: dict[bytes, str]
    token: str | None
    twice: str | None  # a header that came more than once, and must not


def parsed(scope: Scope) -> Parsed:
    """The same for every middleware: parsed once."""
    found: Parsed | None = scope.get(PARSED)
    if found is None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        token = _bearer(headers.get(b"authorization", ""))
        several = len(headers) < len(scope["headers"])
        found = scope[PARSED] = Parsed(headers, token, _twice(scope) if several else None)
    return found


def _twice(scope: Scope) -> str | None:
    names = [name for name, _ in scope["headers"]]
    return next((name.decode() for name in ONCE if names.count(name) > 1), None)


def _bearer(authorization: str) -> str | None:
    scheme, _, token = authorization.partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


class Refusal(JSONResponse):
    """An answer instead of the one that was asked for; the scope keeps why."""

    error = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        scope[REFUSED] = self.error
        await super().__call__(scope, receive, send)


def refusal(
    status: int, error: str, message: str, headers: dict[str, str] | None = None
) -> Refusal:
    """A request is refused, for this reason."""
    found = Refusal({"error": error, "message": message}, status, headers)
    found.error = error
    return found


def address(scope: Scope) -> str:
    """Where a request comes from."""
    return str(scope["client"][0]) if scope.get("client") else "?"
