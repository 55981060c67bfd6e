"""What an option of a problem, family, strategy or stopping rule may be, and what a form says of it."""

from __future__ import annotations

from typing import Any, NamedTuple


class Option(NamedTuple):
    """A JSON Schema, and a sentence for people.

    ``needed``: what to write where somebody leaves the option out of a campaign, which must say it: a
    wrong value spoils the guarantee, and no sample would be refused.
    """

    schema: dict[str, Any]
    hint: str = ""
    needed: str = ""

    def described(self) -> dict[str, Any]:
        """The schema with the sentence in it."""
        return {**self.schema, "description": self.hint} if self.hint else dict(self.schema)


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": 1}


NUMBER = {"type": "number"}
POSITIVE = {"type": "number", "exclusiveMinimum": 0}
NOT_NEGATIVE = {"type": "number", "minimum": 0}
COUNT = {"type": "integer", "minimum": 1}
NUMBERS = _list(NUMBER)
SHARES = _list(NOT_NEGATIVE)
ROWS = _list(NUMBERS)
ANYTHING: dict[str, Any] = {}
# what an annotation alone says of an option without a schema of its own
BY_TYPE: dict[str, dict[str, Any]] = {
    "int": {"type": "integer"},
    "float": NUMBER,
    "str": {"type": "string"},
    "bool": {"type": "boolean"},
}
