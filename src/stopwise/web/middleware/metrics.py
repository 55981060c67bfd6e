"""Counts, times and logs of requests."""

from __future__ import annotations

import json
import logging
import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stopwise.web.service import Service

log = logging.getLogger("stopwise.web")


class Meters:
    """What Prometheus reads."""

    def __init__(self, service: Service) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "stopwise_requests_total", "Requests", ["method", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "stopwise_request_seconds", "Time to answer", ["method"], registry=self.registry
        )
        for name, what, read in (
            ("stopwise_commits", "Commits of changes", lambda: service.writer.commits),
            ("stopwise_changes", "Changes of campaigns", lambda: service.writer.changes),
            ("stopwise_waiting", "Changes that wait", lambda: service.writer.waiting),
            ("stopwise_listeners", "Open pages", lambda: service.listeners),
        ):
            Gauge(name, what, registry=self.registry).set_function(read)


class Metrics:
    """Counts, times and logs what passes; a request's time ends when its answer begins."""

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
                _enter(scope, message["status"], time.perf_counter() - start)
            await send(message)

        await self._app(scope, receive, send_measured)


def _enter(scope: Scope, status: int, seconds: float) -> None:
    meters: Meters = scope["app"].state.meters
    method = scope["method"]
    meters.requests.labels(method, str(status)).inc()
    meters.seconds.labels(method).observe(seconds)
    if log.isEnabledFor(logging.INFO):
        line = {"method": method, "path": scope["path"], "status": status}
        log.info(json.dumps({**line, "ms": round(1000 * seconds, 2)}))
