"""The JSON Schema of a campaign's spec, made from the names and options that the library knows.

It describes one key at a time. What depends on several (as many costs as arms, a problem that is not
solved for a family) only ``spec.make`` checks.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from stopwise import spelling
from stopwise.campaign.spec import KEYS, LONGEST_LABEL, MOST_ARMS

DRAFT = "https://json-schema.org/draft/2020-12/schema"
NUMBER = {"type": "number"}
POSITIVE = {"type": "number", "exclusiveMinimum": 0}
NOT_NEGATIVE = {"type": "number", "minimum": 0}
LABEL = r"^[^\u0000-\u001f\u007f]*[^\s\u0000-\u001f\u007f][^\u0000-\u001f\u007f]*$"


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": 1}


NUMBERS = _list(NUMBER)
ROWS = _list(NUMBERS)
ANSWER = {"type": ["string", "number", "boolean"]}

# an option is the same everywhere it occurs
OPTIONS: dict[str, dict[str, Any]] = {
    "epsilon": NOT_NEGATIVE,
    "threshold": NUMBER,
    "radius": POSITIVE,
    "center": NUMBER,
    "spread": POSITIVE,
    "variance": POSITIVE,
    "shape": POSITIVE,
    "successes": POSITIVE,
    "trials": {"type": "integer", "minimum": 1},
    "low": NUMBER,
    "high": NUMBER,
    "normals": ROWS,
    "offsets": NUMBERS,
    "weights": _list(NOT_NEGATIVE),
    "tracking": {"enum": ["C", "D"]},
    "order": {"type": "array"},
}
SPECIAL: dict[tuple[str, str], dict[str, Any]] = {("sphere", "center"): NUMBERS}
POLYHEDRON = {
    "type": "object",
    "properties": {"normals": ROWS, "offsets": NUMBERS, "lower": NUMBERS, "upper": NUMBERS},
    "additionalProperties": False,
}
BALL = {
    "type": "object",
    "properties": {"center": NUMBERS, "radius": POSITIVE, "outside": {"type": "boolean"}},
    "required": ["center", "radius"],
    "additionalProperties": False,
}
CELLS = _list({"anyOf": [BALL, POLYHEDRON]})
ALTERNATIVE = {
    "type": "object",
    "properties": {"answer": ANSWER, "cells": CELLS},
    "required": ["answer", "cells"],
    "additionalProperties": False,
}
WORDS = {
    "question": 'What is asked about the arms\' means: {kind = "best-arm", epsilon = 0.01}.',
    "arms": "The arms' labels.",
    "family": "What one sample looks like.",
    "delta": "How often the answer may be wrong.",
    "threshold": 'When the evidence is enough; "mixture" unless given.',
    "strategy": "Which arm comes next.",
    "budget": "At most so many samples.",
    "costs": "What a sample of each arm costs, for the accounts.",
}


def schema() -> dict[str, Any]:
    """The whole schema, as JSON would have it."""
    strategies = {k: v for k, v in spelling.STRATEGIES.items() if k != "oracle-weights"}
    label = {"type": "string", "maxLength": LONGEST_LABEL, "pattern": LABEL}
    parts: dict[str, dict[str, Any]] = {
        "question": {"$ref": "#/$defs/problem"},
        "arms": {**_list(label), "uniqueItems": True, "maxItems": MOST_ARMS},
        "family": _choice(spelling.FAMILIES),
        "delta": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "threshold": _choice(spelling.THRESHOLDS),
        "strategy": _choice(strategies, without=("region",)),
        "budget": {"type": ["integer", "null"], "minimum": 1},
        "costs": {**_list(POSITIVE), "type": ["array", "null"]},
    }
    return {
        "$schema": DRAFT,
        "title": "A stopwise campaign",
        "type": "object",
        "properties": {key: {"description": WORDS[key], **parts[key]} for key in KEYS},
        "required": ["question", "arms", "family", "delta"],
        "additionalProperties": False,
        "$defs": {"problem": _problem(), "part": _part()},
    }


def _choice(known: Mapping[str, Any], without: Sequence[str] = ()) -> dict[str, Any]:
    """One of these kinds, as a text or as a table."""
    options = {kind: _parameters(maker, without) for kind, maker in known.items()}
    return {"oneOf": [_texts(options), *(_table(kind, each) for kind, each in options.items())]}


def _problem() -> dict[str, Any]:
    """A question about all arms, as a text or as a table."""
    return {"oneOf": [_texts(_simple()), *_problems({})]}


def _part() -> dict[str, Any]:
    """A question about some arms, which it lists."""
    return {"oneOf": _problems({"arms": _list({"type": "integer", "minimum": 0})})}


def _simple() -> dict[str, dict[str, bool]]:
    """Problems that are not made of others, with their options."""
    found = {kind: _parameters(maker, ("arms",)) for kind, maker in spelling.PROBLEMS.items()}
    return {kind: options for kind, options in found.items() if kind not in ("product", "cells")}


def _problems(more: dict[str, Any]) -> list[dict[str, Any]]:
    parts, alternatives = _list({"$ref": "#/$defs/part"}), _list(ALTERNATIVE)
    return [
        *(_table(kind, options, more) for kind, options in _simple().items()),
        _object("product", {"parts": parts, **more}, ["parts", *more]),
        _object(
            "cells",
            {"alternatives": alternatives, "models": POLYHEDRON, **more},
            ["alternatives", *more],
        ),
    ]


def _parameters(maker: Any, without: Sequence[str]) -> dict[str, bool]:
    """The options of a kind, and whether each must be given."""
    if "__new__" not in vars(maker):
        return {}
    known = list(inspect.signature(maker.__new__).parameters.values())[1:]
    return {
        each.name: each.default is inspect.Parameter.empty
        for each in known
        if each.name not in without and each.kind is not inspect.Parameter.VAR_KEYWORD
    }


def _table(
    kind: str, options: dict[str, bool], more: dict[str, Any] | None = None
) -> dict[str, Any]:
    always = more or {}
    properties = {name: SPECIAL.get((kind, name), OPTIONS[name]) for name in options}
    needed = [name for name, must in options.items() if must]
    return _object(kind, {**properties, **always}, [*needed, *always])


def _object(kind: str, properties: dict[str, Any], needed: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"kind": {"const": kind}, **properties},
        "required": ["kind", *needed],
        "additionalProperties": False,
    }


def _texts(options: dict[str, dict[str, bool]]) -> dict[str, Any]:
    """``kind`` or ``kind:option=value,...``."""
    return {
        "type": "string",
        "pattern": f"^({'|'.join(_text(*item) for item in options.items())})$",
    }


def _text(kind: str, options: dict[str, bool]) -> str:
    if not options:
        return kind
    given = f":({'|'.join(options)})=.+"
    return kind + (given if any(options.values()) else f"({given})?")
