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

from stopwise.core import calls, passes, shortcuts, structs, variables, verbs

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


class Block(NamedTuple):
    """What is compiled together: in which state of what users registered, and how the kernel is."""

    state: str
    allocates: bool


_callees: dict[Any, list[tuple[Use, Any]]] = {}  # what each of numba's dispatchers calls
failures: list[tuple[Callable[..., Any], Exception]] = []  # of the last block, innermost first
_counting: set[Callable[..., Any]] = set()  # functions that cannot do without references
_blocks: list[Block] = []
_calls: list[list[tuple[Use, Any]]] = []  # of what is being compiled, outermost first


@contextmanager
def once(block: Block) -> Iterator[list[Use]]:
    """What is compiled in this block is linked once; no other thread compiles meanwhile.

    Nothing is used again that was compiled in another state of what users registered. The list is
    filled, at the block's end, with everything that was compiled.
    """
    uses: list[Use] = []
    with _internal("core.compiler_lock").global_compiler_lock, _without_collector():
        changes = replacements()
        before = [(owner, name, vars(owner)[name]) for owner, name, _ in changes]
        try:
            _calls.append([])
            _blocks.append(block)
            failures.clear()
            for owner, name, value in changes:
                setattr(owner, name, value)
            yield uses
        finally:
            for owner, name, value in before:
                setattr(owner, name, value)
            _blocks.pop()
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
            *calls.replacements(),
            *shortcuts.replacements(),
            *structs.replacements(),
            *variables.replacements(),
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
    counting = "_nrt" not in template._jit_options and shortcuts.inherited()["_nrt"] == "True"
    ours = type(template).key in verbs.declared and not verbs.foreign
    if counting and ours and not _blocks[-1].allocates:
        found = _without_references(template, arguments, keywords)
        if found is not None:
            return found
    return _built(template, arguments, keywords)


def _without_references(template: Any, arguments: Any, keywords: Any) -> Any:
    """As for callers that count no references, so that both share one; not if it gives an array.

    None if it cannot be compiled so: it may create an array, as its caller may.
    """
    chosen, known = template._overload_func(*arguments), len(failures)
    if chosen in _counting:
        return None
    stack = _internal("core.targetconfig").ConfigStack()
    flags = stack.top().copy()
    flags.nrt = False
    try:
        with stack.enter(flags):
            dispatcher, given = found = _built(template, arguments, keywords)
            result = dispatcher.overloads[tuple(given)].signature.return_type
        if not dispatcher.targetctx.data_model_manager[result].contains_nrt_meminfo():
            return found
        _counting.add(chosen)
    except Exception:
        _counting.update(function for function, _ in failures[known:])
        del failures[known:]
        getattr(template.context.callstack, "_fail_cache", {}).clear()  # it would not try again
    return None


def _built(template: Any, arguments: Any, keywords: Any) -> Any:
    function, own = type(template).key, template._jit_options
    inherited = tuple(value for option, value in shortcuts.inherited().items() if option not in own)
    key = (
        template.context,
        tuple(arguments),
        tuple(keywords.items()),
        inherited,
        _blocks[-1].state,
    )
    found = template._impl_cache.get(key)
    if found is None:
        found = _compiled(template, key, arguments, keywords)
    if function in verbs.declared:
        kinds = verbs.decided_by(arguments[: getattr(function, "on", 0)])
        _calls[-1].append((Use(function, tuple(kinds)), found[0]))
    return found


def _compiled(template: Any, key: Any, arguments: Any, keywords: Any) -> Any:
    chosen = None
    if type(template).key in verbs.declared:
        chosen = template._overload_func(*arguments)
        calls.inner.add(chosen)
    _calls.append([])
    try:
        found = template._build_impl(key, arguments, keywords)
    except Exception as error:
        if chosen is not None:
            failures.append((chosen, error))
        raise
    finally:
        made = _calls.pop()
    _callees[found[0]] = made
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

        def _optimize_final_module(self) -> None:
            """Once: numba does it twice, to find more references that need not be counted."""
            manager, builder = self._codegen._module_pass_manager()
            manager.run(self._final_module, builder)

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
