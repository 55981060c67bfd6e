"""Refusals at the door: every argument is checked before anything is computed or drawn."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stopwise.core.arrays import Floats, Ints
from stopwise.core.errors import BadArgument

LARGEST = 1e100  # beyond this squares overflow
LIMIT = 1e300  # beyond this a number times ten may not be a number any more, nor 1 by it
LARGEST_WHOLE = 2**63 - 1  # beyond this compiled code and databases have no whole numbers
LARGEST_SEED = 2**128 - 1  # what numpy draws when it is asked for a seed
MOST_NUMBERS = 10**8  # in one list
MOST_ARMS = 10**6
MOST_REPETITIONS = 10**8
MOST_WORKERS = 10**4


def real(given: Any) -> float | None:
    """A real number as a float; None for anything else, text and truth values included."""
    if type(given) is float:  # nearly always
        return given
    if isinstance(given, bool | str | bytes | bytearray | complex):
        return None
    if isinstance(given, np.generic | np.ndarray) and given.dtype.kind not in "iuf":
        return None
    try:
        with np.errstate(all="ignore"):
            return float(given)
    except Exception:  # whatever a stranger's object raises
        return None


def finite(name: str, given: Any) -> float:
    """A finite real number."""
    number = real(given)
    if number is None or not math.isfinite(number):
        raise BadArgument(name, given, "a finite number")
    if abs(number) > LIMIT:
        raise BadArgument(name, given, f"a number of at most {LIMIT:g} in size")
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
    if number < 1.0 / LIMIT:
        raise BadArgument(name, given, f"a number of at least {1.0 / LIMIT:g}")
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
    if number < 1.0 / LIMIT:
        raise BadArgument(name, number, f"a probability of at least {1.0 / LIMIT:g}")
    return number


def moderate(name: str, number: float) -> float:
    """A number whose square is a number, too."""
    if abs(number) > LARGEST:
        raise BadArgument(name, number, f"a number of at most {LARGEST:g} in size")
    return number


def margin(given: Any) -> float:
    """An epsilon: how far from the best is still good enough."""
    return moderate("epsilon", not_negative("epsilon", given))


def is_list(given: Any) -> bool:
    """Whether it holds several values: a list, an array or the like, but not a text."""
    if isinstance(given, np.ndarray):
        return given.ndim > 0
    return isinstance(given, Iterable) and not isinstance(given, str | bytes)


def listed(name: str, given: Any, allowed: str) -> list[Any]:
    """The entries of a list, a tuple, an array or the like."""
    try:
        if is_list(given) and not isinstance(given, Mapping | Set) and len(given) <= MOST_NUMBERS:
            return list(given)
    except Exception:  # it has no length, or whatever a stranger's object raises
        pass
    raise BadArgument(name, given, allowed)


def has(given: Any, *names: str) -> bool:
    """Whether an object has these attributes."""
    try:
        return all(hasattr(given, name) for name in names)
    except Exception:  # whatever a stranger's object raises
        return False


def costs(given: Any, arms: int) -> Floats | None:
    """What a sample of each arm costs: one number for all, or one each; None stays None."""
    if given is None:
        return None
    if not is_list(given):
        return np.full(arms, moderate("costs", positive("costs", given)))
    found = vector("costs", given, arms)
    return entries("costs", found, found > 0.0, "a cost above 0 for each sample")


def whole(name: str, given: Any, least: int, most: int = LARGEST_WHOLE) -> int:
    """A whole number from ``least`` to ``most``."""
    good = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if not good or given < least:
        raise BadArgument(name, given, f"a whole number of at least {least}")
    if given > most:
        raise BadArgument(name, given, f"a whole number from {least} to {most:,}")
    return int(given)


def arm_count(given: Any, least: int = 1) -> int:
    """How many arms there are."""
    return whole("arms", given, least, MOST_ARMS)


def repetitions(given: Any, least: int = 1) -> int:
    """How many runs of a simulation."""
    return whole("repetitions", given, least, MOST_REPETITIONS)


def workers(given: Any) -> int:
    """How many threads or processes work at once."""
    return whole("workers", given, 1, MOST_WORKERS)


def seed(given: Any) -> int:
    """Where random numbers begin."""
    return whole("seed", given, 0, LARGEST_SEED)


def choice(name: str, given: Any, choices: Sequence[str], allowed: str = "") -> str:
    """One of several words."""
    if not isinstance(given, str) or given not in choices:
        raise BadArgument(name, given, allowed or " or ".join(map(repr, choices)))
    return given


def text(name: str, given: Any, most: int, allowed: str = "") -> str:
    """A text that files and databases can keep: without NUL, and without half a character."""
    good = isinstance(given, str) and len(given) <= most and "\0" not in given
    if good and not any("\ud800" <= letter <= "\udfff" for letter in given):
        return str(given)
    raise BadArgument(name, given, allowed or f"a text of at most {most:,} characters")


def function(name: str, given: Any, allowed: str) -> Callable[..., Any]:
    """Something that can be called."""
    if not callable(given):
        raise BadArgument(name, given, allowed)
    return given


def path(name: str, given: Any, allowed: str = "the path of a file") -> Path:
    """The path of a file: one that the system can have."""
    found = folder(name, given, allowed)
    if not found.name:
        raise BadArgument(name, given, allowed)
    return found


def folder(name: str, given: Any, allowed: str = "the path of a folder") -> Path:
    """The path of a folder: one that the system can have."""
    try:
        found, text = Path(given), os.fsencode(given)
    except Exception:  # no path at all, or letters that no path has
        raise BadArgument(name, given, allowed) from None
    if not text or b"\0" in text or any(len(os.fsencode(part)) > 255 for part in found.parts):
        raise BadArgument(name, given, allowed)
    return found


def truth(name: str, given: Any) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(given, bool):
        raise BadArgument(name, given, "true or false")
    return given


def _array(name: str, given: Any, allowed: str) -> Floats:
    """Real numbers as an array of floats; text, truth values and gaps are not numbers."""
    found = _floats(given)
    if found is None:
        raise BadArgument(name, given, allowed)
    return found


def _floats(given: Any) -> Floats | None:
    if isinstance(given, str | bytes | bytearray | Mapping):
        return None
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        return None
    try:
        if is_list(given) and len(given) > MOST_NUMBERS:
            return None
        raw = np.array(given)
    except Exception:  # no array at all, or whatever a stranger's object raises
        return None
    if raw.dtype.kind == "O":  # Decimals, Fractions, whole numbers beyond 64 bits
        found = [real(each) for each in raw.flat]
        good = all(each is not None for each in found)
        return np.array(found, dtype=np.float64).reshape(raw.shape) if good else None
    if raw.dtype.kind not in "iuf" and raw.size:
        return None
    with np.errstate(over="ignore"):
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
    if np.any(np.abs(array) > LARGEST):
        raise BadArgument(name, given, f"numbers of at most {LARGEST:g} in size")
    return array


def entries(name: str, array: Floats, good: NDArray[np.bool_], allowed: str) -> Floats:
    """The array, if all its entries are good; otherwise the first that is not is refused."""
    if np.all(good):
        return array
    place = int(np.argmin(good))
    raise BadArgument(f"{name}[{place}]", float(array[place]), allowed)


def whole_vector(name: str, given: ArrayLike) -> Ints:
    """A one-dimensional array of whole numbers."""
    array = _array(name, given, "a list of whole numbers")
    good = array.ndim == 1 and np.all(np.abs(array) < LARGEST_WHOLE)
    if not good or np.any(array != np.floor(array)):
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
    if np.any(np.abs(array) > LARGEST):
        raise BadArgument(name, given, f"numbers of at most {LARGEST:g} in size")
    return array


def weights(name: str, given: ArrayLike, size: int | None) -> Floats:
    """Numbers of at least 0, one for each arm, not all 0."""
    array = vector(name, given, size)
    if np.any(array < 0.0) or not np.any(array > 0.0):
        raise BadArgument(name, given, "numbers of at least 0, not all of them 0")
    return array
