"""A short way to the routes that workers and pages use all the time, past most of the framework.

The functions and forms are those of routes.py, where FastAPI knows them too: this only saves what it
does between a request and a function, which takes as long as everything else together.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from stopwise.core.errors import StopwiseError
from stopwise.web import forms, routes
from stopwise.web.middleware.body_limit import BODY

PATH = re.compile(r"/api/campaigns/([^/]+)/(ask|tell|tells|page)")
Route = tuple[type[BaseModel] | None, Callable[..., Awaitable[Response]]]
ROUTES: dict[tuple[str, str], Route] = {
    ("POST", "ask"): (forms.Ask, routes.ask),
    ("POST", "tell"): (forms.Tell, routes.tell),
    ("POST", "tells"): (forms.Tells, routes.tells),
    ("GET", "page"): (None, routes.page),
}


class Shortcut:
    """Answers these requests, and passes on all others."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request."""
        found = PATH.fullmatch(scope["path"]) if scope["type"] == "http" else None
        route = None if found is None else ROUTES.get((scope["method"], found[2]))
        if found is None or route is None:
            await self._app(scope, receive, send)
            return
        answer = await _answer(Request(scope, receive), found[1], *route)
        await answer(scope, receive, send)


async def _answer(
    request: Request,
    name: str,
    form: type[BaseModel] | None,
    route: Callable[..., Awaitable[Response]],
) -> Response:
    try:
        if form is None:
            return await route(request, name)
        return await route(request, name, form.model_validate_json(request.scope[BODY]))
    except ValidationError as error:
        return routes.not_valid([(each["loc"], each["msg"]) for each in error.errors()])
    except StopwiseError as error:
        return routes.answer_error(request, error)
