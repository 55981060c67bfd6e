"""Method and media type: GET, HEAD, and POST of JSON."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from stopwise.web.middleware.http import parsed, refusal

METHODS = ("GET", "HEAD", "POST")
JSON = "application/json"


class ContentType:
    """Refuses other methods and media types: a form of another page cannot send JSON."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        refused = _refusal(scope) if scope["type"] == "http" else None
        await (refused or self._app)(scope, receive, send)


def _refusal(scope: Scope) -> Response | None:
    method = scope["method"]
    if method not in METHODS:
        message = f"{method} is not allowed; GET and POST are."
        return refusal(405, "MethodNotAllowed", message, {"allow": ", ".join(METHODS)})
    if method != "POST":
        return None
    kind = parsed(scope).headers.get(b"content-type", "").split(";")[0].strip().lower()
    if kind == JSON:
        return None
    message = f"got {kind or 'no content type'!r}; allowed: {JSON}."
    return refusal(415, "UnsupportedMediaType", message)
