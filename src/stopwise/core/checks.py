"""Refusals at the door: every argument is checked before anything is computed or drawn."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.arrays import Floats, Ints
from stopwise.core.errors import BadArgument

LARGEST = 1e100  # beyond this squares overflow


def finite(name: str, given: Any) -> float:
    """A finite real number."""
    try:
        number = math.nan if isinstance(given, bool | np.bool_ | str | bytes) else float(given)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise BadArgument(name, given, "a finite number")
    return number


def from_text(text: str) -> float:
    """A number as people write it: 0.03, or 3%."""
    share = text.strip().removesuffix("%")
    return float(Decimal(share) / 100) if share != text.strip() else float(text)


def number(name: str, given: Any) -> float:
    """A finite number, also as text, such as "2.4%"."""
    try:
        return finite(name, from_text(given) if isinstance(given, str) else given)
    except (ValueError, ArithmeticError):
        allowed = 'a finite number, or a percentage such as "2.4%"'
        raise BadArgument(name, given, allowed) from None


def positive(name: str, given: Any) -> float:
    """A finite number above 0."""
    number = finite(name, given)
    if number <= 0.0:
        raise BadArgument(name, given, "a number above 0")
    return number


def not_negative(name: str, given: Any) -> float:
    """A finite number that is at least 0."""
    number = finite(name, given)
    if number < 0.0:
        raise BadArgument(name, given, "a number of at least 0")
    return number


def probability(name: str, given: Any) -> float:
    """A number strictly between 0 and 1."""
    number = finite(name, given)
    if not 0.0 < number < 1.0:
        raise BadArgument(name, number, "a probability strictly between 0 and 1")
    return number


def costs(given: Any, arms: int) -> Floats | None:
    """What a sample of each arm costs: one number for all, or one each; None stays None."""
    if given is None:
        return None
    if np.ndim(given) == 0:
        return np.full(arms, positive("costs", given))
    found = vector("costs", given, arms)
    if np.any(found <= 0.0):
        arm = int(np.argmax(found <= 0.0))
        raise BadArgument(f"costs[{arm}]", float(found[arm]), "a cost above 0 for each sample")
    return found


def whole(name: str, given: Any, least: int) -> int:
    """A whole number that is at least ``least``."""
    good = isinstance(given, int | np.integer) and not isinstance(given, bool | np.bool_)
    if not good or given < least:
        raise BadArgument(name, given, f"a whole number of at least {least}")
    return int(given)


def truth(name: str, given: Any) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(given, bool):
        raise BadArgument(name, given, "true or false")
    return given


def _array(name: str, given: Any, allowed: str) -> Floats:
    """Real numbers as an array of floats; text and truth values are not numbers."""
    try:
        raw = np.array(given)
    except (TypeError, ValueError):
        raise BadArgument(name, given, allowed) from None
    if raw.dtype.kind not in "iuf" and raw.size:
        raise BadArgument(name, given, allowed)
    return raw.astype(np.float64)


def vector(name: str, given: ArrayLike, size: int | None = None) -> Floats:
    """A one-dimensional array of finite numbers, of the given size."""
    array = _array(name, given, "a list of finite numbers")
    if array.ndim != 1 or array.size == 0:
        raise BadArgument(name, given, "a list of finite numbers, not empty")
    if size is not None and array.size != size:
        raise BadArgument(name, given, f"{size} numbers, one for each arm; this has {array.size}")
    if not np.all(np.isfinite(array)):
        raise BadArgument(name, given, "finite numbers only")
    return array


def whole_vector(name: str, given: ArrayLike) -> Ints:
    """A one-dimensional array of whole numbers."""
    array = _array(name, given, "a list of whole numbers")
    if array.ndim != 1 or not np.all(np.isfinite(array)) or np.any(array != np.floor(array)):
        raise BadArgument(name, given, "a list of whole numbers")
    return array.astype(np.int64)


def bounds(name: str, given: ArrayLike, size: int) -> Floats:
    """One number for each arm, infinite where there is no bound."""
    allowed = f"{size} numbers, infinite where there is no bound"
    array = _array(name, given, allowed)
    if array.shape != (size,) or np.any(np.isnan(array)):
        raise BadArgument(name, given, allowed)
    return array


def matrix(name: str, given: ArrayLike) -> Floats:
    """A two-dimensional array of finite numbers, with at least one row and one column."""
    allowed = "a list of rows of finite numbers, all equally long"
    array = _array(name, given, allowed)
    if array.ndim != 2 or array.size == 0 or not np.all(np.isfinite(array)):
        raise BadArgument(name, given, allowed)
    return array


def weights(name: str, given: ArrayLike, size: int | None) -> Floats:
    """Numbers of at least 0, one for each arm, not all 0."""
    array = vector(name, given, size)
    if np.any(array < 0.0) or not np.any(array > 0.0):
        raise BadArgument(name, given, "numbers of at least 0, not all of them 0")
    return array
