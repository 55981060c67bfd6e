"""Host and Origin: only names of this service, and only its own pages."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import Scope

from stopwise.web.middleware.http import parsed, refusal


class TrustedHost:
    """Refuses other hosts, against DNS rebinding, and pages of other origins."""

    def __init__(self, hosts: frozenset[str]) -> None:
        self._hosts = hosts

    def refusal(self, scope: Scope) -> Response | None:
        """Why a request does not pass."""
        given, _, twice = parsed(scope)
        if twice is not None:
            return refusal(400, "BadHeaders", f"the header {twice} came twice; allowed: once.")
        host = _without_port(given.get(b"host", ""))
        if host not in self._hosts:
            allowed = ", ".join(sorted(self._hosts))
            return refusal(421, "WrongHost", f"got the host {host!r}; allowed: {allowed}.")
        origin = given.get(b"origin")
        if origin is not None and origin.partition("://")[2] != given.get(b"host"):
            return refusal(403, "WrongOrigin", f"requests from pages of {origin!r} are refused.")
        return None


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.split("]")[0] + "]"
    return host.split(":")[0].lower()
