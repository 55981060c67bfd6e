"""The only place that compiles and caches."""

from __future__ import annotations

import linecache
import os
import re
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

from stopwise.core import functions
from stopwise.core.compile import linking, methods, numba_objects as nb
from stopwise.core.compile.cache import KernelCache, classes, make_folder
from stopwise.core.compile.digest import Unclear, digest
from stopwise.core.functions import Function, Use
from stopwise.core.values import Role
from stopwise.core.waiting import waiting

F = TypeVar("F", bound=Function)


class NotOnDisk(Exception):
    """A kernel would have to be compiled."""


# Division by zero gives inf or nan, as with NumPy's numbers, and so can be vectorised. Inner
# functions need no wrappers for Python.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}
_INNER: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True}


def compiled(function: F, allocates: bool = True, anew: bool = True) -> F:
    """The function, compiled and cached on disk; the function itself when compilation is switched off.

    Without ``allocates`` neither the function nor what it calls may create arrays, but for functions that
    are declared so. Then no references are counted, which takes most of the time of a loop over small
    arrays. Without ``anew`` the first kernel must be on disk: otherwise the first call raises NotOnDisk.
    """
    if not switched_on():
        return function
    import numba

    options = {**_OPTIONS, "nogil": True, "_nrt": allocates}
    dispatcher: nb.Dispatcher = numba.njit(**options)(function)
    compile_plainly = dispatcher._compiler.compile
    cache = dispatcher._cache = KernelCache(cache_folder(), function, options)

    def compile_once(arguments: nb.Types, result: nb.Type) -> nb.CompileResult:
        if not (anew or dispatcher.overloads):
            raise NotOnDisk
        methods.teach_numba(install_pending)
        install_pending()
        with waiting(_message(arguments)):
            found, cache.uses = _linked(compile_plainly, arguments, result)
        return found

    dispatcher._compiler.compile = compile_once
    return cast("F", dispatcher)


def _linked(
    compile_plainly: Function, *given: nb.Types
) -> tuple[nb.CompileResult, list[Use] | None]:
    """A kernel, and the functions that it was compiled from; None if plain numba compiled it."""
    if not linking.is_tested():
        return compile_plainly(*given), None
    try:
        with linking.once(foreign_state()) as uses:
            return compile_plainly(*given), uses
    except Exception as error:
        found = compile_plainly(*given)  # raises if the function itself cannot be compiled
        warnings.warn(
            f"numba could not link a function once ({type(error).__name__}: {error}); it was compiled as "
            "plain numba does, which takes longer.",
            stacklevel=2,
        )
        return found, None


def _message(arguments: nb.Types) -> str:
    """What to print while somebody waits."""
    names = [kind.__name__ for kind in classes(arguments) if issubclass(kind, Role)]
    what = f"compiling for {', '.join(names)}" if names else "compiling"
    return f"{what}; cached for next time (silence with STOPWISE_QUIET=1)"


def foreign_state() -> str:
    """A digest of all functions and methods of users: when it changes, kernels are compiled anew."""
    return " ".join(map(_state, functions.foreign.values()))


def _state(function: Function) -> str:
    try:
        return digest(function)
    except Unclear:
        return str(id(function))


def switched_on() -> bool:
    """Whether anything is compiled at all."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def kind(value: object) -> object:
    """The type of a value with the types of all its parts: what a kernel is compiled for."""
    return (type(value), *map(kind, value)) if isinstance(value, tuple) else type(value)


def from_compiler(error: BaseException) -> bool:
    """Whether numba raised the error: a function cannot be compiled, rather than fails."""
    return type(error).__module__.startswith("numba")


def why_not(error: BaseException) -> str:
    """Which line could not be compiled, and why."""
    function, inner = linking.failures[0] if linking.failures else (None, error)
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(inner))
    first = re.sub(r"^Failed in .*\n", "", text).strip().partition("\n")[0]
    reason = first.partition(". Raised from")[0]
    found = re.search(r'File "[^"]*", line (\d+)', text)
    if function is None:
        return reason
    code = function.__code__
    line = int(found[1]) if found else code.co_firstlineno
    source = linecache.getline(code.co_filename, line).strip()
    return f"{Path(code.co_filename).name}, line {line}, in {code.co_name}: {source}\n  {reason}"


def install_pending() -> None:
    """Tell numba about every function declared since the last call."""
    from numba.extending import overload

    while functions.pending:
        function, choose, options = functions.pending.pop()
        register: Any = overload  # its stub knows fewer options than it takes
        register(function, strict=False, jit_options={**_INNER, **options})(choose)


def cache_folder() -> Path:
    """Where compiled code is kept: a folder that only its user writes, whatever the umask."""
    folder = Path(os.environ.get("STOPWISE_CACHE_DIR") or _user_cache()) / "stopwise"
    with suppress(OSError):
        make_folder(folder)
    return folder


def _user_cache() -> str:
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA", str(Path.home()))
    return os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
