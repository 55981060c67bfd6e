"""uvicorn, with an end to connections that wait and to streams that are open."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, cast

import uvicorn
from fastapi import FastAPI

from stopwise.web.connections import Connections

SPARE = 100  # files that are not connections
MOST_FILES = 65_536
GRACE = 5  # seconds for requests that are being answered when the service ends
UNREAD = 1.0  # seconds after which, then, whoever does not read is let go


class Server(uvicorn.Server):
    """Ends at once although pages are open: they come back by themselves."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let go of streams, answer what has been taken, and stop."""
        self.config.app.state.service.end_streams()  # type: ignore[union-attr]
        timer = asyncio.get_running_loop().call_later(UNREAD, self._abandon)
        await super().shutdown(sockets)
        timer.cancel()

    def _abandon(self) -> None:
        for connection in list(self.server_state.connections):
            flow = getattr(connection, "flow", None)
            if flow is not None and flow.write_paused:
                connection.transport.abort()


def run(application: FastAPI, listener: socket.socket, behind_proxy: bool) -> None:
    """Serve until a signal comes. Addresses that a proxy names are believed only if there is one."""
    connections: Connections = application.state.connections
    config = uvicorn.Config(
        application,
        http=cast("Any", connections.protocol),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=behind_proxy,
        limit_concurrency=_files() - SPARE,
        timeout_graceful_shutdown=GRACE,
    )
    Server(config).run(sockets=[listener])


def _files() -> int:
    """As many open files as this process may have: each connection is one."""
    try:
        import resource
    except ImportError:  # Windows
        return MOST_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return most
    return MOST_FILES if soft == resource.RLIM_INFINITY else soft
