"""Counts, times and logs of requests: of those that are answered, and of those that are refused."""

from __future__ import annotations

import json
import logging
import time
from functools import cache
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stopwise.web.connections import Connections
from stopwise.web.middleware.content_type import METHODS
from stopwise.web.middleware.http import HOLDER, REFUSED, address
from stopwise.web.service import Service

log = logging.getLogger("stopwise.web")
LONGEST_PATH = 200  # characters that are logged
LINES = 20  # of refusals in a second, at most: a flood of requests is no flood of lines


class Meters:
    """What Prometheus reads."""

    def __init__(self, service: Service, connections: Connections) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "stopwise_requests_total", "Requests", ["method", "status"], registry=self.registry
        )
        self.refusals = Counter(
            "stopwise_refusals_total", "Requests that were refused, by the reason",
            ["status", "reason"], registry=self.registry,
        )  # fmt: skip
        self.seconds = Histogram(
            "stopwise_request_seconds", "Time to answer", ["method"], registry=self.registry
        )
        for name, what, read in (
            ("stopwise_commits", "Commits of changes", lambda: service.writer.commits),
            ("stopwise_changes", "Changes of campaigns", lambda: service.writer.changes),
            ("stopwise_waiting", "Changes that wait", lambda: service.writer.waiting),
            ("stopwise_listeners", "Open pages", lambda: service.listeners),
            ("stopwise_half_open", "Connections without a request", lambda: len(connections)),
            ("stopwise_timed_out", "Requests that took too long to come", connections.count),
        ):
            Gauge(name, what, registry=self.registry).set_function(read)
        # a label's meter is looked up once: there are few
        self._requests = cache(lambda method, status: self.requests.labels(method, str(status)))
        self._seconds = cache(lambda method: self.seconds.labels(method))
        self._second, self._lines, self._left_out = 0, 0, 0  # refusals that are logged

    def enter(self, scope: Scope, status: int, seconds: float) -> None:
        """A request is answered, after so many seconds."""
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._requests(method, status).inc()
        self._seconds(method).observe(seconds)
        reason = scope.get(REFUSED)
        if reason is not None:
            self.refusals.labels(str(status), reason).inc()
            self._log_refusal(_line(scope, status, seconds))
        elif log.isEnabledFor(logging.INFO):
            log.info(json.dumps(_line(scope, status, seconds)))

    def _log_refusal(self, line: dict[str, Any]) -> None:
        """So many lines a second; the next line says how many were left out."""
        second = int(time.monotonic())
        if second != self._second:
            self._second, self._lines = second, 0
        self._lines += 1
        if self._lines > LINES:
            self._left_out += 1
            return
        left_out = {"left_out": self._left_out} if self._left_out else {}
        self._left_out = 0
        log.warning(json.dumps({**line, **left_out}))


class Metrics:
    """Counts, times and logs what comes; a request's time ends when its answer begins."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()

        async def send_measured(message: Message) -> None:
            if message["type"] == "http.response.start":
                seconds = time.perf_counter() - start
                scope["app"].state.meters.enter(scope, message["status"], seconds)
            await send(message)

        await self._app(scope, receive, send_measured)


def _line(scope: Scope, status: int, seconds: float) -> dict[str, Any]:
    line = {"method": scope["method"], "path": scope["path"][:LONGEST_PATH], "status": status}
    line |= {"ms": round(1000 * seconds, 2), "client": address(scope)}
    if HOLDER in scope:
        line["token"] = scope[HOLDER].name
    if scope.get(REFUSED) is not None:
        line["reason"] = scope[REFUSED]
    return line
