"""Names for numba's objects, whose classes have no types that a checker could use."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, NamedTuple

Type = Any  # of a value: float64, an array's, or that of a named tuple, which has an ``instance_class``
Types = tuple[Any, ...]  # of a call's arguments
Signature = Any  # types of a call's arguments, and of what the call returns
TypingContext = Any  # finds signatures
Template = Any  # knows the signatures of one function, or of one method
TargetContext = Any  # turns calls into machine code
Builder = Any  # writes the code of one function
Values = Any  # in that code
Library = Any  # machine code on its way: a module of LLVM, and the libraries that the module calls
Module = Any  # of LLVM
Descriptor = Any  # the names by which a compiled function is known
Environment = Any  # the Python objects that a compiled function needs
Dispatcher = Any  # a function with all that was compiled of it, by types
CompileResult = Any  # what compiling gave for one signature
Pipeline = Any  # the passes from byte code to machine code, and their state


class Replacement(NamedTuple):
    """What of numba is replaced, and by what."""

    owner: type
    attribute: str
    value: object


def internal(name: str) -> ModuleType:
    """A module of numba that is not part of its extension API."""
    return importlib.import_module(f"numba.{name}")
