"""Campaigns of earlier versions may have a slash in their names: %2F in an address is part of a name."""

from __future__ import annotations

from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

SLASH = "\ue000"  # no name has this: it cannot be printed


class EncodedSlash:
    """Servers decode an address before it is cut at its slashes; here it is cut first."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "http" and has_encoded_slash(scope):
            parts = scope["raw_path"].decode("latin-1").split("/")
            path = "/".join(unquote(part).replace("/", SLASH) for part in parts)
            scope = {**scope, "path": path}
        await self._app(scope, receive, send)


def has_encoded_slash(scope: Scope) -> bool:
    """Whether the address means something else than it seems once it is decoded."""
    return b"%2f" in scope.get("raw_path", b"").lower()


def whole_name(name: str) -> str:
    """A name from an address, as it is stored."""
    return name.replace(SLASH, "/")
