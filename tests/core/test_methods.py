"""Methods that only return a constant or their own value are not compiled; their results are the same."""

from __future__ import annotations

import pytest

from stopwise.core.compile import kernels
from stopwise.core.compile.methods import SELF, UNKNOWN, constant_result
from stopwise.core.values import Value

ENDS = (0.0, 1.0)


class Sized(Value):
    """A value with methods of all kinds."""

    size: float

    def nothing(self, given: float) -> None:
        """No more than these words."""

    def own(self) -> Sized:
        return self

    def yes(self) -> bool:
        return True

    def three(self) -> int:
        return 3

    def half(self, given: float) -> float:
        return 0.5

    def ends(self) -> tuple[float, float]:
        return (-1.0, 1.0)

    def given(self, other: float) -> float:
        return other

    def twice(self) -> float:
        return 2.0 * self.size

    def reads(self) -> tuple[float, float]:
        return ENDS

    def words(self) -> str:
        return "words"


def all_results(value: Sized) -> tuple[float, ...]:
    value.nothing(1.0)
    low, high = value.ends()
    found = 10.0 * value.own().size + value.three() / 2 if value.yes() else -1.0
    return (found, value.half(2.0), low, high, value.given(7.0), value.twice(), value.reads()[1])


def test_what_is_known_of_a_body() -> None:
    known = {
        "nothing": None,
        "own": SELF,
        "yes": True,
        "three": 3,
        "half": 0.5,
        "ends": (-1.0, 1.0),
        "given": UNKNOWN,
        "twice": UNKNOWN,
        "reads": UNKNOWN,
        "words": UNKNOWN,
    }
    assert {name: constant_result(getattr(Sized, name)) for name in known} == known


@pytest.mark.skipif(not kernels.switched_on(), reason="nothing is compiled")
@pytest.mark.parametrize("allocates", [False, True])
def test_compiled_results_are_the_plain_ones(allocates: bool) -> None:
    value = Sized(4.0)
    assert kernels.compiled(all_results, allocates)(value) == all_results(value)
