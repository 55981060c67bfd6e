"""Bodies of bounded size, read before anything is done with them."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stopwise.web.middleware.http import parsed, refusal

LARGEST_BODY = 1_000_000


class BodyLimit:
    """Refuses a body that is too large, before it is read whole."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = await read_body(scope, receive)
        if isinstance(body, bytes):
            await self._app(scope, _replayed(body, receive), send)
        else:
            await body(scope, receive, send)


async def read_body(scope: Scope, receive: Receive) -> bytes | Response:
    """The whole body, or a refusal."""
    length = parsed(scope).headers.get(b"content-length", "")
    if length.isdecimal() and int(length) > LARGEST_BODY:
        return _too_large()
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return refusal(400, "Disconnected", "the request ended early.")
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > LARGEST_BODY:
            return _too_large()
    return body


def _too_large() -> Response:
    return refusal(413, "TooLarge", f"the body is larger than {LARGEST_BODY:,} bytes.")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body as one message; then whatever comes."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
