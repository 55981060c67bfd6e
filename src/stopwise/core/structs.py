"""Fields of an array are read from its value.

numba writes the value to memory first, after two rounds of zeros, and reads a field from there: a third
of the instructions that LLVM is given.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def replacements() -> list[tuple[Any, str, Any]]:
    """What of numba is replaced, and by what."""
    cgutils: Any = importlib.import_module("numba.core.cgutils")
    arrays: Any = importlib.import_module("numba.np.arrayobj")
    proxy = cgutils._StructProxy
    return [
        (proxy, "__init__", beginning(proxy.__init__)),
        (proxy, "__getattr__", in_memory(proxy.__getattr__, cgutils.alloca_once)),
        (proxy, "__getitem__", reading(proxy.__getitem__)),
        (proxy, "_getvalue", whole(proxy._getvalue)),
        (arrays, "make_array", quick_arrays(arrays.make_array)),
    ]


def beginning(plain: Callable[..., None]) -> Any:
    """A value whose fields are asked for: kept as it is, until somebody writes to it."""

    def begin(self: Any, context: Any, builder: Any, value: Any = None, ref: Any = None) -> None:
        place = _place(builder)
        if value is None or ref is not None or place is None or not hasattr(self, "_reads_values"):
            plain(self, context, builder, value, ref)
            return
        self._context, self._builder = context, builder
        self._datamodel = context.data_model_manager[self._fe_type]
        self._be_type = self._get_be_type(self._datamodel)
        if value.type != self._be_type:
            raise AssertionError(f"bad value type: expected {self._be_type}, got {value.type}")
        self._given, self._place = value, place

    return begin


def _place(builder: Any) -> Any:
    """The instruction after which the value would be written; None where that is not simple."""
    block = builder.block
    found = block.instructions
    if block is block.parent.entry_basic_block or not found or builder._anchor != len(found):
        return None
    return found[-1]


def in_memory(plain: Callable[..., Any], allocate: Callable[..., Any]) -> Any:
    """A field, or where the value is in memory: written there now, as if at the beginning."""

    def find(self: Any, name: str) -> Any:
        if name not in ("_value", "_outer_ref") or "_given" not in self.__dict__:
            return plain(self, name)
        value, place, builder = self.__dict__.pop("_given"), self._place, self._builder
        self._value = self._outer_ref = allocate(builder, self._be_type)
        with builder.goto_block(place.parent):
            builder.position_after(place)
            builder.store(value, self._value)
        return self._value

    return find


def reading(plain: Callable[..., Any]) -> Any:
    """One field."""

    def read(self: Any, place: int) -> Any:
        given = self.__dict__.get("_given")
        return plain(self, place) if given is None else self._builder.extract_value(given, place)

    return read


def whole(plain: Callable[..., Any]) -> Any:
    """The value."""

    def read(self: Any) -> Any:
        given = self.__dict__.get("_given")
        return plain(self) if given is None else given

    return read


def quick_arrays(plain: Callable[..., Any]) -> Any:
    """The class for an array's fields: made once, and read from the value for NumPy's own arrays."""
    types: Any = importlib.import_module("numba.core.types")
    known: dict[Any, Any] = {}

    def find(kind: Any) -> Any:
        if kind not in known:
            known[kind] = plain(kind)
            if type(kind) is types.Array and kind.ndim > 0:
                known[kind] = _of_values(known[kind])
        return known[kind]

    return find


def _of_values(base: Any) -> Any:
    class Fields(base):  # type: ignore[misc]
        _reads_values = True

        @property
        def shape(self) -> Any:
            given = self.__dict__.get("_given")
            if given is None:
                return base.shape.fget(self)
            return self[self._datamodel.get_field_position("shape")]

    return Fields
