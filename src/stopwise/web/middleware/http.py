"""What several middlewares need of a request, and how they refuse one."""

from __future__ import annotations

from typing import NamedTuple

from starlette.responses import JSONResponse
from starlette.types import Scope

PARSED = "stopwise.parsed"  # where a scope keeps what was parsed


class Parsed(NamedTuple):
    """A request's headers by their names in small letters, and its bearer token."""

    headers: dict[bytes, str]
    token: str | None


def parsed(scope: Scope) -> Parsed:
    """The same for every middleware: parsed once."""
    found: Parsed | None = scope.get(PARSED)
    if found is None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        found = scope[PARSED] = Parsed(headers, _bearer(headers.get(b"authorization", "")))
    return found


def _bearer(authorization: str) -> str | None:
    scheme, _, token = authorization.partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def refusal(
    status: int, error: str, message: str, headers: dict[str, str] | None = None
) -> JSONResponse:
    """An answer instead of the one that was asked for."""
    return JSONResponse({"error": error, "message": message}, status, headers)
