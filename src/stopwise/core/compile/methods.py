"""How compiled code finds the methods of values: ``family.divergence(mu, lam)``, as in plain Python.

numba is told, by its extension API, to look for a method of a named tuple in the tuple's class. A method
that only returns a constant or ``self`` (most defaults of roles are such) is never compiled: its result
is written where it is called.
"""

from __future__ import annotations

import dis
import functools
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any

from stopwise.core import functions
from stopwise.core.compile import linking, numba_objects as nb
from stopwise.core.functions import Function, Use, decided_by, declare, marks
from stopwise.core.values import Value


@functools.cache
def finder(name: str) -> Function:
    """A function that calls the method of this name on its first argument, as ``len`` calls ``__len__``."""

    def call(value: Any, *given: Any) -> Any:
        return getattr(value, name)(*given)

    def dispatch(kind: type, other: type = object) -> Function:
        method = getattr(kind, name)
        return method.dispatch(other) if hasattr(method, "table") else method

    found: Any = call
    found.__name__ = found.__qualname__ = name
    found.__module__ = "stopwise.core.compile.methods"
    found.dispatch, found.on = dispatch, 2
    declare(found, lambda *types: dispatch(*decided_by(types[:2])), dict(marks.get(name, {})))
    return found


SELF = object()  # the result of a method that returns its own value
UNKNOWN = object()  # the result of a method that has more to do


@functools.cache
def constant_result(method: Function) -> object:
    """What a method returns, if its body is no more than ``return`` with a constant or ``self``."""
    body = [each for each in dis.get_instructions(method) if each.opname not in ("RESUME", "NOP")]
    names, found = " ".join(each.opname for each in body), body[0].argval
    if re.fullmatch(r"LOAD_FAST(_BORROW)? RETURN_VALUE", names) and found == "self":
        return SELF
    constant = re.fullmatch(r"LOAD_(CONST|SMALL_INT) RETURN_VALUE|RETURN_CONST", names)
    plain = isinstance(found, int | float | None) or _is_interval(found)
    return found if constant and plain else UNKNOWN


def _is_interval(found: object) -> bool:
    return isinstance(found, tuple) and all(isinstance(each, float) for each in found)


def _known_result(function: Function, types: nb.Types) -> object:
    """What a call of a method with arguments of these types returns, as far as its body alone says."""
    chosen = function.dispatch(*decided_by(types[:2]))  # type: ignore[attr-defined]
    if chosen.__code__.co_argcount != len(types):
        return UNKNOWN
    return constant_result(chosen)


@functools.cache
def teach_numba(install_pending: Callable[[], None]) -> None:
    """Let numba find the methods of values; ``install_pending`` tells it about their functions."""
    from numba import types
    from numba.core.typing.templates import AbstractTemplate, AttributeTemplate
    from numba.extending import infer_getattr, lower_builtin

    typing, imputils = nb.internal("core.typing"), nb.internal("core.imputils")

    @functools.cache
    def template(name: str) -> type[nb.Template]:
        function = finder(name)

        class Method(AbstractTemplate):
            this: nb.Type
            key = ("method", name)

            def generic(self, given: nb.Types, named: dict[str, nb.Type]) -> nb.Signature:
                result = _known_result(function, (self.this, *given))
                if result is not UNKNOWN:
                    kinds = decided_by((self.this, *given)[:2])
                    linking.note(Use(function, tuple(kinds)))
                    kind = self.this if result is SELF else typing.typeof.typeof(result)
                    return typing.signature(kind, *given, recvr=self.this)
                found = self.context.resolve_value_type(function)
                made = found.get_call_type(self.context, (self.this, *given), named)
                return made.as_method()

        def call(
            context: nb.TargetContext,
            builder: nb.Builder,
            signature: nb.Signature,
            given: nb.Values,
        ) -> nb.Values:
            result = _known_result(function, signature.args)
            if result is SELF:
                own = signature.args[0]
                return imputils.impl_ret_borrowed(context, builder, own, given[0])
            if result is not UNKNOWN:
                return context.get_constant_generic(builder, signature.return_type, result)
            found = context.typing_context.resolve_value_type(function)
            implementation = context.get_function(found, signature)
            context.add_linking_libs(getattr(implementation, "libs", ()))
            return implementation(builder, given)

        arguments: Any = types.VarArg
        lower: Any = lower_builtin
        lower(Method.key, types.BaseNamedTuple, arguments(types.Any))(call)
        return Method

    @infer_getattr
    class Methods(AttributeTemplate):
        key = types.BaseNamedTuple

        def generic_resolve(  # type: ignore[override]
            self, kind: nb.Type, name: str
        ) -> nb.Type | None:
            method = getattr(kind.instance_class, name, None)
            if not isinstance(method, FunctionType) or not issubclass(kind.instance_class, Value):
                return None
            found = template(name)
            install(self.context)
            return types.BoundFunction(found, kind)

    def install(context: nb.TypingContext) -> None:
        """Tell numba about methods that it meets for the first time."""
        if functions.pending:
            install_pending()
            context.refresh()
