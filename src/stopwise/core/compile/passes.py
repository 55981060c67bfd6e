"""What numba need not do, or not again, for this package's own functions: a sixth of a first result.

They have no closures, comprehensions nor ``with``, and no branch that must go before types are known:
the passes that look for those are left out. What users write goes through all of them. What an
operation on numbers and arrays gives is found once for each compilation. bench/first_result.py measures.
"""

from __future__ import annotations

import importlib
from types import CodeType, ModuleType

from stopwise.core import functions
from stopwise.core.compile import numba_objects as nb
from stopwise.core.functions import Function

UNUSED = {
    "WithLifting",
    "InlineClosureLikes",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "RewriteSemanticConstants",
    "DeadBranchPrune",
    "LiteralPropagationSubPipelinePass",
    "InlineOverloads",
    "NoPythonSupportedFeatureValidation",
    "DumpParforDiagnostics",
}
INHERITED = {  # options that a function has from its caller unless it says otherwise, and their flags
    "_nrt": "nrt",
    "fastmath": "fastmath",
    "error_model": "error_model",
    "forceinline": "forceinline",
}


def replacements() -> list[nb.Replacement]:
    """What of numba is replaced, and by what."""
    builder = _internal("core.compiler").DefaultPassBuilder
    pipeline = "define_nopython_pipeline"
    calls = _internal("core.types.functions").BaseFunction
    return [
        nb.Replacement(builder, pipeline, _without_unused(getattr(builder, pipeline))),
        nb.Replacement(calls, "get_call_type", _typed_once(calls.get_call_type)),
    ]


def _internal(name: str) -> ModuleType:
    return importlib.import_module(f"numba.{name}")


def inherited() -> dict[str, str]:
    """What a function that is compiled now has from its caller."""
    flags = _internal("core.targetconfig").ConfigStack.top_or_none()
    return {option: repr(getattr(flags, flag)) for option, flag in INHERITED.items()}


def _without_unused(plain: Function) -> object:
    """numba's passes for a function, which it is told to run: those that may find something."""

    def define(state: nb.Pipeline, name: str = "nopython") -> nb.Pipeline:
        manager = plain(state, name)
        function = state.func_id
        nested = any(isinstance(each, CodeType) for each in function.code.co_consts)
        if function.modname.startswith("stopwise.") and not nested:
            manager.passes = [each for each in manager.passes if each[0].__name__ not in UNUSED]
            manager.finalize()
        return manager

    return staticmethod(define)


def _typed_once(plain: Function) -> Function:
    """What an operation on numbers and arrays gives: numba tries dozens of ways each time."""
    types = _internal("core.types")
    plainest = (types.Number, types.Boolean, types.Array)
    answers: dict[tuple[object, ...], tuple[nb.Signature, object]] = {}

    def find(
        self: nb.Type, context: nb.TypingContext, arguments: nb.Types, keywords: dict[str, nb.Type]
    ) -> nb.Signature:
        easy = not keywords and self.typing_key not in functions.declared
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
