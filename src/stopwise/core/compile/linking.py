"""Link, optimise and emit a compiled function once, with all that it calls.

When numba links a callee it first finishes the callee's own library, so that every level of a call
tree is optimised and turned into machine code again, although only the outermost function is ever
called from Python. Inside ``once`` a library only collects its callees; the outermost one links them
all. That halves the time of a first result, and uses numba's internals: so only with versions of numba
that the tests ran, and whatever goes wrong, ``kernels.py`` compiles again as numba always does.
"""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from stopwise.core import functions
from stopwise.core.compile import numba_objects as nb, passes
from stopwise.core.functions import Function, Use

TESTED = ("0.63.", "0.68.")  # versions of numba, oldest and newest: ``make test-versions``

_environments: dict[str, nb.Environment] = {}  # of inner functions: any later kernel may have them
_callees: dict[nb.Dispatcher, list[Call]] = {}  # by the compiled function that calls them
_states: list[str] = []  # of users' functions, while something is compiled
_calls: list[list[Call]] = []  # of what is being compiled, outermost first
failures: list[tuple[Function, Exception]] = []  # of the last kernel, innermost first


class Call(NamedTuple):
    """A use, and the compiled function that is called there; None if nothing had to be compiled."""

    use: Use
    callee: nb.Dispatcher | None


def is_tested() -> bool:
    """Whether this version of numba is one of those that the tests ran."""
    version: str = importlib.import_module("numba").__version__
    return version.startswith(TESTED)


@contextmanager
def once(state: str) -> Iterator[list[Use]]:
    """What is compiled in this block is linked once; no other thread compiles meanwhile.

    Nothing is used again that was compiled in another ``state`` of users' functions. The list is
    filled, at the block's end, with everything that was compiled.
    """
    uses: list[Use] = []
    with nb.internal("core.compiler_lock").global_compiler_lock, _without_collector():
        changes = _replacements()
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


def _replacements() -> list[nb.Replacement]:
    context = nb.internal("core.cpu").CPUContext
    template = nb.internal("core.typing.templates")._OverloadFunctionTemplate
    generator = type(nb.internal("core.registry").cpu_target.target_context.codegen())
    return [
        nb.Replacement(generator, "_library_class", _collecting(generator._library_class)),
        nb.Replacement(context, "get_executable", _executable(context.get_executable)),
        nb.Replacement(template, "_get_impl", _implementation),
        *passes.replacements(),
    ]


def _implementation(
    template: nb.Template, arguments: nb.Types, keywords: dict[str, nb.Type]
) -> tuple[nb.Dispatcher, nb.Types]:
    """What numba compiles for these types: again only where it would inherit other flags.

    By itself numba keeps one for each set of the caller's flags, inherited or not.
    """
    function, own = type(template).key, template._jit_options
    inherited = [value for option, value in passes.inherited().items() if option not in own]
    types = (tuple(arguments), tuple(keywords.items()))
    key = (template.context, *types, *inherited, _states[-1])
    found = template._impl_cache.get(key)
    if found is None:
        _calls.append([])
        try:
            found = template._build_impl(key, arguments, keywords)
        except Exception as error:
            if function in functions.declared:
                failures.append((template._overload_func(*arguments), error))
            raise
        finally:
            calls = _calls.pop()
        _callees[found[0]] = calls
    if function in functions.declared:
        kinds = functions.decided_by(arguments[: getattr(function, "on", 0)])
        _calls[-1].append(Call(Use(function, tuple(kinds)), found[0]))
    return found


def _closure(calls: list[Call], found: dict[Use, None]) -> dict[Use, None]:
    """Everything that is called, directly or not."""
    for use, callee in calls:
        if use not in found:
            found[use] = None
            _closure(_callees.get(callee, []), found)
    return found


def note(use: Use) -> None:
    """What is being compiled depends on a function that was not compiled."""
    if _calls:
        _calls[-1].append(Call(use, None))


def _executable(plain: Function) -> Function:
    """A function for Python: none for inner functions, whose libraries stay unfinished."""
    make = nb.internal("_dynfunc").make_function

    def get_executable(
        context: nb.TargetContext,
        library: nb.Library,
        function: nb.Descriptor,
        environment: nb.Environment,
    ) -> object:
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


def _is_inner(library: nb.Library, function: nb.Descriptor) -> bool:
    """Whether only compiled code calls it: one of numba's own, or without a wrapper for Python."""
    if library._finalized or not hasattr(library, "callees"):
        return False
    wrapper = function.llvm_cpython_wrapper_name
    lone = all(each.name != wrapper for each in library._final_module.functions)
    return lone or function.modname.startswith("numba.")


def _collecting(plain: type[nb.Library]) -> type[nb.Library]:
    """The class of code libraries that are finished with their outermost caller."""

    class Collecting(plain):  # type: ignore[misc]
        def add_linking_library(self, library: nb.Library) -> None:
            self._linking_libraries.append(library)

        def _optimize_functions(self, module: nb.Module) -> None:
            """Only once, in the end."""
            module.data_layout = self._codegen._data_layout

        def _optimize_final_module(self) -> None:
            """Once: numba does it twice, to find more references that need not be counted."""
            manager, builder = self._codegen._module_pass_manager()
            manager.run(self._final_module, builder)

        def callees(self) -> list[nb.Library]:
            """All that is called, directly or not, callers first: the linker takes what is asked for."""
            found: dict[nb.Library, None] = {}

            def visit(library: nb.Library) -> None:
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

    def unfinished(library: nb.Library) -> bool:
        return hasattr(library, "callees") and not library._finalized

    return Collecting


def _copy(module: nb.Module) -> nb.Module:
    """The module, with functions that may be inlined and left out."""
    external = importlib.import_module("llvmlite.binding").Linkage.external
    copy = module.clone()
    for function in copy.functions:
        if not function.is_declaration and function.linkage == external:
            function.linkage = "linkonce_odr"
    return copy
