"""What of numba's compiler this package's own functions need; the rest takes a fifth of its time.

They have no closures, comprehensions nor ``with``, and no branch that must go before types are known:
the passes that look for those are left out. What users write goes through all of them.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from types import CodeType
from typing import Any

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


def replacements() -> list[tuple[Any, str, Any]]:
    """What of numba is replaced, and by what."""
    builder: Any = _internal("compiler").DefaultPassBuilder
    processor = _internal("postproc").PostProcessor
    pipeline = "define_nopython_pipeline"
    return [
        (builder, pipeline, without_unused(getattr(builder, pipeline))),
        (processor, "run", lazily(processor.run)),
    ]


def _internal(name: str) -> Any:
    return importlib.import_module(f"numba.core.{name}")


def without_unused(plain: Callable[..., Any]) -> Any:
    """numba's passes for a function, which it is told to run: those that may find something."""

    def define(state: Any, name: str = "nopython") -> Any:
        manager = plain(state, name)
        function = state.func_id
        nested = any(isinstance(each, CodeType) for each in function.code.co_consts)
        if function.modname.startswith("stopwise.") and not nested:
            manager.passes = [each for each in manager.passes if each[0].__name__ not in UNUSED]
            manager.finalize()
        return manager

    return staticmethod(define)


def lazily(plain: Callable[..., None]) -> Any:
    """After each pass numba computes which variables live where: only the last time counts.

    Unless it is asked to write down where they end, only generators look at it.
    """
    lifetimes, canonical = (
        _internal("postproc").VariableLifetime,
        _internal("transforms").canonicalize_cfg,
    )

    def run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        code = self.func_ir
        if emit_dels or code.is_generator:
            plain(self, emit_dels, extend_lifetimes)
            return
        code.blocks = canonical(code.blocks)
        code.variable_lifetime = lifetimes(code.blocks)
        code.generator_info = None

    return run


def load_runtime(context: Any) -> None:
    """What machine code calls. What compiling needs besides takes a third of a second to load."""
    try:
        _internal("runtime").rtsys.initialize(context)
    except (ImportError, AttributeError):  # another numba
        context.refresh()


def load_compiler(context: Any) -> None:
    """Let numba load all that it can compile, but not scipy.linalg: whether that is there, it is told.

    What needs it asks again when it is compiled.
    """
    linalg: Any = importlib.import_module("numba.np.linalg")
    plain = getattr(linalg, "ensure_blas", None)
    if plain is None or importlib.util.find_spec("scipy") is None:
        context.refresh()
        return
    linalg.ensure_blas = lambda: None
    try:
        context.refresh()
    finally:
        linalg.ensure_blas = plain
