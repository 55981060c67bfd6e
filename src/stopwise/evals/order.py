"""In which order a list of items is asked, and how a stored comparison knows its list again.

The order only grows: items that are appended later are shuffled among themselves and come after all
others, so that no item is asked twice under two numbers. The record of the campaign has the seed, and
for each length of the list a hash of its items.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from stopwise.campaign.campaign import Campaign
from stopwise.core.arrays import Ints
from stopwise.core.errors import BadArgument

KEY = "best_of:list"  # notes of the campaign that are about its list begin with this


class Known(NamedTuple):
    """A list as the record has it: its length then, and what its items were."""

    seed: int
    items: int
    sha256: str


def order_of(seed: int, lengths: Sequence[int]) -> Ints:
    """The places of a list that had these lengths, one after another, in the order asked."""
    parts = [np.random.default_rng(seed).permutation(lengths[0])]
    for start, end in pairwise(lengths):
        parts.append(start + np.random.default_rng([seed, start]).permutation(end - start))
    return np.concatenate(parts)


def recorded_order(
    campaign: Campaign, items: Sequence[Any], seed: int, grows: bool
) -> tuple[Ints, list[str]]:
    """The order on record, with what is new appended; and what the caller should know about it."""
    with campaign.together():  # nobody else adds items meanwhile
        record = campaign.events()
        known = [Known(**found) for event in record if (found := _read(event)) is not None]
        said = []
        if known:
            _check(known[-1], items, grows)
            if known[0].seed != seed:
                said.append(
                    f"seed={seed} is ignored: the order on record was drawn with seed={known[0].seed}."
                )
        elif any(event.kind == "asked" for event in record):
            said.append(
                "The campaign was begun by a release that did not record its list: the items and the "
                "seed are taken for those of its first call."
            )
        if not known or known[-1].items < len(items):
            first = known[0].seed if known else seed
            known.append(Known(first, len(items), digest(items, len(items))))
            campaign.note(f"{KEY} {json.dumps(known[-1]._asdict(), sort_keys=True)}")
    return order_of(known[0].seed, [each.items for each in known]), said


def _read(event: Any) -> dict[str, Any] | None:
    word, _, text = event.note.partition(" ")
    return json.loads(text) if event.kind == "noted" and word == KEY else None


def _check(last: Known, items: Sequence[Any], grows: bool) -> None:
    hint = "Choose another name for another list."
    if len(items) < last.items or (len(items) > last.items and not grows):
        more = " or more" if grows else ""
        allowed = f"the {last.items:,} items{more} that the campaign was begun with"
        raise BadArgument("items", f"{len(items):,} items", allowed, hint)
    if digest(items, last.items) != last.sha256:
        allowed = (
            f"a list that begins with the {last.items:,} items on record, unchanged and in order"
        )
        raise BadArgument("items", "other items", allowed, hint)


def digest(items: Sequence[Any], count: int) -> str:
    """A hash of the first items, the same in every process."""
    found = hashlib.sha256()
    for place in range(count):
        text = fingerprint(items[place]).encode(errors="surrogatepass")
        found.update(len(text).to_bytes(8, "big") + text)
    return found.hexdigest()


def fingerprint(item: Any) -> str:
    """An item as text: what it holds, or at least its type where that is all that can be told."""
    try:
        return json.dumps(item, sort_keys=True, default=_plain)
    except (TypeError, ValueError, RecursionError):
        return _plain(item)


def _plain(value: Any) -> str:
    if isinstance(value, set | frozenset):
        return repr(sorted(map(fingerprint, value)))
    if isinstance(value, bytes | bytearray):
        return hashlib.sha256(value).hexdigest()
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    text = repr(value)
    return type(value).__qualname__ if " at 0x" in text else text  # an address says nothing
