"""For the reference pages: how a value is made. griffe knows __init__; values have __new__ or fields."""

from __future__ import annotations

from typing import Any

import griffe


class Signatures(griffe.Extension):
    """Shows a NamedTuple's __new__, or else its fields, as the class's signature."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        if "__init__" in cls.members:
            return
        made = cls.members.get("__new__")
        if isinstance(made, griffe.Function):
            self._sign(cls, list(made.parameters)[1:])
        elif any(str(base) == "NamedTuple" for base in cls.bases):
            fields = dict(cls.attributes)
            self._sign(cls, [self._field(each) for each in fields.values()])
            for name in fields:  # the signature says it all
                cls.del_member(name)

    def _sign(self, cls: griffe.Class, parameters: list[griffe.Parameter]) -> None:
        first = griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)
        cls.set_member(
            "__init__",
            griffe.Function("__init__", parameters=griffe.Parameters(first, *parameters)),
        )

    def _field(self, field: griffe.Attribute) -> griffe.Parameter:
        return griffe.Parameter(
            field.name,
            annotation=field.annotation,
            default=field.value,
            kind=griffe.ParameterKind.positional_or_keyword,
        )
