"""Functions that compiled code may call, and variants of them by the class of an argument.

Methods of values need no mark: compiled code finds them by their names (compile/methods.py). This module does
not import numba, which takes a second to load: compile/kernels.py tells it about them when it compiles.
"""

from __future__ import annotations

import functools
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple, TypeVar, overload

from stopwise.core.errors import BadArgument

Function = Callable[..., Any]  # of any parameters
F = TypeVar("F", bound=Function)
Options = dict[str, bool]  # how numba compiles a function

# for kernels.py to tell numba about: a function, how to choose its implementation, and options
pending: list[tuple[Function, Function, Options]] = []
declared: set[Function] = set()  # all functions for compiled code
foreign: dict[object, Function] = {}  # functions and methods from outside the package
marks: dict[str, Options] = defaultdict(dict)  # how methods of a name are compiled


@overload
def jitable(function: F) -> F: ...
@overload
def jitable(*, allocates: bool = False, inline: bool = False) -> Callable[[F], F]: ...
def jitable(function: Any = None, *, allocates: bool = False, inline: bool = False) -> Any:
    """A decorator: compiled code may call this function, which is then compiled with its caller.

    ``allocates``: the function may create arrays (see ``kernels.compiled``). ``inline``: the function is
    part of every round, and worth a longer compilation. Plain Python calls the function as it is.
    """
    if function is None:
        return functools.partial(jitable, allocates=allocates, inline=inline)
    if not isinstance(function, FunctionType):
        raise BadArgument("function", function, "a plain function, defined by def")
    declare(function, lambda *_: function, _options(allocates, inline))
    return function


@overload
def variants(function: F) -> F: ...
@overload
def variants(*, allocates: bool = False, inline: bool = False) -> Callable[[F], F]: ...
def variants(function: Any = None, *, allocates: bool = False, inline: bool = False) -> Any:
    """A decorator for functions and methods with variants by the class of their first argument.

    ``self`` does not count, and mostly the argument is a family; ``variant`` adds a variant.
    """
    if function is None:
        return functools.partial(variants, allocates=allocates, inline=inline)
    place = int(function.__code__.co_varnames[0] == "self")
    table: dict[type, Function] = {object: function}

    @functools.cache
    def dispatch(kind: type) -> Function:
        return next(table[each] for each in kind.__mro__ if each in table)

    @functools.wraps(function)
    def call(*given: Any) -> Any:
        kind: Any = type(given[place])
        return dispatch(kind)(*given)

    found: Any = call
    found.table, found.dispatch = table, dispatch
    found.on = 1  # so many arguments decide which variant is compiled
    if place == 0:
        declare(found, lambda *types: dispatch(*decided_by(types[:1])), _options(allocates, inline))
    return found


def variant(function: Function, kind: type) -> Callable[[F], F]:
    """A decorator: what ``function``, which has variants, does for values of this class."""

    def remember(implementation: F) -> F:
        of_many: Any = function
        of_many.table[kind] = implementation
        of_many.dispatch.cache_clear()
        remember_foreign((function, kind), implementation)
        return implementation

    return remember


def inline(method: F) -> F:
    """A decorator: methods of this name are part of every round, and worth a longer compilation."""
    marks[method.__name__].update(_options(False, True))
    return method


def allocates(method: F) -> F:
    """A decorator: methods of this name may create arrays."""
    marks[method.__name__].update(_options(True, False))
    return method


def declare(function: Function, choose: Function, options: Options) -> None:
    """Remember a function until something is compiled and numba must know it."""
    declared.add(function)
    remember_foreign(function, function)
    pending.append((function, choose, options))


class Use(NamedTuple):
    """A function that compiled code calls, and the classes that decide what is compiled for it."""

    function: Function
    kinds: tuple[type, ...]

    @property
    def chosen(self) -> Function:
        """What is compiled for it."""
        dispatch = getattr(self.function, "dispatch", None)
        return self.function if dispatch is None else dispatch(*self.kinds)


def foreign_sources() -> bytes:
    """The sources of all modules with users' functions; of a module without a file its name."""
    found = b""
    for name in sorted({function.__module__ for function in foreign.values()}):
        path = getattr(sys.modules.get(name), "__file__", None)
        found += name.encode() if path is None else Path(path).read_bytes()
    return found


def decided_by(types: Iterable[object]) -> list[type]:
    """The classes of values, given numba's types of the values; ``object`` for numbers and arrays."""
    return [getattr(each, "instance_class", object) for each in types]


def is_foreign(function: Function) -> bool:
    """Whether a function or a class is not the package's own."""
    return not function.__module__.startswith("stopwise.")


def remember_foreign(key: object, function: Function) -> None:
    """Remember a function from outside the package: if it changes, kernels are compiled anew."""
    if is_foreign(function):
        foreign[key] = function


def _options(allocates: bool, inline: bool) -> Options:
    return {"forceinline": inline, "_nrt": True} if allocates else {"forceinline": inline}
