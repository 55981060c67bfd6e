"""Connections that wait for a request: for a bounded time, and a bounded number of them."""

from __future__ import annotations

import asyncio
import functools
import json
import logging
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from uvicorn import Config

log = logging.getLogger("stopwise.web")
HEADERS = 5.0  # seconds from a connection, or a request's first byte, to the end of its headers
BODY = 10.0  # seconds from there to the end of its body
HALF_OPEN = 1000  # connections that may wait so at once: for one more the oldest is closed


class Connections:
    """Those whose request has not come, or not wholly."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[Protocol, asyncio.TimerHandle] = OrderedDict()
        self._timed_out = 0

    def __contains__(self, connection: object) -> bool:
        return connection in self._waiting

    def __len__(self) -> int:
        return len(self._waiting)

    def count(self) -> int:
        """How many were closed because they took too long."""
        return self._timed_out

    def protocol(self, **given: Any) -> Protocol:
        """For one more connection; what uvicorn calls."""
        return Protocol(self, **given)

    def wait(self, connection: Protocol, seconds: float) -> None:
        """The rest of the request must come in this time."""
        self.done(connection)
        self._waiting[connection] = connection.loop.call_later(
            seconds, functools.partial(self._close, connection, f"nothing whole in {seconds:g} s")
        )
        if len(self._waiting) > HALF_OPEN:
            self._close(next(iter(self._waiting)), f"{HALF_OPEN} others wait, too")

    def done(self, connection: Protocol) -> None:
        """The request has come, or the connection has gone."""
        timer = self._waiting.pop(connection, None)
        if timer is not None:
            timer.cancel()

    def _close(self, connection: Protocol, why: str) -> None:
        self.done(connection)
        self._timed_out += 1
        client = connection.client[0] if connection.client else "?"
        log.debug(json.dumps({"half_open": why, "client": client}))
        connection.transport.close()


class Protocol(HttpToolsProtocol):
    """uvicorn's, which by itself waits for ever for a request that does not come wholly."""

    def __init__(self, connections: Connections, config: Config, **given: Any) -> None:
        super().__init__(config, **given)
        self._half_open = connections
        # in which time the rest of a request must come (None: it is there); whether the clock runs
        self._rest: float | None = HEADERS
        self._started = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody is there."""
        super().connection_made(transport)
        self._half_open.wait(self, HEADERS)

    def connection_lost(self, exc: Exception | None) -> None:
        """And gone."""
        self._half_open.done(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Most requests come at once: clocks run only for those that do not.

        After an answer even empty lines must lead to a request.
        """
        answered = self.cycle is not None and self.cycle.response_complete
        if self._rest is None and answered:
            self._rest, self._started = HEADERS, False
        super().data_received(data)
        if self._rest is None:
            self._half_open.done(self)
        elif not self._started:
            self._started = True
            self._half_open.wait(self, self._rest)

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        super().on_message_begin()
        if self._rest is None:
            self._rest, self._started = HEADERS, False

    def on_headers_complete(self) -> None:
        """Now the body, if there is one."""
        super().on_headers_complete()
        self._rest, self._started = BODY, False

    def on_message_complete(self) -> None:
        """The request is there."""
        super().on_message_complete()
        self._rest = None

    def shutdown(self) -> None:
        """The service ends: what has not come wholly is not waited for."""
        if self in self._half_open:
            self.transport.close()
        else:
            super().shutdown()
