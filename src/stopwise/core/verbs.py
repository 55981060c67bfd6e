"""One verb, two worlds: dispatch on the types of values in plain Python and in compiled code.

A *verb* is a function that chooses its implementation by the type of its first argument, or of its
first two (a problem and a family). The arguments are immutable NamedTuples. In compiled code the same
table answers numba's ``overload``, so that a user's type, registered in the user's own script, is
inlined into compiled loops. Nothing here imports numba.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

# what kernels.py has not yet told numba: a function, how to choose its implementation, and options
pending: list[tuple[Callable[..., Any], Callable[..., Any], dict[str, Any]]] = []
declared: set[Callable[..., Any]] = set()  # every verb, and every function for compiled code
foreign: dict[
    Any, Callable[..., Any]
] = {}  # what somebody outside the package registered, and where


def verb(
    default: Callable[..., Any] | None = None,
    *,
    on: int = 1,
    allocates: bool = False,
    inline: bool = False,
) -> Any:
    """Make ``default`` a verb: its body serves every type that registers nothing of its own.

    ``on`` is how many arguments decide, 1 or 2; a match in the first counts more than one in the
    second. ``allocates`` says that implementations may create arrays, see ``kernels.compiled``;
    ``inline`` that they are part of every round, and worth a longer compilation.
    """
    if default is None:
        return functools.partial(verb, on=on, allocates=allocates, inline=inline)
    table: dict[tuple[type, ...], Callable[..., Any]] = {(object,) * on: default}
    chosen: dict[tuple[type, ...], Callable[..., Any]] = {}

    def dispatch(*kinds: type) -> Callable[..., Any]:
        """The implementation for these types; what is left out counts as ``object``."""
        key = (*kinds, *(object,) * (on - len(kinds)))
        if key not in chosen:
            chosen[key] = _closest(table, key)
        return chosen[key]

    def register(*kinds: type) -> Callable[[Any], Any]:
        """A decorator: this is the implementation for these types."""

        def remember(function: Callable[..., Any]) -> Callable[..., Any]:
            table[(*kinds, *(object,) * (on - len(kinds)))] = function
            chosen.clear()
            if _is_foreign(function):
                foreign[(found, *kinds)] = function
            return function

        return remember

    if on == 1:

        def call(*values: Any) -> Any:
            kind = (type(values[0]),)
            return (chosen.get(kind) or dispatch(*kind))(*values)
    else:

        def call(*values: Any) -> Any:
            kinds = (type(values[0]), type(values[1]))
            return (chosen.get(kinds) or dispatch(*kinds))(*values)

    found: Any = functools.update_wrapper(call, default)
    found.register, found.dispatch, found.on = register, dispatch, on
    declared.add(found)
    pending.append(
        (found, lambda *types: dispatch(*decided_by(types[:on])), _options(allocates, inline))
    )
    return found


def jitable(function: Any = None, *, allocates: bool = False, inline: bool = False) -> Any:
    """Let compiled code call this plain function (it is compiled with its caller)."""
    if function is None:
        return functools.partial(jitable, allocates=allocates, inline=inline)
    declared.add(function)
    if _is_foreign(function):
        foreign[function] = function
    pending.append((function, lambda *_: function, _options(allocates, inline)))
    return function


def registered(verb: Any, *kinds: type) -> bool:
    """Whether a verb has an implementation of their own for these types, or their bases."""
    return verb.dispatch(*kinds) is not verb.dispatch(object)


def foreign_sources() -> bytes:
    """The files (or names, where there is no file) of all modules that registered functions."""
    found = b""
    for name in sorted({function.__module__ for function in foreign.values()}):
        path = getattr(sys.modules.get(name), "__file__", None)
        found += name.encode() if path is None else Path(path).read_bytes()
    return found


def decided_by(types: Any) -> list[type]:
    """The classes of values, given numba's types for them."""
    return [getattr(each, "instance_class", object) for each in types]


def _is_foreign(function: Callable[..., Any]) -> bool:
    return not function.__module__.startswith("stopwise.")


def _closest(
    table: dict[tuple[type, ...], Callable[..., Any]], kinds: tuple[type, ...]
) -> Callable[..., Any]:
    for first in kinds[0].__mro__:
        if len(kinds) == 1:
            if (first,) in table:
                return table[(first,)]
            continue
        for second in kinds[1].__mro__:
            if (first, second) in table:
                return table[first, second]
    raise LookupError("a verb without a default")  # pragma: no cover


def _options(allocates: bool, inline: bool) -> dict[str, Any]:
    return {"forceinline": inline, "_nrt": True} if allocates else {"forceinline": inline}
