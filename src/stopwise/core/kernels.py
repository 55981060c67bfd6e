"""The only place that compiles and caches."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from stopwise.core import linking, verbs

F = TypeVar("F", bound=Callable[..., Any])

# Division by zero gives inf or nan, as with NumPy's numbers, and so can be vectorised. Inner
# functions need no wrappers for Python.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}
_INNER: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True}
_PACKAGE = Path(__file__).parent.parent
# rooms with functions that are compiled, and what they import
_COMPILED = {"cells", "core", "engine", "families", "oracles", "problems", "sampling", "stopping"}


def compiled(function: F, allocates: bool = True) -> F:
    """The function, compiled and cached on disk; itself when compilation is switched off.

    Without ``allocates`` it may create no arrays, nor may what it calls unless declared so. Then no
    references are counted, which in a loop over small arrays is most of the time. Nothing is cached
    where somebody outside the package registered a function.
    """
    if not switched_on():
        return function
    import numba

    options = {**_OPTIONS, "nogil": True, "_nrt": allocates}
    if verbs.has_foreign():
        return _linked_once(numba.njit(**options)(function))
    with _cache_directory():
        try:
            return _linked_once(numba.njit(cache=True, **options)(function))
        except RuntimeError:  # no folder can be written: compile in every process
            return _linked_once(numba.njit(**options)(function))


def _linked_once(dispatcher: Any) -> Any:
    """Change how numba compiles what is not in the cache; nothing else."""
    plain = dispatcher._compiler.compile

    def compile_once(arguments: Any, result: Any) -> Any:
        _install()
        with linking.once():
            return plain(arguments, result)

    dispatcher._compiler.compile = compile_once
    return dispatcher


def switched_on() -> bool:
    """Whether anything is compiled at all."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def kind(value: Any) -> Any:
    """What compiled code depends on: the type of a value and of all that is in it."""
    return (type(value), *map(kind, value)) if isinstance(value, tuple) else type(value)


def from_compiler(error: BaseException) -> bool:
    """Whether numba raised it: a function that cannot be compiled, not one that fails."""
    return type(error).__module__.startswith("numba")


def _install() -> None:
    """Tell numba about every verb and helper declared since the last call."""
    from numba.extending import overload

    while verbs.pending:
        function, choose, options = verbs.pending.pop()
        register: Any = overload  # its stub knows fewer options than it takes
        register(function, strict=False, jit_options={**_INNER, **options})(choose)


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
