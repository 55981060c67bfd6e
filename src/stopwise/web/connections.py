"""Connections: requests that do not come and answers that nobody reads are bounded, in time and size."""

from __future__ import annotations

import asyncio
import functools
import json
import logging
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

if TYPE_CHECKING:
    from uvicorn import Config

log = logging.getLogger("stopwise.web")
HEADERS = 5.0  # seconds from a connection, or a request's first byte, to the end of its headers
BODY = 10.0  # seconds from there to the end of its body
HALF_OPEN = 1000  # connections that may wait so at once: for one more the oldest is closed
HEAD = 64_000  # bytes of a request's first line and headers, at most
FIELDS = 100  # headers of a request, at most
PIPELINED = 100  # further requests that came before the first one was answered, at most
UNREAD = 10.0  # seconds in which some of an answer must be read
ALL_UNREAD = (
    64_000_000  # bytes of answers that may wait to be read: for more the largest are closed
)
REFUSED = {
    400: ("BadRequest", "this is not HTTP."),
    431: ("TooLarge", f"the headers are larger than {HEAD:,} bytes, or more than {FIELDS}."),
}


class Connections:
    """Those whose request has not come wholly, and those whose answer is not read."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[Protocol, asyncio.TimerHandle] = OrderedDict()
        self._unread: dict[Protocol, asyncio.TimerHandle] = {}
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
        _log("half_open", why, connection)
        connection.transport.close()
        self.unread(connection)

    def unread(self, connection: Protocol, before: int | None = None) -> None:
        """Some of an answer must be read before long, and not too much of all answers may wait for that.

        The kernel takes bytes as soon as some are read: if as many wait as before, none were.
        """
        self.read(connection)
        size = connection.transport.get_write_buffer_size()
        if not size:
            return
        if before is not None and size >= before:
            self._abandon(connection, f"nothing read in {UNREAD:g} s")
            return
        self._unread[connection] = connection.loop.call_later(UNREAD, self.unread, connection, size)
        sizes = {each: each.transport.get_write_buffer_size() for each in self._unread}
        while sum(sizes.values()) > ALL_UNREAD:
            largest = max(sizes, key=lambda each: sizes[each])
            del sizes[largest]
            self._abandon(largest, "too much waits to be read")

    def read(self, connection: Protocol) -> None:
        """The answer was read, or the connection has gone."""
        timer = self._unread.pop(connection, None)
        if timer is not None:
            timer.cancel()

    def _abandon(self, connection: Protocol, why: str) -> None:
        self.read(connection)
        _log("unread", why, connection)
        connection.transport.abort()


def _log(what: str, why: str, connection: Protocol) -> None:
    client = connection.client[0] if connection.client else "?"
    log.debug(json.dumps({what: why, "client": client}))


class TooMuch(Exception):
    """A request's head, or what is sent ahead of answers, is larger than it may be."""


class Protocol(HttpToolsProtocol):
    """uvicorn's, which by itself waits for ever for a request that does not come wholly."""

    def __init__(self, connections: Connections, config: Config, **given: Any) -> None:
        super().__init__(config, **given)
        self._half_open = connections
        # in which time the rest of a request must come (None: it is there); whether the clock runs
        self._rest: float | None = HEADERS
        self._started = True
        self._raw = 0  # bytes that are neither of a body nor of a whole head
        self._large, self._refused = False, False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody is there."""
        super().connection_made(transport)
        self._half_open.wait(self, HEADERS)

    def connection_lost(self, exc: Exception | None) -> None:
        """And gone."""
        self._half_open.done(self)
        self._half_open.read(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Most requests come at once: clocks run only for those that do not.

        After an answer even empty lines must lead to a request.
        """
        answered = self.cycle is not None and self.cycle.response_complete
        if self._rest is None and answered:
            self._rest, self._started = HEADERS, False
        if self._refused:
            return
        self._raw += len(data)
        super().data_received(data)
        if (self._raw > HEAD or len(self.headers or ()) > FIELDS) and not self._refused:
            self._refuse()
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
        if self._too_large() or len(self.pipeline) >= PIPELINED:
            raise TooMuch
        super().on_headers_complete()
        self.headers = []  # for trailers, which change nothing: the request may be answered already
        self._rest, self._started = BODY, False
        self._raw = 0

    def _too_large(self) -> bool:
        """Whether a head that came at once is larger than one that came in pieces could be."""
        size = (
            sum(len(name) + len(value) for name, value in self.headers) if self._raw > HEAD else 0
        )
        self._large = len(self.headers) > FIELDS or len(self.url) + size > HEAD
        return self._large

    def on_chunk_header(self) -> None:
        """The length of the next piece of the body, and what else that line may have."""
        self._raw = 0

    def on_body(self, body: bytes) -> None:
        """Some of the body."""
        self._raw = max(0, self._raw - len(body))
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is there."""
        super().on_message_complete()
        self._rest = None
        self._raw = 0

    def send_400_response(self, msg: str) -> None:
        """What cannot be parsed, and what was refused while it was."""
        self._refuse(431 if self._large else 400)

    def _refuse(self, status: int = 431) -> None:
        """Say why, unless another answer is on its way, and close."""
        self._refused = True
        self._half_open.done(self)
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.abort()
            return
        error, message = REFUSED[status]
        body = json.dumps({"error": error, "message": message}).encode()
        head = b"content-type: application/json\r\nconnection: close\r\ncontent-length: "
        self.transport.write(STATUS_LINE[status] + head + b"%d\r\n\r\n" % len(body) + body)
        self.transport.close()

    def on_response_complete(self) -> None:
        """A connection that is to be closed stays until all is read: not for ever."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._half_open.unread(self)

    def timeout_keep_alive_handler(self) -> None:
        """No further request came; nor does the last answer wait for ever."""
        super().timeout_keep_alive_handler()
        self._half_open.unread(self)

    def pause_writing(self) -> None:
        """Much of an answer waits to be read."""
        super().pause_writing()
        self._half_open.unread(self)

    def resume_writing(self) -> None:
        """Most of it was."""
        self._half_open.read(self)
        super().resume_writing()

    def shutdown(self) -> None:
        """The service ends: what has not come wholly is not waited for."""
        if self in self._half_open:
            self.transport.close()
        else:
            super().shutdown()
