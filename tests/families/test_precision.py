"""Divergences keep their digits: compared with the textbook formulas in 400-digit arithmetic."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.compile.kernels import compiled

DIGITS = decimal.Context(prec=400, Emin=-99999, Emax=99999)
NORMAL = (Decimal("2.3e-308"), Decimal("1.7e308"))
STEPS = (1e-15, 1e-12, 1e-7, 1e-3, 0.03, 0.5)
EXPONENTS = (-150, -30, -17, -12, -5, -2, 0, 1, 4, 9, 13, 20, 140)
FAMILIES = (
    *(sw.Gaussian(2.0), sw.Gaussian(1e-200), sw.Gaussian(1e250)),
    *(sw.Bernoulli(), sw.Binomial(7), sw.Binomial(1000)),
    *(sw.Bounded(-1.3, 2.2), sw.Bounded(1000.0, 1001.0)),
    *(sw.Poisson(), sw.Exponential(), sw.Gamma(2.5), sw.Geometric()),
    *(sw.NegativeBinomial(r) for r in (3.0, 1e-3, 1e4)),
    sw.InverseGaussian(1.7),
)


def weighed_log(a: Decimal, b: Decimal) -> Decimal:
    """a log(a/b)."""
    return a * (a / b).ln() if a else a


def coins(heads: Decimal, trials: Decimal, new: Decimal) -> Decimal:
    return weighed_log(heads, new) + weighed_log(trials - heads, trials - new)


def failures(mu: Decimal, successes: Decimal, lam: Decimal) -> Decimal:
    return weighed_log(mu, lam) - weighed_log(mu + successes, lam + successes)


def scales(mu: Decimal, lam: Decimal) -> Decimal:
    return mu / lam - 1 - (mu / lam).ln()


FORMULAS: dict[type, Callable[[Any, Decimal, Decimal], Decimal]] = {
    sw.Gaussian: lambda f, m, x: (m - x) ** 2 / (2 * Decimal(f.variance)),
    sw.Bernoulli: lambda _, m, x: coins(m, Decimal(1), x),
    sw.Binomial: lambda f, m, x: coins(m, Decimal(f.trials), x),
    sw.Bounded: lambda f, m, x: (
        coins(m - Decimal(f.low), Decimal(f.high) - Decimal(f.low), x - Decimal(f.low))
        / (Decimal(f.high) - Decimal(f.low))
    ),
    sw.Poisson: lambda _, m, x: weighed_log(m, x) + x - m,
    sw.Exponential: lambda _, m, x: scales(m, x),
    sw.Gamma: lambda f, m, x: Decimal(f.shape) * scales(m, x),
    sw.Geometric: lambda _, m, x: failures(m - 1, Decimal(1), x - 1),
    sw.NegativeBinomial: lambda f, m, x: failures(m, Decimal(f.successes), x),
    sw.InverseGaussian: lambda f, m, x: Decimal(f.shape) * ((x - m) / x) ** 2 / (2 * m),
}


def exact(family: Any, mu: float, lam: float) -> Decimal:
    with decimal.localcontext(DIGITS):
        return FORMULAS[type(family)](family, Decimal(mu), Decimal(lam))


def places(family: Any) -> list[float]:
    """Means from one end of the family's interval to the other."""
    low, high = family.interval()
    sizes = [1.37 * 10.0**e for e in EXPONENTS]
    if math.isinf(low):
        found = sizes + [-size for size in sizes]
    elif math.isinf(high):
        found = [low + size for size in sizes]
    else:
        shares = [0.37 * 10.0**e for e in (-150, -30, -14, -9, -5, -2, 0)]
        found = [low + (high - low) * s for s in shares] + [high - (high - low) * s for s in shares]
    return sorted({mu for mu in found if low < mu < high})


def pairs(family: Any) -> Iterator[tuple[float, float]]:
    low, high = family.interval()
    means = places(family)
    for place, mu in enumerate(means):
        yield from ((mu, lam) for lam in means if lam != mu)
        end = low if math.isfinite(low) else 0.0
        for step in STEPS:
            lam = end + (mu - end) * (1.0 + step * (-1) ** place)
            if low < lam < high and lam != mu:
                yield mu, lam


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_divergences_are_right_to_thirteen_digits(family: Any) -> None:
    for mu, lam in pairs(family):
        truth = exact(family, mu, lam)
        if NORMAL[0] < truth < NORMAL[1]:
            found = family.divergence(mu, lam)
            assert math.isclose(found, float(truth), rel_tol=1e-13), (mu, lam, found, float(truth))


