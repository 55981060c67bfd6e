"""Samples as workers send them, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from stopwise.campaign.errors import StorageError
from stopwise.core import checks
from stopwise.core.errors import BadArgument, StopwiseError
from stopwise.families.family import Family

Found = TypeVar("Found")


class Sample(NamedTuple):
    """What was told under a token; ``waiting``: it was in flight, since the ask of this number."""

    token: str
    arm: int
    value: float
    waiting: bool
    number: int


def sample_value(family: Family, value: float) -> float:
    """A number that may be a sample of the family."""
    number = checks.finite("value", float(value) if isinstance(value, bool) else value)
    sample = checks.moderate("value", number)
    if not family.supports(sample):
        allowed = f"a possible sample of {family!r}"
        raise BadArgument("value", value, allowed, family.unsupported())
    return sample


def arm_place(labels: Sequence[str], arm: int | str) -> int:
    """The arm's place, given that or its label."""
    if isinstance(arm, str) and arm in labels:
        return labels.index(arm)
    whole = isinstance(arm, int | np.integer) and not isinstance(arm, bool)
    if whole and 0 <= int(arm) < len(labels):
        return int(arm)
    shown = ", ".join(map(repr, labels[:20]))
    raise BadArgument("arm", arm, f"0 to {len(labels) - 1}, or one of {shown}")


def attempt(work: Callable[..., Found], *given: Any) -> Found | StopwiseError:
    """What comes of it, or why it is refused; a storage that fails is no refusal."""
    try:
        return work(*given)
    except StorageError:
        raise
    except StopwiseError as error:
        return error
