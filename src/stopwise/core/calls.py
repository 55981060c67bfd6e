"""Tuples and arrays go whole from one compiled function to another.

numba passes each number of a tuple of arrays by itself, and puts the tuple together again in the
function: nearly half of all instructions, which LLVM then takes away.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

inner: set[Callable[..., Any]] = set()  # functions that were compiled for kernels


class Whole(tuple[Any, ...]):
    """The types of arguments that are passed whole; numba takes it for a tuple."""


def replacements() -> list[tuple[Any, str, Any]]:
    """What of numba is replaced, and by what."""
    described = _internal("funcdesc").PythonFunctionDescriptor
    context, name = _internal("base").BaseContext, "from_specialized_function"
    return [
        (described, name, describing(getattr(described, name))),
        (context, "get_arg_packer", packing(context.get_arg_packer)),
    ]


def _internal(name: str) -> Any:
    return importlib.import_module(f"numba.core.{name}")


def describing(plain: Callable[..., Any]) -> Any:
    """numba's description of a function, which says how it is called.

    What has no wrapper for Python is called by kernels only; anybody else calls as numba does.
    """
    stack = _internal("targetconfig").ConfigStack

    def describe(code: Any, *others: Any, **options: Any) -> Any:
        found, flags = plain(code, *others, **options), stack.top_or_none()
        if code.func_id.func in inner and flags.no_cpython_wrapper and flags.no_cfunc_wrapper:
            found.argtypes = Whole(found.argtypes)
        return found

    return staticmethod(describe)


def packing(plain: Callable[..., Any]) -> Any:
    """What puts arguments in their places."""
    packers: dict[Any, Any] = {}

    def find(context: Any, kinds: Any) -> Any:
        whole = isinstance(kinds, Whole)
        key = (whole, tuple(kinds))
        if key not in packers:
            packers[key] = (
                _Packer(context.data_model_manager, kinds) if whole else plain(context, kinds)
            )
        return packers[key]

    return find


class _Packer:
    """As numba's ArgPacker: what numba does for each argument, but for tuples and arrays."""

    def __init__(self, models: Any, kinds: Whole) -> None:
        types: Any = importlib.import_module("numba.core.types")
        alone: Any = _internal("datamodel").ArgPacker
        self.packers: list[Any] = [alone(models, (kind,)) for kind in kinds]
        self.places: list[slice] = []
        found: list[Any] = []
        for place, kind in enumerate(kinds):
            own = self.packers[place].argument_types
            if own and isinstance(kind, types.BaseTuple | types.Array):
                own, self.packers[place] = (models.lookup(kind).get_value_type(),), None
            self.places.append(slice(len(found), len(found) + len(own)))
            found += own
        self.argument_types = tuple(found)

    def as_arguments(self, builder: Any, values: Any) -> tuple[Any, ...]:
        found: list[Any] = []
        for packer, value in zip(self.packers, values, strict=True):
            found += (value,) if packer is None else packer.as_arguments(builder, (value,))
        return tuple(found)

    def from_arguments(self, builder: Any, arguments: Any) -> list[Any]:
        found: list[Any] = []
        for packer, place in zip(self.packers, self.places, strict=True):
            own = arguments[place]
            found += own if packer is None else packer.from_arguments(builder, own)
        return found

    def assign_names(self, arguments: Any, names: Any) -> None:
        for place, name in zip(self.places, names, strict=True):
            for each in arguments[place]:
                each.name = name
