"""The campaign contract over HTTP."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic_core import to_json
from starlette.concurrency import run_in_threadpool

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.errors import (
    CampaignDecided,
    StorageDamaged,
)
from stopwise.campaign.events import Receipt
from stopwise.campaign.schema import schema as campaign_schema
from stopwise.core.errors import BadArgument, StopwiseError
from stopwise.web import forms
from stopwise.web.middleware.http import ALLOWED
from stopwise.web.preview import preview as work_out
from stopwise.web.readiness import log_once
from stopwise.web.reading import file
from stopwise.web.service import Service
from stopwise.web.writer import fault

KINDS = {"csv": "text/csv", "jsonl": "application/x-ndjson", "parquet": "application/octet-stream"}
REFUSALS: dict[int | str, dict[str, Any]] = {
    code: {"model": forms.Problem}
    for code in (400, 401, 403, 404, 405, 409, 413, 415, 421, 422, 429, 500, 503)
}
router = APIRouter(prefix="/api", responses=REFUSALS)


def problem(error: StopwiseError) -> forms.Problem:
    """How an error is told."""
    decision = error.decision._asdict() if isinstance(error, CampaignDecided) else None
    return forms.Problem(error=type(error).__name__, message=str(error), decision=decision)


def answer_error(_: Request | None, error: Exception) -> Response:
    """Every error of ours as JSON."""
    assert isinstance(error, StopwiseError)
    if isinstance(error, StorageDamaged):
        log_once(str(error))
    headers = {"retry-after": "1"} if error.http_status == 503 else None
    return JSONResponse(problem(error).model_dump(), error.http_status, headers)


def answer_fault(error: Exception) -> Response:
    """An error that nobody expected: logged, and told without its details."""
    return answer_error(None, fault(error))


def not_valid(errors: Iterable[tuple[Sequence[Any], str]]) -> Response:
    """A form with mistakes: where, and what."""
    parts = [f"{'.'.join(map(str, where)) or 'body'}: {what}" for where, what in errors]
    found = forms.Problem(error="BadArgument", message="; ".join(parts))
    return JSONResponse(found.model_dump(), 422)


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def change(request: Request, name: str, work: Callable[[Campaign], Any]) -> Any:
    """What comes of some work on a campaign, once it is stored."""
    return await _service(request).writer.change(name, work)


async def _read(request: Request, name: str, work: Callable[[Campaign], Any]) -> Any:
    service = _service(request)
    return await run_in_threadpool(lambda: work(service.campaign(name)))


async def _read_long(request: Request, name: str, work: Callable[[Campaign], Any]) -> Any:
    """What takes long, for one at a time: all others are still answered."""
    async with _service(request).long_reads:
        return await _read(request, name, work)


@router.get("/schema")
async def schema() -> dict[str, Any]:
    """The JSON Schema of a campaign's spec."""
    return campaign_schema()


@router.get("/campaigns")
async def campaigns(request: Request, archived: bool = False) -> list[forms.Brief]:
    """All campaigns at a glance; those that are archived only if asked for."""
    found: list[forms.Brief] = await run_in_threadpool(_service(request).glance)
    return [each for each in found if archived or not each.archived]


@router.post("/campaigns", status_code=201)
async def create(request: Request, form: forms.NewCampaign) -> dict[str, str]:
    """Create a campaign; the same again is fine."""
    store = _service(request).store
    made = await run_in_threadpool(lambda: Campaign.create(form.spec, store, form.name))
    return {"name": made.name, "hash": made.spec.key, "remark": made.spec.remark}


@router.post("/preview")
async def preview(request: Request, form: forms.PreviewWish) -> forms.PreviewOut:
    """What a campaign would cost; nothing is created."""
    async with _service(request).previews:
        return forms.PreviewOut(**await work_out(form.model_dump()))


@router.post("/campaigns/{name}/ask", response_model=list[forms.TicketOut])
async def ask(request: Request, name: str, form: forms.Ask) -> Response:
    """Tickets for the next samples."""
    tickets = await change(request, name, lambda each: each.ask(form.n, form.lease))
    return _json([ticket.to_dict() for ticket in tickets])


@router.post("/campaigns/{name}/tell", response_model=forms.ReceiptOut)
async def tell(request: Request, name: str, form: forms.Tell) -> Response:
    """A ticket's sample; safe to repeat."""
    (found,) = await _service(request).writer.tell(name, [(form.token, form.value)])
    if isinstance(found, StopwiseError):
        raise found
    return _json(found._asdict())


@router.post("/campaigns/{name}/tells", response_model=list[forms.TellOut])
async def tells(request: Request, name: str, form: forms.Tells) -> Response:
    """Many at once; each is taken or refused for itself."""
    given = [(each.token, each.value) for each in form.tells]
    return _json([_told(each) for each in await _service(request).writer.tell(name, given)])


def _told(found: Receipt | StopwiseError) -> dict[str, Any]:
    if isinstance(found, StopwiseError):
        return {"receipt": None, "problem": problem(found).model_dump()}
    return {"receipt": found._asdict(), "problem": None}


