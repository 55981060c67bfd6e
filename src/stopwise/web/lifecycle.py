"""What people do with a campaign beside the work, over HTTP: the token's name goes on record."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.errors import CampaignUnreadable
from stopwise.campaign.imports.rows import Columns
from stopwise.campaign.lifecycle import archive_unreadable
from stopwise.web import forms
from stopwise.web.middleware.encoded_slash import whole_name
from stopwise.web.middleware.http import HOLDER
from stopwise.web.routes import REFUSALS, change as store_change

router = APIRouter(prefix="/api/campaigns/{name}", responses=REFUSALS)


def actor(request: Request) -> str:
    """Who asks: the token's name; without tokens, the address."""
    holder = request.scope.get(HOLDER)
    address = request.client.host if request.client else "?"
    return str(getattr(holder, "name", f"somebody at {address}"))[:200]


async def _done(
    request: Request, name: str, work: Callable[[Campaign, str], bool]
) -> forms.Changed:
    who = actor(request)
    return forms.Changed(changed=await store_change(request, name, lambda each: work(each, who)))


@router.post("/pause")
async def pause(request: Request, name: str, form: forms.Pause) -> forms.Changed:
    """No new asks until it is resumed; samples in flight still count."""
    return await _done(request, name, lambda each, who: each.pause(form.reason, who))


@router.post("/resume")
async def resume(request: Request, name: str, form: forms.Nothing) -> forms.Changed:
    """Asks are answered again."""
    return await _done(request, name, lambda each, who: each.resume(who))


@router.post("/close")
async def close(request: Request, name: str, form: forms.Close) -> forms.Changed:
    """The end without an answer, for good."""
    return await _done(request, name, lambda each, who: each.close(form.reason, who))


async def _archive(request: Request, name: str, back: bool) -> forms.Changed:
    """Also a campaign that cannot be opened."""
    try:
        return await _done(
            request, name, lambda each, who: each.unarchive(who) if back else each.archive(who)
        )
    except CampaignUnreadable:
        store, who = request.app.state.service.store, actor(request)
        work = partial(archive_unreadable, whole_name(name), store, who, back=back)
        return forms.Changed(changed=await run_in_threadpool(work))


@router.post("/archive")
async def archive(request: Request, name: str, form: forms.Nothing) -> forms.Changed:
    """Out of the lists; everything is kept."""
    return await _archive(request, name, back=False)


@router.post("/unarchive")
async def unarchive(request: Request, name: str, form: forms.Nothing) -> forms.Changed:
    """Back into the lists."""
    return await _archive(request, name, back=True)


@router.post("/rename")
async def rename(request: Request, name: str, form: forms.Rename) -> forms.Changed:
    """Another name; the old one still leads to the campaign."""
    return await _done(request, name, lambda each, who: each.rename(form.name, who))


@router.post("/note")
async def note(request: Request, name: str, form: forms.Note) -> forms.Changed:
    """A remark for the record."""
    return await _done(request, name, lambda each, who: each.note(form.text, who))


@router.post("/add")
async def add(request: Request, name: str, form: forms.NewArm) -> forms.Added:
    """One arm more, in a campaign whose spec has room for it."""
    who = actor(request)
    found = await store_change(request, name, lambda each: each.add_arm(form.label, who))
    return forms.Added(arm=found)


@router.post("/change")
async def change(request: Request, name: str, form: forms.Change) -> forms.Changed:
    """Another budget, minimum of samples an arm, labels, or losses: what is not given stays."""
    given: dict[str, Any] = {key: getattr(form, key) for key in form.model_fields_set}
    return await _done(request, name, lambda each, who: each.change(**given, actor=who))


@router.post("/import")
async def import_rows(request: Request, name: str, form: forms.ImportRows) -> forms.ImportOut:
    """Results of the past: all rows, or none; those that are on record count once."""
    who = actor(request)
    columns = Columns("arm", "value", "id" if form.id else None, "time" if form.time else None)

    def work(campaign: Campaign) -> dict[str, Any]:
        made = campaign.import_table(
            *(form.source, form.rows, columns, form.in_order, form.new), actor=who
        )
        return made.to_dict()

    return forms.ImportOut(**await store_change(request, name, work))
