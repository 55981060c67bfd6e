"""Link, optimise and emit a compiled function once, with all that it calls.

When numba links a callee it first finishes the callee's own library, so that every level of a call
tree is optimised and turned into machine code again, although only the outermost function is ever
called from Python. Inside ``once`` a library only collects its callees; the outermost one links them
all. This uses numba's internals: where they are not as expected, numba does as it always does.
"""

from __future__ import annotations

import gc
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from stopwise.core import passes, verbs

INHERITED = {  # flags that a function has from its caller, and the options that set them instead
    "nrt": "_nrt",
    "fastmath": "fastmath",
    "error_model": "error_model",
    "forceinline": "forceinline",
}
_environments: dict[str, Any] = {}  # of inner functions, which any later kernel may contain


class Use(NamedTuple):
    """A function that compiled code calls: a verb with the classes that decide, or a plain one."""

    function: Callable[..., Any]
    kinds: tuple[type, ...]

    @property
    def chosen(self) -> Callable[..., Any]:
        """What is compiled for it."""
        dispatch = getattr(self.function, "dispatch", None)
        found: Callable[..., Any] = self.function if dispatch is None else dispatch(*self.kinds)
        return found


_callees: dict[Any, list[tuple[Use, Any]]] = {}  # what each of numba's dispatchers calls
failures: list[tuple[Callable[..., Any], Exception]] = []  # of the last block, innermost first
_states: list[str] = []
_calls: list[list[tuple[Use, Any]]] = []  # of what is being compiled, outermost first


@contextmanager
def once(state: str) -> Iterator[list[Use]]:
    """What is compiled in this block is linked once; no other thread compiles meanwhile.

    Nothing is used again that was compiled in another ``state`` of what users registered. The list is
    filled, at the block's end, with everything that was compiled.
    """
    uses: list[Use] = []
    with _internal("core.compiler_lock").global_compiler_lock, _without_collector():
        changes = replacements()
        before = [(owner, name, vars(owner)[name]) for owner, name, _ in changes]
        try:
            _calls.append([])
            _states.append(state)
            failures.clear()
            for owner, name, value in changes:
                setattr(owner, name, value)
            yield uses
        finally:
            for owner, name, value in before:
                setattr(owner, name, value)
            _states.pop()
            uses.extend(_closure(_calls.pop(), {}))