def _json(value: Any) -> Response:
    """What has its form already: checking it again would take most of the time."""
    return Response(to_json(value), media_type="application/json")


@router.post("/campaigns/{name}/record")
async def record(request: Request, name: str, form: forms.Record) -> forms.ReceiptOut:
    """A sample that nobody asked for."""
    work: Callable[[Campaign], Any] = lambda each: each.record(form.arm, form.value, form.token)  # noqa: E731
    return forms.ReceiptOut(**(await change(request, name, work))._asdict())


@router.post("/campaigns/{name}/records", response_model=list[forms.TellOut])
async def records(request: Request, name: str, form: forms.Records) -> Response:
    """Many of them in order, with one commit: all of them, or none."""
    given = [(each.arm, each.value, each.token) for each in form.records]
    return _json([_told(each) for each in await change(request, name, _recording(given))])


def _recording(given: list[tuple[int | str, float, str]]) -> Callable[[Campaign], Any]:
    return lambda campaign: campaign.record_all(given)


@router.post("/campaigns/{name}/release")
async def release(request: Request, name: str, form: forms.Release) -> forms.Done:
    """The sample will not come."""
    done = await change(request, name, lambda each: each.release(form.token, form.reason))
    return forms.Done(done=done)


@router.post("/campaigns/{name}/heartbeat")
async def heartbeat(request: Request, name: str, form: forms.Heartbeat) -> forms.Done:
    """More time for a sample."""
    done = await change(request, name, lambda each: each.heartbeat(form.token, form.lease))
    return forms.Done(done=done)


@router.post("/campaigns/{name}/expire")
async def expire(request: Request, name: str, form: forms.Nothing) -> forms.Expired:
    """Release the samples whose lease is over, and count what waited for them."""
    return forms.Expired(expired=await change(request, name, lambda each: each.expire()))


@router.get("/campaigns/{name}")
async def status(request: Request, name: str) -> dict[str, Any]:
    """Where the campaign stands."""
    found: dict[str, Any] = await _read(request, name, lambda each: each.status().to_dict())
    return found


@router.get("/campaigns/{name}/explain")
async def explain(request: Request, name: str) -> dict[str, Any]:
    """In plain words."""
    found: dict[str, Any] = await _read_long(request, name, lambda each: each.explain().to_dict())
    return found


@router.get("/campaigns/{name}/recommend")
async def recommend(request: Request, name: str) -> dict[str, Any]:
    """What the data favour now."""
    found: dict[str, Any] = await _read(request, name, lambda each: each.recommend().to_dict())
    return found


@router.get("/campaigns/{name}/verify")
async def verify(request: Request, name: str) -> dict[str, Any]:
    """Derive everything anew from the events alone."""
    found: dict[str, Any] = await _read_long(request, name, lambda each: each.verify().to_dict())
    return found


@router.get("/campaigns/{name}/events", response_model=list[forms.EventOut])
async def events(
    request: Request,
    name: str,
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> Response:
    """The record, from the first event after this number."""
    campaign = await _read(request, name, lambda each: each)
    pieces = _service(request).reading.events(campaign, after, limit)
    first = await anext(pieces)  # before the answer begins: it may be refused
    return StreamingResponse(_with_first(first, pieces), media_type="application/json")


async def _with_first(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece


@router.get("/campaigns/{name}/export", response_class=Response)
async def export(request: Request, name: str, kind: str = "csv") -> Response:
    """The whole record as a file."""
    if kind not in KINDS:
        raise BadArgument("kind", kind, f"one of {', '.join(KINDS)}")

    def work(campaign: Campaign) -> BinaryIO:
        """The file has no name any more: it goes when it is closed."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # Windows: it stays
            return campaign.export(Path(folder) / f"record.{kind}").open("rb")

    made: BinaryIO = await _read_long(request, name, work)
    headers = {
        "content-disposition": f'attachment; filename="record.{kind}"',
        "content-length": str(os.fstat(made.fileno()).st_size),
    }
    return StreamingResponse(file(made), media_type=KINDS[kind], headers=headers)


@router.get("/campaigns/{name}/page", response_model=dict[str, Any])
async def page(request: Request, name: str) -> Response:
    """Everything that the page shows, with at most 257 points a series."""
    service = _service(request)
    found = service.fresh_page(name) or await run_in_threadpool(service.page, name)
    return Response(found, media_type="application/json")


@router.get("/campaigns/{name}/stream", response_class=StreamingResponse)
async def stream(
    request: Request, name: str, last_event_id: Annotated[str | None, Header()] = None
) -> StreamingResponse:
    """Server-sent events: what is new, from Last-Event-ID on."""
    feed = await run_in_threadpool(_service(request).feed, name)
    await feed.start()  # before the answer begins: it may be refused
    text = last_event_id or ""
    seen = int(text) if text.isdecimal() and len(text) < 16 else None
    allowed = request.scope[ALLOWED]
    return StreamingResponse(feed.listen(seen, allowed), media_type="text/event-stream")
