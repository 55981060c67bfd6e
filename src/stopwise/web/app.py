"""The application, put together."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from stopwise import __version__
from stopwise.campaign.store import Store
from stopwise.errors import StopwiseError
from stopwise.web import forms, routes
from stopwise.web.guard import Guard, Rules
from stopwise.web.house import House
from stopwise.web.shortcut import Shortcut

STATIC = Path(__file__).parent / "static"
log = logging.getLogger("stopwise.web")


class Meters:
    """What Prometheus reads."""

    def __init__(self, house: House) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "stopwise_requests_total", "Requests", ["method", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "stopwise_request_seconds", "Time to answer", ["method"], registry=self.registry
        )
        for name, what, read in (
            ("stopwise_commits", "Commits of changes", lambda: house.desk.commits),
            ("stopwise_changes", "Changes of campaigns", lambda: house.desk.changes),
            ("stopwise_waiting", "Changes that wait", lambda: house.desk.waiting),
            ("stopwise_listeners", "Open pages", lambda: house.listeners),
        ):
            Gauge(name, what, registry=self.registry).set_function(read)


def create_app(store: Store, rules: Rules) -> FastAPI:
    """The service for a store."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.house = House(store)
        app.state.meters = Meters(app.state.house)
        yield
        await run_in_threadpool(app.state.house.close)

    app = FastAPI(
        title="stopwise",
        version=__version__,
        description="Which experiment next, and when may I stop? Campaigns over HTTP.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.include_router(routes.router)
    app.add_exception_handler(StopwiseError, routes.answer_error)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _plain_error)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    _add_own_routes(app, store)
    app.add_middleware(Shortcut)
    app.add_middleware(Measured)
    app.add_middleware(Guard, rules=rules)
    return app


def contract() -> str:
    """The OpenAPI file, as it is published with the documentation."""
    found = create_app(Store("memory:"), Rules(frozenset(), None)).openapi()
    return json.dumps(found, indent=1) + "\n"


def _add_own_routes(app: FastAPI, store: Store) -> None:
    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})

    @app.get("/health")
    async def health() -> forms.Health:
        """Whether the service is there."""
        return forms.Health(status="fine", version=__version__)

    @app.get("/ready", responses={503: {"model": forms.Problem}})
    async def ready() -> forms.Health:
        """Whether the store answers."""
        await run_in_threadpool(store.names)
        return forms.Health(status="ready", version=__version__)

    @app.get("/metrics", include_in_schema=False)
    async def metrics(request: Request) -> Response:
        text = generate_latest(request.app.state.meters.registry)
        return Response(text, media_type="text/plain; version=0.0.4")


class Measured:
    """Counts, times and logs what passes."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on; its time ends when the answer begins."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()

        async def send_measured(message: Any) -> None:
            if message["type"] == "http.response.start":
                took, method = time.perf_counter() - start, scope["method"]
                meters: Meters = scope["app"].state.meters
                meters.requests.labels(method, str(message["status"])).inc()
                meters.seconds.labels(method).observe(took)
                if log.isEnabledFor(logging.INFO):
                    line = {
                        "method": method,
                        "path": scope["path"],
                        "status": message["status"],
                        "ms": round(1000 * took, 2),
                    }
                    log.info(json.dumps(line))
            await send(message)

        await self._app(scope, receive, send_measured)


def _not_valid(_: Request, error: Exception) -> Response:
    """What FastAPI refuses, in our form."""
    assert isinstance(error, RequestValidationError)
    return routes.not_valid([(each["loc"][1:], each["msg"]) for each in error.errors()])


def _plain_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    found = forms.Problem(error="Refused", message=str(error.detail))
    return JSONResponse(found.model_dump(), error.status_code, getattr(error, "headers", None))
