"""How compiled code finds the methods of values: ``family.divergence(mu, lam)``, as in plain Python.

numba is told, by its extension API, to look for a method of a named tuple in the tuple's class.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from stopwise.core import functions
from stopwise.core.compile import numba_objects as nb
from stopwise.core.functions import Function, decided_by, declare, marks
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


@functools.cache
def teach_numba(install_pending: Callable[[], None]) -> None:
    """Let numba find the methods of values; ``install_pending`` tells it about their functions."""
    from numba import types
    from numba.core.typing.templates import AbstractTemplate, AttributeTemplate
    from numba.extending import infer_getattr, lower_builtin

    @functools.cache
    def template(name: str) -> type[nb.Template]:
        function = finder(name)

        class Method(AbstractTemplate):
            this: nb.Type
            key = ("method", name)

            def generic(self, given: nb.Types, named: dict[str, nb.Type]) -> nb.Signature:
                found = self.context.resolve_value_type(function)
                made = found.get_call_type(self.context, (self.this, *given), named)
                return made.as_method()

        def call(
            context: nb.TargetContext,
            builder: nb.Builder,
            signature: nb.Signature,
            given: nb.Values,
        ) -> nb.Values:
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
