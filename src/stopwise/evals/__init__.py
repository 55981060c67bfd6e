"""Compare prompts, models or estimators on the same items, and stop when the answer is proven."""

from stopwise.evals.loop import EvalFailed, best_of, best_of_async
from stopwise.evals.report import EvalReport

__all__ = ["EvalFailed", "EvalReport", "best_of", "best_of_async"]
