"""Security headers on every answer, and no caching unless the answer allows it."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

Header = tuple[bytes, bytes]
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (b"cache-control", b"no-store"),
)
NAMES = frozenset(name for name, _ in HEADERS)


class SecurityHeaders:
    """Adds those that an answer does not set itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": completed(message.get("headers", []))}
            await send(message)

        await self._app(scope, receive, send_with_headers)


def completed(own: Iterable[Header]) -> list[Header]:
    """An answer's own headers, and ours."""
    found = list(own)
    set_already = NAMES.intersection([name for name, _ in found])
    if not set_already:
        return [*found, *HEADERS]
    return [*found, *(pair for pair in HEADERS if pair[0] not in set_already)]
