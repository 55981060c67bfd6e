"""What numba need not do, or not again, for this package's own functions: a sixth of a first result.

They have no closures, comprehensions nor ``with``, and no branch that must go before types are known:
the passes that look for those are left out. What users write goes through all of them. Where variables
end, and what an operation on numbers and arrays gives, is found once. bench/first_result.py measures.
"""

from __future__ import annotations

from types import CodeType

from stopwise.core import functions
from stopwise.core.compile import numba_objects as nb
from stopwise.core.functions import Function

UNUSED = {
    "WithLifting", "InlineClosureLikes", "MakeFunctionToJitFunction", "InlineInlinables",
    "FindLiterallyCalls", "LiteralUnroll", "RewriteSemanticConstants", "DeadBranchPrune",
    "LiteralPropagationSubPipelinePass", "InlineOverloads", "NoPythonSupportedFeatureValidation",
    "DumpParforDiagnostics",
}  # fmt: skip
# options that a function has from its caller unless it says otherwise, and their flags
INHERITED = {"_nrt": "nrt"} | {each: each for each in ("fastmath", "error_model", "forceinline")}


def replacements() -> list[nb.Replacement]:
    """What of numba is replaced, and by what."""
    builder = nb.internal("core.compiler").DefaultPassBuilder
    processor = nb.internal("core.postproc").PostProcessor
    pipeline = "define_nopython_pipeline"
    calls = nb.internal("core.types.functions").BaseFunction
    return [
        nb.Replacement(builder, pipeline, _without_unused(getattr(builder, pipeline))),
        nb.Replacement(processor, "run", _lifetimes_once(processor.run)),
        nb.Replacement(calls, "get_call_type", _typed_once(calls.get_call_type)),
    ]


def inherited() -> dict[str, str]:
    """What a function that is compiled now has from its caller."""
    flags = nb.internal("core.targetconfig").ConfigStack.top_or_none()
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


def _lifetimes_once(plain: Function) -> Function:
    """Where variables end: numba computes it after every pass, but only the last time is it used."""
    canonical = nb.internal("core.transforms").canonicalize_cfg
    lifetimes = nb.internal("core.postproc").VariableLifetime

    def run(self: nb.Pipeline, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        code = self.func_ir
        if emit_dels or code.is_generator:
            plain(self, emit_dels, extend_lifetimes)
            return
        code.blocks = canonical(code.blocks)
        code.variable_lifetime, code.generator_info = lifetimes(code.blocks), None

    return run


def _typed_once(plain: Function) -> Function:
    """What an operation on numbers and arrays gives: numba tries dozens of ways each time."""
    types = nb.internal("core.types")
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
