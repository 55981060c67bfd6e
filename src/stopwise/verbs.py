"""One verb, two worlds: dispatch on a value's type in plain Python and in compiled code.

A *verb* is a function that chooses its implementation by the type of its first argument, an
immutable NamedTuple. In plain Python that is ``functools.singledispatch``; in compiled code the
same registry answers numba's ``overload``, so that a user's type, registered in the user's own
script, is inlined into compiled loops. Nothing here imports numba before something is compiled.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
Choose = Callable[..., Any]

# Division by zero gives inf or nan, as with NumPy's numbers, and so can be vectorised. Inner
# functions need no wrappers for Python.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}
_INNER: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True}
_PACKAGE = Path(__file__).parent
_COMPILED = {  # rooms with functions that are compiled, and what they import
    *("arrays.py", "checks.py", "engine", "families", "oracles", "problems"),
    *("sampling", "shapes", "stopping", "values.py", "verbs.py"),
}
_pending: list[tuple[Callable[..., Any], Choose, dict[str, Any]]] = []
_foreign: set[str] = set()


def verb(
    default: Callable[..., Any] | None = None, *, allocates: bool = False, inline: bool = False
) -> Any:
    """Make ``default`` a verb: its body serves every type that registers nothing of its own.

    ``allocates`` says that implementations may create arrays, see ``compiled``; ``inline`` that they
    are part of every round, and worth a longer compilation.
    """
    if default is None:
        return functools.partial(verb, allocates=allocates, inline=inline)
    dispatcher = functools.singledispatch(default)
    plain_register = dispatcher.register

    def register(kind: type, function: Callable[..., Any] | None = None) -> Any:
        if function is None:
            return lambda later: register(kind, later)
        if not function.__module__.startswith("stopwise."):
            _foreign.add(function.__module__)
        return plain_register(kind, function)

    dispatcher.register = register  # type: ignore[assignment]

    def choose(*types: Any) -> Any:
        return dispatcher.dispatch(_python_class(types[0]))

    _pending.append((dispatcher, choose, _inner(allocates, inline)))
    return dispatcher


def jitable(function: Any = None, *, allocates: bool = False, inline: bool = False) -> Any:
    """Let compiled code call this plain function (it is compiled with its caller)."""
    if function is None:
        return functools.partial(jitable, allocates=allocates, inline=inline)
    _pending.append((function, lambda *_: function, _inner(allocates, inline)))
    return function


def has_foreign() -> bool:
    """Whether somebody outside the package registered a function: nothing is cached on disk then."""
    return bool(_foreign)


def foreign_sources() -> bytes:
    """The files (or names, where there is no file) of all modules that registered functions."""
    found = b""
    for name in sorted(_foreign):
        path = getattr(sys.modules.get(name), "__file__", None)
        found += name.encode() if path is None else Path(path).read_bytes()
    return found


def _inner(allocates: bool, inline: bool) -> dict[str, Any]:
    options = {**_INNER, "forceinline": inline}
    return {**options, "_nrt": True} if allocates else options


def compiled(function: F, allocates: bool = True) -> F:
    """The function, compiled and cached on disk; itself when compilation is switched off.

    Without ``allocates`` it may create no arrays, nor may what it calls unless declared so. Then no
    references are counted, which in a loop over small arrays is most of the time.
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return function
    import numba

    _install()
    options = {**_OPTIONS, "nogil": True, "_nrt": allocates}
    if _foreign:
        return cast(F, numba.njit(**options)(function))
    with _cache_directory():
        try:
            return cast(F, numba.njit(cache=True, **options)(function))
        except RuntimeError:  # no folder can be written: compile in every process
            return cast(F, numba.njit(**options)(function))


def _install() -> None:
    """Tell numba about every verb and helper declared since the last call."""
    from numba.extending import overload

    while _pending:
        function, choose, options = _pending.pop()
        register: Any = overload  # its stub knows fewer options than it takes
        register(function, strict=False, jit_options=options)(choose)


def _python_class(numba_type: Any) -> type:
    from numba import types

    if isinstance(numba_type, types.BaseNamedTuple):
        return cast(type, numba_type.instance_class)  # type: ignore[attr-defined]
    return object


@contextmanager
def _cache_directory() -> Iterator[None]:
    """Cache under a folder named by the sources: numba does not see an edit in another file."""
    from numba.core import config as numba_config

    config: Any = numba_config

    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_folder())
    try:
        yield
    finally:
        config.CACHE_DIR = before


def cache_folder() -> Path:
    """Where compiled code of these sources is kept."""
    from numba.core import config as numba_config

    config: Any = numba_config
    root = config.CACHE_DIR or os.environ.get("STOPWISE_CACHE_DIR") or _user_cache()
    return Path(root) / "stopwise" / _source_hash()


def _user_cache() -> str:
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA", str(Path.home()))
    return os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")


@functools.cache
def _source_hash() -> str:
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        place = path.relative_to(_PACKAGE)
        if place.parts[0] in _COMPILED:
            digest.update(place.as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
