"""A short way to the routes that workers and pages use all the time, past the framework.

The checks, functions and forms are those that all other requests meet: this only saves what happens
between them, which takes longer than everything else together.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from stopwise.core.errors import StopwiseError
from stopwise.web import forms, routes
from stopwise.web.middleware.body_limit import read_body
from stopwise.web.middleware.checks import Checks
from stopwise.web.middleware.encoded_slash import has_encoded_slash
from stopwise.web.middleware.http import REFUSED, Refusal
from stopwise.web.middleware.security_headers import completed
from stopwise.web.roles import CAMPAIGN, NEEDED

PATH = re.compile(r"/api/campaigns/([^/]+)/(ask|tell|tells|page)")
Route = tuple[type[BaseModel] | None, Callable[..., Awaitable[Response]]]
ROUTES: dict[tuple[str, str], Route] = {
    ("POST", "ask"): (forms.Ask, routes.ask),
    ("POST", "tell"): (forms.Tell, routes.tell),
    ("POST", "tells"): (forms.Tells, routes.tells),
    ("GET", "page"): (None, routes.page),
}
ROLES = {route: NEEDED[f"{route[0]} {CAMPAIGN}/{route[1]}"] for route in ROUTES}


class Shortcut:
    """Answers these requests."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks

    async def answers(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Whether it was one of them; if so, it is answered."""
        found = PATH.fullmatch(scope["path"]) if scope["type"] == "http" else None
        route = None if found is None else ROUTES.get((scope["method"], found[2]))
        if found is None or route is None or has_encoded_slash(scope):
            return False
        start, role = time.perf_counter(), ROLES[scope["method"], found[2]]
        answer = await self._checks.refusal(scope, role) or await _answer(
            Request(scope, receive), found[1], *route
        )
        if isinstance(answer, Refusal):
            scope[REFUSED] = answer.error
        status, headers = answer.status_code, completed(answer.raw_headers)
        scope["app"].state.meters.enter(scope, status, time.perf_counter() - start)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body})
        return True


async def _answer(
    request: Request,
    name: str,
    form: type[BaseModel] | None,
    route: Callable[..., Awaitable[Response]],
) -> Response:
    try:
        if form is None:
            return await route(request, name)
        body = await read_body(request.scope, request.receive)
        if isinstance(body, Response):
            return body
        return await route(request, name, form.model_validate_json(body))
    except ValidationError as error:
        return routes.not_valid([(each["loc"], each["msg"]) for each in error.errors()])
    except StopwiseError as error:
        return routes.answer_error(request, error)
    except Exception as error:
        return routes.answer_fault(error)
