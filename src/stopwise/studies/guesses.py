"""What a plan is given, checked: guesses of means, laws or pilot data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stopwise.core import checks
from stopwise.core.errors import BadArgument
from stopwise.engine.truth import Truth, read_truth
from stopwise.families.family import check_means
from stopwise.studies.amounts import Guess


def read_guesses(
    means: Any, deviations: Any, arms: int, family: Any
) -> tuple[tuple[Guess, ...], Truth]:
    """A guess for each arm; and the laws and labels, where these were given."""
    if isinstance(means, Sequence) and len(means) > checks.MOST_ARMS:
        raise BadArgument("means", means, f"{arms} entries, one for each arm")
    if _are_numbers(means):
        return _guesses(means, arms, family), Truth(())
    truth = read_truth(means, family, deviations)
    return _guesses(truth.means, arms, family), truth


def _are_numbers(means: Any) -> bool:
    """Whether these are guesses of means: numbers and pairs (low, high)."""
    if isinstance(means, Mapping) or checks.has(means, "columns"):
        return False
    if not isinstance(means, Sequence) or isinstance(means, str | bytes):
        return True
    return all(_shape(each) in ((), (2,)) and not checks.has(each, "rvs") for each in means)


def _shape(given: Any) -> tuple[int, ...] | None:
    try:
        return np.shape(given)
    except Exception:  # lists of several lengths, or whatever a stranger's object raises
        return None


def _guesses(means: Any, arms: int, family: Any) -> tuple[Guess, ...]:
    allowed = f"{arms} entries, one for each arm: a number, or a pair (low, high)"
    entries = checks.listed("means", means, allowed)
    if len(entries) != arms:
        raise BadArgument("means", means, allowed)
    found: list[Guess] = []
    for arm, each in enumerate(entries):
        if not checks.is_list(each):
            found.append(checks.number(f"means[{arm}]", each))
            continue
        if _shape(each) != (2,):
            raise BadArgument(f"means[{arm}]", each, "a number, or a pair (low, high)")
        low, high = (checks.number(f"means[{arm}]", end) for end in each)
        if not low < high:
            raise BadArgument(f"means[{arm}]", each, "a pair (low, high) with low < high")
        found.append((low, high))
    for end in (0, 1):
        check_means([g[end] if isinstance(g, tuple) else g for g in found], arms, family)
    return tuple(found)
