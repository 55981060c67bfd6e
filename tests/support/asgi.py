"""The application without a socket: one request at a time, whatever its path looks like."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import unquote

from stopwise.campaign.storage.store import Store
from stopwise.web.app import create_app

HOST = "127.0.0.1"


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes


@asynccontextmanager
async def running(store: Store, always_open: bool = False) -> AsyncIterator[Any]:
    """The application between its start and its end."""
    app = create_app(store, frozenset({HOST}), always_open)
    async with app.router.lifespan_context(app):
        yield app


async def call(
    app: Any,
    method: str,
    raw_path: bytes,
    body: bytes = b"",
    token: str | None = None,
    client: str = "127.0.0.1",
    more: tuple[tuple[bytes, bytes], ...] = (),
) -> Answer:
    """One request: the path as it stands in the request line, decoded as uvicorn does."""
    headers = [(b"host", HOST.encode()), *more]
    if method == "POST":
        headers.append((b"content-type", b"application/json"))
    if token is not None:
        headers.append((b"authorization", f"Bearer {token}".encode()))
    path, _, query = raw_path.partition(b"?")
    scope: dict[str, Any] = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
        "server": (HOST, 80), "client": (client, 1), "scheme": "http", "root_path": "",
        "method": method, "path": unquote(path.decode("latin-1")), "raw_path": path,
        "query_string": query, "headers": headers, "state": {},
    }  # fmt: skip
    sent: list[dict[str, Any]] = []
    given = False

    async def receive() -> dict[str, Any]:
        nonlocal given
        if given:
            await asyncio.Event().wait()  # the client stays
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    text = b"".join(each.get("body", b"") for each in sent[1:])
    return Answer(sent[0]["status"], dict(sent[0]["headers"]), text)
