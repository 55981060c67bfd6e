"""The application, put together."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from prometheus_client import generate_latest
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from stopwise import __version__
from stopwise.campaign.storage.store import Store
from stopwise.core.errors import StopwiseError
from stopwise.web import forms, lifecycle, routes
from stopwise.web.access import Access
from stopwise.web.connections import Connections
from stopwise.web.middleware.body_limit import BodyLimit
from stopwise.web.middleware.checks import Checked, Checks
from stopwise.web.middleware.encoded_slash import EncodedSlash
from stopwise.web.middleware.metrics import Meters, Metrics
from stopwise.web.middleware.security_headers import SecurityHeaders
from stopwise.web.readiness import Readiness
from stopwise.web.roles import Roles
from stopwise.web.service import Service
from stopwise.web.shortcut import Shortcut
from stopwise.web.tokens import Tokens
from stopwise.web.writer import FAULT, InternalError

STATIC = Path(__file__).parent / "static"


class Application(FastAPI):
    """FastAPI, but for the requests that have a shorter way."""

    shortcut: Shortcut

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the start and end of the service."""
        scope["app"] = self
        if not await self.shortcut.answers(scope, receive, send):
            await super().__call__(scope, receive, send)


def create_app(store: Store, hosts: frozenset[str], always_open: bool = False) -> FastAPI:
    """The service for a store, under these names; needs a token as soon as there was ever one."""
    connections = Connections()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.service = Service(store)
        app.state.meters = Meters(app.state.service, connections)
        yield
        await run_in_threadpool(app.state.service.close)

    app = Application(
        title="stopwise",
        version=__version__,
        description="Which experiment next, and when may I stop? Campaigns over HTTP.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        telemetry={"tracing": False, "metrics": False, "logs": False},  # /metrics has ours
    )
    app.state.connections = connections
    app.router.redirect_slashes = False
    app.router.routes += [*routes.router.routes, *lifecycle.router.routes]
    app.add_exception_handler(StopwiseError, routes.answer_error)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _plain_error)
    app.add_exception_handler(Exception, _fault)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    _add_own_routes(app, store)
    checks = Checks(hosts, Access(Tokens(store), always_open), Roles(app.router.routes))
    app.shortcut = Shortcut(checks)
    _add_middleware(app, checks)
    return app


def _add_middleware(app: FastAPI, checks: Checks) -> None:
    """The last one added is the first that a request meets."""
    app.add_middleware(BodyLimit)
    app.add_middleware(Checked, checks=checks)
    app.add_middleware(Metrics)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(EncodedSlash)


def contract() -> str:
    """The OpenAPI file, as it is published with the documentation."""
    found = create_app(Store("memory:"), frozenset()).openapi()
    return json.dumps(found, indent=1) + "\n"


def _add_own_routes(app: FastAPI, store: Store) -> None:
    readiness = Readiness(store)

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})

    @app.get("/health")
    async def health() -> forms.Health:
        """Whether the service is there."""
        return forms.Health(status="fine", version=__version__)

    @app.get("/ready", responses={503: {"model": forms.Problem}})
    async def ready() -> forms.Health:
        """Whether the store answers, and has room to write."""
        await readiness.check()
        return forms.Health(status="ready", version=__version__)

    @app.get("/metrics", include_in_schema=False)
    async def metrics(request: Request) -> Response:
        text = generate_latest(request.app.state.meters.registry)
        return Response(text, media_type="text/plain; version=0.0.4")


def _not_valid(_: Request, error: Exception) -> Response:
    """What FastAPI refuses, in our form."""
    assert isinstance(error, RequestValidationError)
    return routes.not_valid([(each["loc"][1:], each["msg"]) for each in error.errors()])


def _fault(_: Request, __: Exception) -> Response:
    """What nobody expected: the server logs it."""
    found = forms.Problem(error=InternalError.__name__, message=FAULT)
    return JSONResponse(found.model_dump(), 500)


def _plain_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    found = forms.Problem(error="Refused", message=str(error.detail))
    return JSONResponse(found.model_dump(), error.status_code, getattr(error, "headers", None))
