"""Method and media type: GET, HEAD, and POST of JSON."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import Scope

from stopwise.web.middleware.http import parsed, refusal

METHODS = ("GET", "HEAD", "POST")
JSON = "application/json"


class ContentType:
    """Refuses other methods and media types: a form of another page cannot send JSON."""

    def refusal(self, scope: Scope) -> Response | None:
        """Why a request does not pass."""
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
