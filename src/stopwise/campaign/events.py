"""What is on record about a campaign: numbered events that are only ever added."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from stopwise.core.errors import BadArgument, StopwiseError

WAITS = "waits for an earlier one"


Made = TypeVar("Made")


def from_plain(make: Callable[..., Made]) -> Callable[..., Made]:
    """For what is made from the plain values of ``to_dict``: refuse whatever else is given."""
    name = list(inspect.signature(make).parameters)[1]

    @functools.wraps(make)
    def checked(kind: Any, *given: Any, **named: Any) -> Made:
        try:
            return make(kind, *given, **named)
        except StopwiseError:
            raise
        except Exception:  # of whatever kind: it is not what to_dict gave
            found = named.get(name, given[0] if given else None)
            raise BadArgument(name, found, f"the plain values of a {kind.__name__}") from None

    return checked


class Event(NamedTuple):
    """One line of the record. ``late``: it came after the decision, or its lease, and never counts."""

    number: int
    kind: str
    token: str
    arm: int | None
    value: float | None
    time: float  # seconds since 1970
    late: bool
    note: str  # why, or what; that a sample waits; the decision, or what was changed, as JSON
    actor: str = ""  # who changed the campaign: a token's name, or user@host

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        return self._asdict()


def item_note(item: int) -> str:
    """How the record has the item of an ask."""
    return f"item {item}"


def item_of(event: Event) -> int | None:
    """The item of an ask in a paired campaign."""
    word, _, number = event.note.partition(" ")
    return int(number) if event.kind == "asked" and word == "item" else None


class Ticket(NamedTuple):
    """Permission to take one sample: tell its value under this token."""

    token: str
    arm: int
    label: str
    item: int | None = None  # of a paired campaign: which item to try it on

    def to_dict(self) -> dict[str, Any]:
        """Plain values; where there is no item nothing is said of it, as clients of 0.2.0 expect."""
        found = self._asdict()
        return found if self.item is not None else {k: v for k, v in found.items() if k != "item"}


class Receipt(NamedTuple):
    """A told value is on record, and safe."""

    number: int
    token: str
    arm: int
    value: float
    late: bool
    decided: bool  # whether the campaign is, with this event or before it
    waiting: bool = False  # whether it counts only once samples that were asked before it are there


class Decision(NamedTuple):
    """The answer, and why: from the event with this number on it stands."""

    answer: Any
    text: str  # the answer in the labels' words
    evidence: float
    threshold: float
    samples: int
    number: int
    key: str  # of the spec
    version: str

    def to_json(self) -> str:
        """As it is stored."""
        return json.dumps(self._asdict(), sort_keys=True)

    @classmethod
    @from_plain
    def from_json(cls, text: str) -> Decision:
        """What ``to_json`` wrote."""
        return cls(**_with_tuples(json.loads(text)))

    @classmethod
    @from_plain
    def from_dict(cls, found: Mapping[str, Any]) -> Decision:
        """From plain values, as JSON has them."""
        return cls(**_with_tuples(found))


def _with_tuples(found: Mapping[str, Any]) -> dict[str, Any]:
    return {**found, "answer": tuples(found["answer"])}


def tuples(value: Any) -> Any:
    """JSON has no tuples: lists in answers were tuples."""
    return tuple(map(tuples, value)) if isinstance(value, list) else value
