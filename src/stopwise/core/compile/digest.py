"""A digest of all that numba compiles a function from: its code, and the globals that the code reads."""

from __future__ import annotations

import dis
import enum
import hashlib
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from stopwise.core import functions
from stopwise.core.functions import Function

RELEASED = {*sys.stdlib_module_names, "numpy", "numba", "llvmlite", "scipy"}  # versions tell


class Unclear(Exception):
    """A function depends on a value of which no digest is known, such as a list."""


def digest(function: Function) -> str:
    """A text that changes whenever the function would be compiled to something else."""
    seen: set[int] = set()
    return hashlib.sha256(repr(_of_function(function, seen)).encode()).hexdigest()


def _of_function(function: Function, seen: set[int]) -> object:
    if id(function) in seen:
        return function.__qualname__
    seen.add(id(function))
    names = set(_names(function.__code__))
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    globals_read = _globals(function.__code__) & function.__globals__.keys()
    read = {name: function.__globals__[name] for name in globals_read}
    values = [*cells, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return (
        _of_code(function.__code__),
        [_of_value(value, names, seen) for value in values],
        [(name, _of_value(read[name], names, seen)) for name in sorted(read)],
    )


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _globals(code: CodeType) -> set[str]:
    """Names that are read as globals: an attribute may have the name of a global by chance."""
    found = {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}
    return found.union(*(_globals(each) for each in code.co_consts if isinstance(each, CodeType)))


def _of_code(code: CodeType) -> object:
    constants = [
        _of_code(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts
    ]
    places = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (code.co_code.hex(), constants, places, code.co_argcount, code.co_flags)


def _of_value(value: Any, names: set[str], seen: set[int]) -> object:
    """A value as compiled code sees it; of a module, what the function's names may read."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return (type(value).__qualname__, repr(value))
    if isinstance(value, np.ndarray | np.generic):
        return (str(value.dtype), np.shape(value), value.tobytes().hex())
    if isinstance(value, tuple):
        return (_of_class(type(value)), [_of_value(each, names, seen) for each in value])
    if isinstance(value, type):
        return _of_class(value)
    if isinstance(value, ModuleType):
        if _released(value.__name__):
            return (value.__name__, str(getattr(value, "__version__", "")))
        read = sorted(name for name in names if hasattr(value, name))
        return [(name, _of_value(getattr(value, name), names, seen)) for name in read]
    if hasattr(value, "py_func"):  # compiled by numba itself
        return (repr(value.targetoptions), _of_function(value.py_func, seen))
    if isinstance(value, FunctionType):
        known = value in functions.declared or _released(value.__module__)
    elif type(value).__module__.startswith("numba."):
        known = False  # made from a user's function: numba.vectorize
    else:
        known = callable(value) and _released(type(value).__module__) and hasattr(value, "__name__")
    if known:
        return (getattr(value, "__module__", ""), value.__name__)
    raise Unclear(f"{value!r} is neither a number, an array nor a function that stopwise knows")


def _of_class(kind: type) -> object:
    listed = kind if issubclass(kind, enum.Enum) else ()
    members = [(each.name, repr(each.value)) for each in listed]
    return (kind.__module__, kind.__qualname__, getattr(kind, "_fields", ()), members)


def _released(module: str) -> bool:
    return module.partition(".")[0] in RELEASED