@pytest.mark.parametrize(
    ("family", "mu", "lam", "expected"),
    [
        (sw.Exponential(), 1e-17, 1.0, 38.14394658089878),
        (sw.NegativeBinomial(3), 1e12, 1e-3, 8006700845357.77),
        (sw.NegativeBinomial(3), 1.0, 1e12, 77.34788590331809),
        (sw.Geometric(), 1e18, 1.5, 1.0986122886681096e18),
        (sw.Poisson(), 1.0, 1e-20, 45.05170185988091),
        (sw.Binomial(7), 3.5, 3.5 * (1 + 2.0**-40), 2.8951508244043873e-24),
    ],
)
def test_divergences_that_were_wrong(family: Any, mu: float, lam: float, expected: float) -> None:
    """0.2.0 gave inf, 3.0e12, 77.347900, an exception, inf, 2.89513e-24."""
    assert float(exact(family, mu, lam)) == pytest.approx(expected, rel=1e-14)
    assert family.divergence(mu, lam) == pytest.approx(expected, rel=1e-13)


def values(family: Any, means: Any) -> Any:
    found = np.empty((means.size, means.size))
    for i in range(means.size):
        for j in range(means.size):
            found[i, j] = family.divergence(means[i], means[j])
    return found


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_compiled_divergences_are_the_same_at_the_extremes(family: Any) -> None:
    means = np.array([mu * (1.0 + step) for mu in places(family) for step in (0.0, 1e-12, 1e-3)])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            compiled(values)(family, means), values(family, np.array(means.tolist()))
        )


@pytest.mark.parametrize("family", FAMILIES[3:], ids=repr)
@pytest.mark.parametrize("level", [1e-9, 0.3, 12.0])
def test_limits_are_where_the_divergence_reaches_the_level(family: Any, level: float) -> None:
    """Up to four floats beside the limit, as finely as an end of the interval lets it be told."""
    low, high = family.interval()
    for mu in places(family):
        for lam, end in ((family.upper(mu, level), high), (family.lower(mu, level), low)):
            if lam == mu or abs(lam - end) <= 1e-100 or not 1e-100 < abs(lam) < 1e100:
                continue
            inner = outer = lam
            for _ in range(4):
                inner, outer = math.nextafter(inner, mu), math.nextafter(outer, end)
            assert float(exact(family, mu, inner)) <= level * (1 + 1e-12)
            if low < outer < high:
                assert float(exact(family, mu, outer)) >= level * (1 - 1e-12)


@pytest.mark.parametrize("family", FAMILIES[3:], ids=repr)
def test_natural_parameters_agree_with_the_divergence(family: Any) -> None:
    """Three points: d(a, c) - d(a, b) - d(b, c) = (b - a)(natural(c) - natural(b))."""
    means = [mu for mu in places(family) if 1e-20 < abs(mu) < 1e20]
    for a, b, c in zip(means, means[1:], means[2:], strict=False):
        with decimal.localcontext(DIGITS):
            expected = exact(family, a, c) - exact(family, a, b) - exact(family, b, c)
            expected /= Decimal(b) - Decimal(a)
        found = family.natural(c) - family.natural(b)
        size = max(abs(family.natural(c)), abs(family.natural(b)))
        assert found == pytest.approx(float(expected), rel=1e-12, abs=1e-14 * size)


@pytest.mark.parametrize("family", [sw.Exponential(), sw.Poisson(), sw.NegativeBinomial(3.0)])
def test_far_means_cost_infinitely_much(family: Any) -> None:
    assert family.divergence(2.0, math.inf) == math.inf
    assert family.divergence_slope(2.0, 1e-9) < 0.0


def test_oracle_of_two_exponential_arms_far_apart() -> None:
    """At the optimum d(a, x) = d(b, x), so x = (a - b)/log(a/b): 32.2347, where 32.2711 was given."""
    a, b = 1e8, 1e-8
    with decimal.localcontext(DIGITS):
        x = (Decimal(a) - Decimal(b)) / (Decimal(a) / Decimal(b)).ln()
        truth = float(scales(Decimal(a), x))
    assert truth == pytest.approx(32.23474032041700, rel=1e-14)
    found = sw.oracle(sw.BestArm(2), [a, b], family=sw.Exponential())
    assert found.value == pytest.approx(truth, rel=1e-12)
    assert found.time == pytest.approx(1.0 / truth, rel=1e-12)
