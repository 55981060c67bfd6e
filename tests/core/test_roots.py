"""Roots, against SciPy's, and compiled against plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import lambertw

from stopwise.core.compile import kernels
from stopwise.core.roots import Equation, bisection, bracketed_newton, inside, newton
from stopwise.core.values import Value


class Cubic(Equation):
    """x^3 + slope x = right: steep far out, flat near 0."""

    slope: float
    right: float

    def at(self, x: float) -> tuple[float, float]:
        return x * x * x + self.slope * x - self.right, 3.0 * x * x + self.slope


class Arctangent(Equation):
    """atan(x - place) = 0: Newton's method diverges from far away."""

    place: float

    def at(self, x: float) -> tuple[float, float]:
        return math.atan(x - self.place), 1.0 / (1.0 + (x - self.place) * (x - self.place))


class NoSlope(Equation):
    """The sign alone."""

    place: float

    def at(self, x: float) -> tuple[float, float]:
        return x - self.place, math.nan


class Logarithm(Equation):
    """x + log x = y."""

    y: float

    def at(self, x: float) -> tuple[float, float]:
        return x + math.log(x) - self.y, 1.0 + 1.0 / x


class Below(Value):
    """Cubic(x) < 0."""

    cubic: Cubic

    def holds(self, x: float) -> bool:
        return self.cubic.at(x)[0] < 0.0


RIGHTS = [*np.random.default_rng(1).uniform(-50.0, 50.0, 40), 1e-12, -1e-12, 1e9]


@pytest.mark.parametrize("slope", [0.0, 1e-3, 1.0, 100.0])
def test_newton_in_a_bracket_finds_what_brent_finds(slope: float) -> None:
    for right in RIGHTS:
        equation = Cubic(slope, float(right))
        expected = brentq(lambda x, e=equation: e.at(x)[0], -2e3, 2e3, xtol=1e-300, rtol=1e-15)
        found = bracketed_newton(equation, 1.0, -2e3, 2e3)
        assert found == pytest.approx(expected, rel=1e-14), equation


def test_a_bracket_stops_a_search_that_would_diverge() -> None:
    for place in (-7.0, 0.1, 900.0):
        assert bracketed_newton(Arctangent(place), 90.0, -1e3, 1e3) == pytest.approx(
            place, rel=1e-14
        )


def test_without_a_slope_the_bracket_is_halved() -> None:
    assert bracketed_newton(NoSlope(0.3), 0.9, 0.0, 1.0) == pytest.approx(0.3, rel=2e-16)


def test_an_open_bracket_is_left_by_doubling() -> None:
    assert bracketed_newton(NoSlope(3e5), 1.0, 0.0, math.inf) == pytest.approx(3e5, rel=2e-16)


def test_newton_from_one_side_finds_lambert() -> None:
    for y in (-5.0, 0.0, 1.0, 2.5, 40.0):  # x + log x = y is x = W(e^y)
        start = math.exp(y - 1.0) if y < 1.0 else 1.0  # on the left: the function is concave
        found = newton(Logarithm(y), start, 1e-300, 1e-14)
        assert found == pytest.approx(float(lambertw(math.exp(y)).real), rel=1e-13)


def test_bisection_ends_at_neighbours() -> None:
    for right in RIGHTS:
        low, high = bisection(Below(Cubic(1.0, float(right))), -2e3, 2e3)
        assert math.nextafter(low, math.inf) == high
        assert Cubic(1.0, right).at(low)[0] < 0.0 <= Cubic(1.0, right).at(high)[0]


def test_bisection_does_as_many_halvings_as_it_is_told() -> None:
    low, high = bisection(Below(Cubic(1.0, 3.0)), 0.0, 4.0, 10)
    assert high - low == 4.0 / 2**10


def test_inside_keeps_to_the_bracket() -> None:
    assert inside(0.3, 0.0, 1.0, 9.0) == 0.3
    assert inside(0.0, 0.0, 1.0, 9.0) == inside(math.nan, 0.0, 1.0, 9.0) == 0.5
    assert inside(-1.0, 0.0, math.inf, 9.0) == inside(5.0, -math.inf, 2.0, 9.0) == 9.0


def _all(cubic: Cubic, logarithm: Logarithm, out: np.ndarray) -> None:
    out[0] = bracketed_newton(cubic, 1.0, -2e3, 2e3)
    out[1] = newton(logarithm, 1.0, 1e-300, 1e-14)
    out[2], out[3] = bisection(Below(cubic), -2e3, 2e3)
    out[4], out[5] = bisection(Below(cubic), -2e3, 2e3, 12)


def test_compiled_roots_have_the_same_digits() -> None:
    compiled = kernels.compiled(_all, allocates=False)
    plain, quick = np.zeros(6), np.zeros(6)
    for right in RIGHTS:
        _all(Cubic(0.7, float(right)), Logarithm(abs(float(right)) + 1.0), plain)
        compiled(Cubic(0.7, float(right)), Logarithm(abs(float(right)) + 1.0), quick)
        assert plain.tolist() == quick.tolist()
