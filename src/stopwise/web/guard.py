"""Who may do what: roles, host, origin, content type, sizes and rates; and headers on every answer."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool

from stopwise.web.tokens import ROLES, Tokens

LARGEST_BODY = 1_000_000
RATE, BURST = 2000.0, 4000.0  # requests a second of one address or token, and how many at once
REMEMBERED = 5.0  # seconds for which a token's role is remembered
OPEN = ("/", "/health", "/ready", "/static/")  # what anybody may see: no data
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
)


class Rules(NamedTuple):
    """What the guard must know."""

    hosts: frozenset[str]  # names under which the service may be asked for
    tokens: Tokens | None  # None: open to everybody who can reach it


class Refused(Exception):
    """An answer instead of the one that was asked for."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        self.status, self.kind, self.message = status, kind, message
        super().__init__(message)


class Guard:
    """Stands before the application."""

    def __init__(self, app: Any, rules: Rules) -> None:
        self._app, self._rules = app, rules
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._roles: OrderedDict[str, tuple[float, str | None]] = OrderedDict()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Let a request pass, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_safely(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", []))
                names = {name for name, _ in headers}
                headers += [pair for pair in HEADERS if pair[0] not in names]
                if b"cache-control" not in names:
                    headers.append((b"cache-control", b"no-store"))
                message = {**message, "headers": headers}
            await send(message)

        try:
            await self._check(scope)
            await self._app(scope, await _bounded(scope, receive), send_safely)
        except Refused as refused:
            await _answer(refused, send_safely)

    async def _check(self, scope: Any) -> None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        self._check_host(headers)
        path, method = scope["path"], scope["method"]
        if method not in ("GET", "HEAD", "POST"):
            raise Refused(405, "MethodNotAllowed", f"{method} is not allowed; GET and POST are.")
        if method == "POST":
            kind = headers.get(b"content-type", "").split(";")[0].strip().lower()
            if kind != "application/json":
                raise Refused(
                    415,
                    "UnsupportedMediaType",
                    f"got {kind or 'no content type'!r}; allowed: application/json.",
                )
        given = _token(headers)
        address = scope["client"][0] if scope.get("client") else "?"
        self._check_rate(given or address)
        if path in OPEN or path.startswith("/static/"):
            return
        await self._check_role(given, _needed(method, path))

    def _check_host(self, headers: dict[bytes, str]) -> None:
        host = _bare(headers.get(b"host", ""))
        if host not in self._rules.hosts:
            raise Refused(
                421,
                "WrongHost",
                f"got the host {host!r}; allowed: {', '.join(sorted(self._rules.hosts))}.",
            )
        origin = headers.get(b"origin")
        if origin is not None and urlsplit(origin).netloc != headers.get(b"host"):
            raise Refused(403, "WrongOrigin", f"requests from pages of {origin!r} are refused.")

    def _check_rate(self, who: str) -> None:
        now = time.monotonic()
        left, since = self._buckets.pop(who, (BURST, now))
        left = min(BURST, left + RATE * (now - since))
        self._buckets[who] = (left - 1.0, now)
        if len(self._buckets) > 10_000:
            self._buckets.popitem(last=False)
        if left < 1.0:
            raise Refused(
                429, "TooManyRequests", f"more than {RATE:g} requests a second. Slow down."
            )

    async def _check_role(self, given: str | None, needed: str) -> None:
        tokens = self._rules.tokens
        if tokens is None:
            return
        if given is None:
            raise Refused(401, "NoToken", "a token is needed: Authorization: Bearer sw_...")
        role = await self._role(tokens, given)
        if role is None:
            raise Refused(401, "UnknownToken", "the token is not known, or was revoked.")
        if ROLES.index(role) < ROLES.index(needed):
            raise Refused(403, "NotAllowed", f"the token may {role}; this needs {needed}.")

    async def _role(self, tokens: Tokens, given: str) -> str | None:
        now = time.monotonic()
        until, role = self._roles.get(given, (0.0, None))
        if now >= until:
            role = await run_in_threadpool(tokens.role, given)
            self._roles[given] = (now + REMEMBERED, role)
            if len(self._roles) > 10_000:
                self._roles.popitem(last=False)
        return role


def _needed(method: str, path: str) -> str:
    """The role that a request needs."""
    if method != "POST":
        return "read"
    return "admin" if path == "/api/campaigns" else "work"


def _token(headers: dict[bytes, str]) -> str | None:
    scheme, _, token = headers.get(b"authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def _bare(host: str) -> str:
    """A host without its port."""
    if host.startswith("["):
        return host.split("]")[0] + "]"
    return host.split(":")[0].lower()


async def _bounded(scope: Any, receive: Any) -> Any:
    """A body that is too large is refused before it is read whole."""
    if scope["method"] != "POST":
        return receive
    too_large = Refused(413, "TooLarge", f"the body is larger than {LARGEST_BODY:,} bytes.")
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > LARGEST_BODY:
            raise too_large
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise Refused(400, "Disconnected", "the request ended early.")
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > LARGEST_BODY:
            raise too_large
    given = False

    async def again() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _answer(refused: Refused, send: Any) -> None:
    body = json.dumps({"error": refused.kind, "message": refused.message}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    if refused.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if refused.status == 405:
        headers.append((b"allow", b"GET, HEAD, POST"))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
