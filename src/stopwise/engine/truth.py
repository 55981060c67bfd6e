"""What is true in a simulation: the arms' means, and their laws where samples are not the family's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Sized
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stopwise.core import checks
from stopwise.core.arrays import Floats
from stopwise.core.errors import BadArgument
from stopwise.core.values import check_role
from stopwise.families.family import Family, check_means
from stopwise.families.laws import FrozenLaw, Law, PilotLaw

ALLOWED = (
    "a mean for each arm; or for each arm its law (a frozen distribution of scipy.stats); or a table of "
    "pilot data with a column for each arm"
)
TRIED = 256  # samples of a law that are looked at before the first run


class Truth(NamedTuple):
    """The arms' means; their laws, if samples are not the family's; and the labels of pilot data."""

    means: ArrayLike  # unchecked, if there are no laws
    laws: tuple[Law, ...] = ()
    labels: tuple[str, ...] = ()


def read_truth(means: Any, family: Family, deviations: Any = None) -> Truth:
    """Means (with ``deviations`` if the family needs them), laws or pilot data, as people give them."""
    check_role("family", family, Family)
    if means is None or (isinstance(means, Sized) and _size(means) > checks.MOST_ARMS):
        raise BadArgument("means", means, ALLOWED)
    if _has_laws(means):
        _refuse_deviations(deviations, "laws have their own")
        return _with_laws([_law(arm, each) for arm, each in enumerate(means)], family)
    columns = _columns(means)
    if columns is not None:
        _refuse_deviations(deviations, "pilot data have their own")
        pilots = [_pilot_law(label, values) for label, values in columns.items()]
        return _with_laws(pilots, family, tuple(map(str, columns)))
    if deviations is None:
        family.check_truth()
        return Truth(means)
    values = checks.vector("means", means)
    check_means(values, values.size, family, closed=True)
    spreads = _deviations(deviations, values.size)
    laws = [
        family.of_arm(arm).law_of(float(mean), float(spread))
        for arm, (mean, spread) in enumerate(zip(values, spreads, strict=True))
    ]
    return Truth(values, tuple(laws))


def _size(given: Sized) -> float:
    try:
        return len(given)
    except Exception:  # whatever a stranger's object raises
        return math.inf


def known_family(family: Family, laws: Sequence[Law]) -> Family:
    """The family of somebody who knows the laws' deviations: for lower bounds and oracle weights."""
    if not laws:
        return family
    return family.with_deviations(np.array([law.deviation for law in laws]))


def _columns(given: Any) -> Mapping[Any, ArrayLike] | None:
    """Pilot data by label: of a mapping, a table (pandas or alike), or a list of lists; else None."""
    if isinstance(given, Mapping):
        return given
    if checks.has(given, "columns", "to_numpy"):
        return {label: _without_end(given[label]) for label in given.columns}
    if _is_sequence(given) and len(given) and all(map(_is_column, given)):
        return {f"arm {arm}": values for arm, values in enumerate(given)}
    return None


def _is_sequence(given: object) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str | bytes)


def _is_column(given: ArrayLike) -> bool:
    try:
        return np.ndim(given) == 1
    except Exception:  # lists of several lengths, or whatever a stranger's object raises
        return False


def _without_end(column: ArrayLike) -> NDArray[Any]:
    """A table's column without the gaps at its end: other columns may be longer."""
    values = np.asarray(column)
    if values.dtype.kind != "f":
        return values
    known = np.flatnonzero(~np.isnan(values))
    return values[: known[-1] + 1] if known.size else values[:0]


def _pilot_law(label: object, values: ArrayLike) -> PilotLaw:
    where = f"means[{label!r}]"
    try:
        return PilotLaw(checks.vector(where, values))
    except BadArgument as error:
        hint = "A gap in pilot data is not left out in silence: why a value is missing may depend on it."
        raise BadArgument(where, error.given, error.allowed, hint) from None


def _has_laws(given: Any) -> bool:
    """Whether any arm has a law: then all must."""
    return _is_sequence(given) and any(
        checks.has(each, "rvs") or isinstance(each, Law) for each in given
    )


def _law(arm: int, given: Any) -> Law:
    """A law as it is, or that of a distribution of SciPy; refuses one without a mean."""
    where = f"means[{arm}]"
    if isinstance(given, Law):
        return given
    if not checks.has(given, "rvs"):
        raise BadArgument(where, given, f"a law, as for the other arms. {ALLOWED}")
    found = FrozenLaw(given.freeze() if hasattr(given, "freeze") else given)
    try:
        good = math.isfinite(found.mean) and found.deviation >= 0.0
    except (TypeError, ValueError, AttributeError):
        good = False
    if not good:
        allowed = "a distribution of scipy.stats with a mean, its parameters single numbers"
        raise BadArgument(where, given, allowed, "Such as scipy.stats.beta(7, 3).")
    return found


def _refuse_deviations(deviations: object, why: str) -> None:
    if deviations is not None:
        raise BadArgument("deviations", deviations, f"nothing beside them: {why}")


def _deviations(given: Any, arms: int) -> Floats:
    """One for each arm; a single number is that of all."""
    if not checks.is_list(given):
        return np.full(
            arms, checks.moderate("deviations", checks.not_negative("deviations", given))
        )
    found = checks.vector("deviations", given, arms)
    return checks.entries("deviations", found, found >= 0.0, "a number of at least 0")


def _with_laws(laws: Sequence[Law], family: Family, labels: tuple[str, ...] = ()) -> Truth:
    """The truth with these laws; refuses values that the family does not have."""
    hint = "The samples of a simulation are what a campaign of the family may be told."
    for arm, law in enumerate(laws):
        own, where = family.of_arm(arm), f"means[{labels[arm]!r}]" if labels else f"means[{arm}]"
        for value in _some_values(law):
            if not own.supports(value):
                raise BadArgument(where, value, f"a law with values that {family!r} has", hint)
    return Truth(np.array([law.mean for law in laws]), tuple(laws), labels)


def _some_values(law: Law) -> list[float]:
    """All of a pilot's values; of other laws the ends and some samples."""
    if isinstance(law, PilotLaw):
        return [float(each) for each in np.unique(law.values)]
    found = []
    if isinstance(law, FrozenLaw):
        found = [end for end in law.distribution.support() if math.isfinite(end)]
    return [float(each) for each in (*found, *law.draw(TRIED, np.random.default_rng(0)))]
