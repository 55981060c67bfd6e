"""What numba computes again for each operation, though it depends on few types: computed once.

All of it holds for one kernel's compilation only.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from stopwise.core import verbs

INHERITED = {  # options that a function has from its caller unless it says otherwise, and their flags
    "_nrt": "nrt",
    "fastmath": "fastmath",
    "error_model": "error_model",
    "forceinline": "forceinline",
}
_last: list[Any] = [None, {}]  # flags of a function that is being compiled, and what is inherited


def inherited() -> dict[str, str]:
    """What a function that is compiled now has from its caller."""
    flags = _internal("targetconfig").ConfigStack.top_or_none()
    if flags is not _last[0]:
        told = {option: repr(getattr(flags, flag)) for option, flag in INHERITED.items()}
        _last[:] = [flags, told]
    found: dict[str, str] = _last[1]
    return found


def replacements() -> list[tuple[Any, str, Any]]:
    """What of numba is replaced, and by what."""
    base, contexts, inst = _internal("base"), _internal("typing.context"), _internal("ir").Inst
    functions, kinds = _internal("types.functions").BaseFunction, _internal("types.abstract").Type
    ufuncs, loop = _internal("typing.npydecl"), "ufunc_find_matching_loop"
    return [
        (ufuncs, loop, remembered(getattr(ufuncs, loop))),
        (base.BaseContext, "get_abi_sizeof", remembered(base.BaseContext.get_abi_sizeof)),
        (_internal("cpu").CPUContext, "load_additional_registries", _known),
        (contexts.Context, "load_additional_registries", _known),
        (inst, "_rec_list_vars", quickly(inst._rec_list_vars)),
        (kinds, "__hash__", by_identity(kinds.__hash__)),
        (functions, "get_call_type", typed_once(functions.get_call_type)),
        *_silence(),
    ]


def _internal(name: str) -> Any:
    return importlib.import_module(f"numba.core.{name}")


def _known(context: Any) -> None:
    """See what is new where numba keeps what it can compile; it has loaded all of them."""
    for registry in list(context._registries):
        context.install_registry(registry)


def _nothing(*_: Any, **__: Any) -> None:
    """What need not be done."""


def _no_timer(*_: Any) -> Any:
    return nullcontext()


def _silence() -> list[tuple[Any, str, Any]]:
    """numba tells its timers of each lock and pass; others that listen are told as ever."""
    event = _internal("event")
    listeners = [each for found in event._registered.values() for each in found]
    if any(not isinstance(each, event.TimingListener) for each in listeners):
        return []
    changes = [("start_event", _nothing), ("end_event", _nothing), ("install_timer", _no_timer)]
    return [(event, name, instead) for name, instead in changes]


def remembered(plain: Callable[..., Any]) -> Any:
    """A function of few types that numba asks for thousands of times, and computes each time."""
    answers: dict[Any, Any] = {}

    def find(subject: Any, given: Any) -> Any:
        key = (subject, tuple(given) if isinstance(given, list) else given)
        if key not in answers:
            answers[key] = plain(subject, given)
        return answers[key]

    return find


def quickly(plain: Callable[..., Any]) -> Any:
    """The variables in an instruction: most of what it holds is none."""
    variable, place = _internal("ir").Var, _internal("ir").Loc
    others = {place, str, int, type(None), bool}

    def find(self: Any, value: Any) -> list[Any]:
        found: list[Any] = []
        for each in value.values() if type(value) is dict else (value,):
            kind = type(each)
            if kind is variable:
                found.append(each)
            elif kind not in others:
                found += plain(self, each)
        return found

    return find


def by_identity(plain: Callable[..., int]) -> Any:
    """A type's hash, which is made of the hashes of all types in it."""
    known: dict[int, tuple[int, Any]] = {}  # with the type, so that no other one has its id

    def find(self: Any) -> int:
        found = known.get(id(self))
        if found is None:
            found = known[id(self)] = (plain(self), self)
        return found[0]

    return find


def typed_once(plain: Callable[..., Any]) -> Any:
    """What an operation on numbers and arrays gives: numba tries dozens of ways each time."""
    types = importlib.import_module("numba.core.types")
    plainest = (types.Number, types.Boolean, types.Array)
    answers: dict[Any, Any] = {}

    def find(self: Any, context: Any, arguments: Any, keywords: Any) -> Any:
        easy = not keywords and self.typing_key not in verbs.declared
        if not (easy and all(isinstance(types.unliteral(each), plainest) for each in arguments)):
            return plain(self, context, arguments, keywords)
        key = (self.typing_key, self.templates, tuple(arguments), *inherited().values())
        if key not in answers:
            found = plain(self, context, arguments, keywords)
            answers[key] = (found, self._impl_keys[found.args])
        found, implementation = answers[key]
        self._impl_keys[found.args] = implementation
        return found

    return find
