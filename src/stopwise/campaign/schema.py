"""The JSON Schema of a campaign's spec, made from the names, titles and options that the registry knows.

It describes one key at a time. What depends on several (as many costs as arms, a problem that is not
solved for a family) only ``spec.make`` checks. Titles and descriptions are what a form shows.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from stopwise.campaign.order import LOSSES, ORDERS
from stopwise.campaign.spec import (
    ADDITIONS,
    GOALS,
    KEYS,
    LONGEST_LABEL,
    MOST_ARMS,
    MOST_ITEMS,
)
from stopwise.core import registry, spelling
from stopwise.core.options import BY_TYPE, POSITIVE, Option

DRAFT = "https://json-schema.org/draft/2020-12/schema"
LABEL = r"^[^\u0000-\u001f\u007f]*[^\s\u0000-\u001f\u007f][^\u0000-\u001f\u007f]*$"
WORDS = {
    "question": 'What is asked about the arms\' means: {kind = "best-arm", epsilon = 0.01}.',
    "arms": "The arms' labels.",
    "family": "What one sample looks like. Latency, revenue, scores: docs/continuous-metrics.md.",
    "delta": "How often the answer may be wrong.",
    "stopping": "When the evidence is enough; what suits the family unless given.",
    "strategy": "Which arm comes next; what suits the question unless given.",
    "budget": "At most so many samples.",
    "costs": "What a sample of each arm costs.",
    "order": "Samples count in the order in which they were asked, or as they are told.",
    "losses": "A value that does not come counts as the worst that it could be, until it comes; or it "
    "is left out, which is right only if losses have nothing to do with values. docs/missing.md.",
    "room": "So many arms at most, with those that are added later; costs a little.",
    "additions": "Whether samples may decide which arm is added; planned ones cost less.",
    "minimise": "What is saved: samples, or what they cost; the cost, if costs are given.",
    "minimum": "No decision before every arm has so many samples.",
    "paired": "Prompts on the same questions, programs in the same minute: their differences are "
    "tested, which takes fewer samples. docs/paired.md.",
    "items": "How many items there are, such as the questions of a data set; unlimited if not given.",
    "deterministic": "An option always has the same result on an item: then the answer is about just "
    "these items. Not so for sampled answers and for judges that are models.",
}


def schema() -> dict[str, Any]:
    """The whole schema, as JSON would have it."""
    problems = registry.load("problem")
    runnable = {
        name: each for name, each in registry.load("strategy").items() if not each.needs_truth
    }
    label = {"type": "string", "maxLength": LONGEST_LABEL, "pattern": LABEL}
    parts: dict[str, dict[str, Any]] = {
        "question": {"$ref": "#/$defs/problem"},
        "arms": {**_list(label), "uniqueItems": True, "maxItems": MOST_ARMS},
        "family": _choice(registry.load("family")),
        "delta": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "stopping": _choice(registry.load("stopping")),
        "strategy": _choice(runnable),
        "budget": {"type": ["integer", "null"], "minimum": 1},
        "costs": {**_list(POSITIVE), "type": ["array", "null"]},
        "order": {"enum": list(ORDERS)},
        "losses": {"enum": list(LOSSES)},
        "minimum": {"type": "integer", "minimum": 0},
        "room": {"type": ["integer", "null"], "minimum": 1},
        "additions": {"enum": list(ADDITIONS)},
        "minimise": {"enum": list(GOALS)},
        "paired": {"type": "boolean"},
        "items": {"type": ["integer", "null"], "minimum": 1, "maximum": MOST_ITEMS},
        "deterministic": {"type": "boolean"},
    }
    group = {"arms": _list({"type": "integer", "minimum": 0})}
    part = {"oneOf": [_table(name, each, group) for name, each in problems.items()]}
    return {
        "$schema": DRAFT,
        "title": "A stopwise campaign",
        "type": "object",
        "properties": {key: {"description": WORDS[key], **parts[key]} for key in KEYS},
        "required": ["question", "arms", "family", "delta"],
        "additionalProperties": False,
        "$defs": {"problem": _choice(problems), "part": part},
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": 1}


def _choice(known: Mapping[str, Any]) -> dict[str, Any]:
    """One of these kinds, as a text or as a table."""
    texts = [_text(name, each) for name, each in known.items() if not hasattr(each, "from_table")]
    return {
        "oneOf": [
            {"type": "string", "pattern": f"^({'|'.join(texts)})$"},
            *(_table(name, each, {}) for name, each in known.items()),
        ]
    }


def _options(kind: Any) -> dict[str, inspect.Parameter]:
    """What a file may say of it: all but the number of arms, which is that of the labels."""
    found = spelling.parameters(kind)
    return {name: each for name, each in found.items() if name != "arms"}


def _needed(kind: Any, key: str, each: inspect.Parameter) -> bool:
    option = kind.options.get(key)
    return each.default is inspect.Parameter.empty or bool(option and option.needed)


def _table(name: str, kind: Any, more: dict[str, Any]) -> dict[str, Any]:
    options = _options(kind)
    properties = {key: _schema(kind, key, each) for key, each in options.items()}
    needed = [key for key, each in options.items() if _needed(kind, key, each)]
    return {
        "title": kind.title or name,
        "type": "object",
        "properties": {"kind": {"const": name}, **properties, **more},
        "required": ["kind", *needed, *more],
        "additionalProperties": False,
    }


def _schema(kind: Any, key: str, each: inspect.Parameter) -> dict[str, Any]:
    """As the class says, else as its annotation does."""
    annotation = getattr(each.annotation, "__name__", str(each.annotation))
    by_type = BY_TYPE.get(annotation.partition(" ")[0], {})
    option: Option = kind.options.get(key, Option(by_type))
    return option.described()


def _text(name: str, kind: Any) -> str:
    """``kind`` or ``kind:option=value,...``."""
    options = _options(kind)
    if not options:
        return name
    given = f":({'|'.join(options)})=.+"
    needed = any(_needed(kind, key, each) for key, each in options.items())
    return name + (given if needed else f"({given})?")