@contextmanager
def _without_collector() -> Iterator[None]:
    """A compiler makes millions of objects that stay: looking for others takes a tenth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def replacements() -> list[tuple[Any, str, Any]]:
    """What of numba is replaced, and by what: nothing where it is not as expected."""
    try:
        context = _internal("core.cpu").CPUContext
        template = _internal("core.typing.templates")._OverloadFunctionTemplate
        generator = type(_internal("core.registry").cpu_target.target_context.codegen())
        plain = generator._library_class
        used = [
            *(getattr(plain, name) for name in _USED_OF_LIBRARY),
            *(context.get_env_name, template._get_impl, template._build_impl),
            *(generator.set_env, _internal("_dynfunc").make_function),
            _internal("core.targetconfig").ConfigStack.top_or_none,
        ]
        found = [
            (generator, "_library_class", _collecting(plain)),
            (context, "get_executable", _executable(context.get_executable)),
            (template, "_get_impl", _implementation),
            *passes.replacements(),
        ]
        expected = all(map(callable, used)) and all(name in vars(owner) for owner, name, _ in found)
        return found * expected
    except (ImportError, AttributeError):
        return []


_USED_OF_LIBRARY = (
    "_raise_if_finalized",
    "_get_module_for_linking",
    "_optimize_functions",
    "_optimize_final_module",
    "_finalize_final_module",
    "add_linking_library",
    "finalize",
)


def _internal(name: str) -> Any:
    return importlib.import_module(f"numba.{name}")


def _implementation(template: Any, arguments: Any, keywords: Any) -> Any:
    """What numba compiles for these types: again only where it would inherit other flags.

    By itself numba keeps one for each set of the caller's flags, inherited or not.
    """
    function = type(template).key
    flags, own = _internal("core.targetconfig").ConfigStack.top_or_none(), template._jit_options
    inherited = tuple(
        repr(getattr(flags, flag)) for flag, option in INHERITED.items() if option not in own
    )
    key = (template.context, tuple(arguments), tuple(keywords.items()), inherited, _states[-1])
    found = template._impl_cache.get(key)
    if found is None:
        _calls.append([])
        try:
            found = template._build_impl(key, arguments, keywords)
        except Exception as error:
            if function in verbs.declared:
                failures.append((template._overload_func(*arguments), error))
            raise
        finally:
            calls = _calls.pop()
        _callees[found[0]] = calls
    if function in verbs.declared:
        kinds = verbs.decided_by(arguments[: getattr(function, "on", 0)])
        _calls[-1].append((Use(function, tuple(kinds)), found[0]))
    return found


def _closure(calls: list[tuple[Use, Any]], found: dict[Use, None]) -> dict[Use, None]:
    for use, dispatcher in calls:
        if use not in found:
            found[use] = None
            _closure(_callees[dispatcher], found)
    return found


def _executable(plain: Any) -> Any:
    """A function for Python: none for inner functions, whose libraries stay unfinished."""
    make = _internal("_dynfunc").make_function

    def get_executable(context: Any, library: Any, function: Any, environment: Any) -> Any:
        if _is_inner(library, function):
            _environments[context.get_env_name(function)] = environment
            name = function.qualname.split(".")[-1]
            return make(function.lookup_module(), name, "inner", 0, environment, (library,))
        found = plain(context, library, function, environment)
        codegen = library.codegen
        for name, each in _environments.items():
            if codegen._engine.get_global_value_address(name):  # 0: nothing is left of it
                codegen.set_env(name, each)
        return found

    return get_executable


def _is_inner(library: Any, function: Any) -> bool:
    """Whether only compiled code calls it: one of numba's own, or without a wrapper for Python."""
    if library._finalized or not hasattr(library, "callees"):
        return False
    wrapper = function.llvm_cpython_wrapper_name
    lone = all(each.name != wrapper for each in library._final_module.functions)
    return lone or function.modname.startswith("numba.")


def _collecting(plain: Any) -> Any:
    """The class of code libraries that are finished with their outermost caller."""

    class Collecting(plain):  # type: ignore[misc]
        def add_linking_library(self, library: Any) -> None:
            self._linking_libraries.append(library)

        def _optimize_functions(self, module: Any) -> None:
            """Only once, in the end."""
            module.data_layout = self._codegen._data_layout

        def callees(self) -> list[Any]:
            """All that is called, directly or not, callers first: the linker takes what is asked for."""
            found: dict[Any, None] = {}

            def visit(library: Any) -> None:
                for each in library._linking_libraries:
                    if each not in found:
                        if unfinished(each):
                            visit(each)
                        found[each] = None

            visit(self)
            return list(found)[::-1]

        def finalize(self) -> None:
            self._raise_if_finalized()
            for each in self.callees():
                self._reload_init.update(each._reload_init)
                if unfinished(each):
                    self._final_module.link_in(_copy(each._final_module))
                else:
                    self._final_module.link_in(each._get_module_for_linking(), preserve=True)
            self._optimize_final_module()
            self._final_module.verify()
            self._finalize_final_module()

    def unfinished(library: Any) -> bool:
        return hasattr(library, "callees") and not library._finalized

    return Collecting


def _copy(module: Any) -> Any:
    """The module, with functions that may be inlined and left out."""
    external = importlib.import_module("llvmlite.binding").Linkage.external
    copy = module.clone()
    for function in copy.functions:
        if not function.is_declaration and function.linkage == external:
            function.linkage = "linkonce_odr"
    return copy
