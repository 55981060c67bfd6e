"""Answers in the labels' own words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stopwise.problems import (
    AllHalfSpaces,
    AnyHalfSpace,
    AnyLowArm,
    AnySign,
    BestArm,
    MinimumThreshold,
    Product,
    Sphere,
    Thresholding,
)


def in_words(problem: Any, answer: Any, labels: Sequence[str]) -> str:
    """What an answer says about the arms."""
    if isinstance(problem, BestArm):
        close = f", up to {problem.epsilon:g}" if problem.epsilon else ""
        return f"{labels[answer]} is best{close}"
    if isinstance(problem, Thresholding):
        below = [labels[k] for k in answer]  # at most the threshold
        return f"at most {problem.threshold:g}: {', '.join(below) or 'none'}; the others are above"
    if isinstance(problem, MinimumThreshold):
        side = "below" if answer == "low" else "above"
        close = f" (or within {problem.epsilon:g} of it)" if problem.epsilon else ""
        return f"the lowest mean is {side} {problem.threshold:g}{close}"
    if isinstance(problem, AnyLowArm):
        if isinstance(answer, int):
            return f"{labels[answer]} is below {problem.threshold:g}"
        return f"no arm is below {problem.threshold:g}"
    if isinstance(problem, AnySign):
        arm, side = answer
        where = "below" if side == "low" else "above"
        return f"{labels[arm]} is {where} {problem.threshold:g}"
    if isinstance(problem, AnyHalfSpace):
        plane, sign = answer
        side = "at least" if sign > 0 else "at most"
        return f"combination {plane} is {side} {problem.offsets[plane]:g}"
    if isinstance(problem, AllHalfSpaces):
        return (
            "every combination is high enough" if answer == "yes" else "some combination is too low"
        )
    if isinstance(problem, Sphere):
        return f"the means are {answer} the ball of radius {problem.radius:g}"
    if isinstance(problem, Product):
        parts = zip(problem.parts, answer, problem.groups, strict=True)
        return "; ".join(
            in_words(part, each, [labels[k] for k in group]) for part, each, group in parts
        )
    return str(answer)
