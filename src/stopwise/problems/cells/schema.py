"""How a file spells cells, as JSON Schema."""

from __future__ import annotations

from stopwise.core.options import NUMBERS, POSITIVE, ROWS

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
ALTERNATIVE = {
    "type": "object",
    "properties": {
        "answer": {"type": ["string", "number", "boolean"]},
        "cells": {"type": "array", "items": {"anyOf": [BALL, POLYHEDRON]}, "minItems": 1},
    },
    "required": ["answer", "cells"],
    "additionalProperties": False,
}
ALTERNATIVES = {"type": "array", "items": ALTERNATIVE, "minItems": 1}
