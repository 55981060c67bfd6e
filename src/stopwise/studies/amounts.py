"""Guesses and numbers as people write them."""

from __future__ import annotations

import math

NOT_KNOWN = "-"
TARGET = 0.8  # the quantile that people plan with
Guess = float | tuple[float, float]  # a mean, or a range of means


def amount(value: float) -> str:
    """A number of samples or a sum of money, as people write it."""
    if not math.isfinite(value):
        return NOT_KNOWN if math.isnan(value) else str(value)
    return f"{value:,.0f}" if abs(value) >= 100.0 or value == int(value) else f"{value:.3g}"


def spelled(guess: Guess) -> str:
    """A mean as it was guessed: "0.5", or "0.4 to 0.48"."""
    return f"{guess[0]:g} to {guess[1]:g}" if isinstance(guess, tuple) else f"{guess:g}"
