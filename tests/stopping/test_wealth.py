"""Wealth: against brute force, as a martingale, and what the proofs in docs/thresholds.md say of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import logsumexp

import stopwise as sw
from naive_wealth import grid, least, log_arm, log_bet, log_pair
from steps import begin, instance, observe
from stopwise.cells.bound import total_divergence
from stopwise.cells.cell import Cell
from stopwise.core.arrays import Floats
from stopwise.core.data import Data
from stopwise.engine.design import default_stopping
from stopwise.families.family import Family
from stopwise.problems.problem import Answer, Code
from stopwise.stopping.wealth_state import wealth_state

FAMILIES = (
    (sw.Gaussian(), 0.0, 1.0),
    (sw.Gaussian(9.0), 120.0, 3.0),
    (sw.Bernoulli(), 0.4, 0.49),
    (sw.Binomial(7), 2.0, 1.2),
    (sw.BoundedCoin(-1.0, 3.0), 0.5, 1.2),
    (sw.Poisson(), 2.0, 1.4),
    (sw.NegativeBinomial(3.0), 2.0, 1.8),
    (sw.Geometric(), 3.0, 2.4),
    (sw.Exponential(), 2.0, 2.0),
    (sw.Gamma(2.5), 2.0, 1.3),
    (sw.InverseGaussian(2.0), 1.0, 0.7),
)
FEW = tuple(each for each in FAMILIES if isinstance(each[0], sw.Gaussian | sw.Bernoulli))
names = {"ids": lambda each: repr(each[0]) if isinstance(each, tuple) else str(each)}


def data_of(samples: Any) -> Data:
    """Counts and means of samples, arm by arm."""
    return Data(np.array([1.0 * len(x) for x in samples]), np.array([np.mean(x) for x in samples]))


def drawn(family: Any, means: Any, counts: Any, rng: Any) -> list[Any]:
    """Samples of each arm."""

    return [
        np.array([family.of_arm(k).draw(m, rng) for _ in range(n)])
        for k, (m, n) in enumerate(zip(means, counts, strict=True))
    ]


def wealth(problem: Any, family: Any, data: Data, code: Any, cell: int) -> float:
    """The evidence against one cell, in plain Python."""
    state = wealth_state(family, problem)
    return float(problem.cell(code, cell).evidence(family, data, state, -math.inf))


def code_of(problem: Any, answer: Any) -> Any:
    return problem.encode(answer)


def own(family: Any, arm: int) -> Any:
    return family.of_arm(arm)


def inside(family: Any) -> tuple[float, float]:
    """The space of means but for a sliver, as wide as data can ask for."""
    low, high = family.interval()
    return (low + 1e-9 if math.isfinite(low) else -300.0), (
        high - 1e-9 if math.isfinite(high) else 1e9
    )


# ------------------------------------------------------------------------------ against brute force


@pytest.mark.parametrize("margin", [0.0, 0.2])
@pytest.mark.parametrize("setting", FAMILIES, **names)
def test_pairs_are_those_of_brute_force(setting: Any, margin: float) -> None:
    family, center, scale = setting
    rng = np.random.default_rng(1)
    problem = sw.BestArm(2, margin * scale)
    for counts in ((3, 4), (40, 11), (150, 150)):
        samples = drawn(family, (center + 0.4 * scale, center - 0.3 * scale), counts, rng)
        data = data_of(samples)
        best = int(np.argmax(data.means))
        low, high = inside(family)[0], min(inside(family)[1], 300.0)
        expected = least(
            lambda c, s=samples, b=best: log_pair(
                family, family, s[b], s[1 - b], c, margin * scale
            ),
            low,
            high - margin * scale,
        )
        found = wealth(problem, family, data, code_of(problem, best), 0)
        assert found == pytest.approx(max(expected, 0.0), abs=1e-9, rel=1e-9)


@pytest.mark.parametrize("setting", FAMILIES, **names)
def test_bounds_are_those_of_brute_force(setting: Any) -> None:
    family, center, scale = setting
    rng = np.random.default_rng(2)
    problem = sw.Thresholding(2, center)
    for count in (1, 7, 120):
        samples = drawn(family, (center + 0.4 * scale, center - 0.4 * scale), (count, count), rng)
        data = data_of(samples)
        for arm, answer, side in ((0, (), 1), (0, (0,), -1), (1, (1,), -1), (1, (), 1)):
            found = wealth(problem, family, data, code_of(problem, answer), arm)
            expected = log_arm(family, side, samples[arm], center)
            assert found == pytest.approx(max(expected, 0.0), abs=1e-9, rel=1e-9)


@pytest.mark.parametrize("setting", FAMILIES, **names)
def test_all_arms_on_one_side(setting: Any) -> None:
    """Convex combinations over arms, and over sets of them."""
    family, center, scale = setting
    rng = np.random.default_rng(3)
    problem = sw.MinimumThreshold(3, center)
    means = (center - 0.3 * scale, center - 0.2 * scale, center + 0.3 * scale)
    samples = drawn(family, means, (30, 40, 20), rng)
    each = np.exp([log_arm(family, -1, x, center) for x in samples])
    expected = math.log(0.5 * each.mean() + 0.5 * np.prod(2 / 3 + each / 3))
    found = wealth(problem, family, data_of(samples), code_of(problem, "low"), 0)
    assert found == pytest.approx(max(expected, 0.0), abs=1e-9, rel=1e-9)


def test_variances_of_their_own() -> None:
    """An arm's own family is what bets on it are about."""
    family, rng = sw.Gaussian([1.0, 4.0]), np.random.default_rng(4)
    samples = drawn(family, (1.0, 0.0), (30, 50), rng)
    one, two = own(family, 0), own(family, 1)
    expected = least(lambda c: log_pair(one, two, samples[0], samples[1], c, 0.0), -9.0, 9.0)
    problem = sw.BestArm(2)
    found = wealth(problem, family, data_of(samples), code_of(problem, 0), 0)
    assert found == pytest.approx(expected, abs=1e-9, rel=1e-9)


BOUNDARY = (
    (sw.Bernoulli(), (np.ones(9), np.zeros(7)), 0.0),
    (sw.Bernoulli(), (np.ones(9), np.zeros(70)), 0.3),
    (sw.Bernoulli(), (np.array([0.0, 0.0, 1.0]), np.zeros(12)), 0.0),
    (sw.Bernoulli(), (np.zeros(30), np.zeros(40)), 0.2),
    (sw.Binomial(4), (np.full(3, 4.0), np.zeros(5)), 0.0),
    (sw.Poisson(), (np.array([2.0, 0.0]), np.zeros(9)), 0.0),
    (sw.Poisson(), (np.zeros(6), np.zeros(9)), 0.5),
    (sw.NegativeBinomial(2.0), (np.array([2.0, 0.0]), np.zeros(9)), 0.0),
    (sw.Geometric(), (np.array([3.0, 1.0]), np.ones(9)), 0.0),
    (sw.Geometric(), (np.ones(4), np.ones(9)), 0.5),
    (sw.Exponential(), (np.array([2.0, 0.3]), np.zeros(4)), 0.0),
    (sw.Exponential(), (np.zeros(3), np.zeros(4)), 0.5),
)


@pytest.mark.parametrize("setting", BOUNDARY, **names)
def test_data_at_the_end_of_the_space(setting: Any) -> None:
    family, samples, margin = setting
    problem, (low, high) = sw.BestArm(2, margin), inside(family)
    expected = least(
        lambda c: log_pair(family, family, *samples, c, margin), low, min(high, 1e9) - margin, 61
    )
    found = wealth(problem, family, data_of(samples), code_of(problem, 0), 0)
    assert found == pytest.approx(max(expected, 0.0), abs=1e-7)


@pytest.mark.parametrize(("mean", "made"), [(1e4, 4.0), (1e8, 2.5)])
def test_large_poisson_means(mean: float, made: float) -> None:
    """They differ by little in proportion: gaps go down to 3 * 2^-27."""
    counts, gap = np.array([400.0, 400.0]), 0.3 * math.sqrt(mean)
    problem, data = sw.BestArm(2), Data(counts, np.array([mean + gap, mean]))
    found = wealth(problem, sw.Poisson(), data, code_of(problem, 0), 0)
    point = np.zeros(2)
    cost = problem.project(sw.Poisson(), data, code_of(problem, 0), 0, point)
    assert cost == pytest.approx(9.0, rel=0.01)
    assert found > made


def test_shrunken_counts() -> None:
    """Half-spaces of Gaussian arms: D at N^2/(N + kappa), less what the prior costs."""
    family, normal = sw.Gaussian([1.0, 2.0, 1.0]), np.array([1.0, -2.0, 0.0])
    problem = sw.AllHalfSpaces([normal], [0.5])
    data = Data(np.array([40.0, 90.0, 3.0]), np.array([3.0, 0.1, 7.0]))
    terms = []
    for kappa in 8.0 ** np.arange(-1, 7):
        spread = np.sum(normal**2 * np.array([1, 2, 1]) / (data.counts**2 / (data.counts + kappa)))
        cost = (normal @ data.means - 0.5) ** 2 / (2 * spread)
        terms.append(cost - 0.5 * np.sum(np.log1p(data.counts[:2] / kappa)))
    expected = logsumexp(terms, b=grid(sw.Gaussian())[1])
    assert expected > 5.0
    found = wealth(problem, family, data, code_of(problem, "yes"), 0)
    assert found == pytest.approx(expected, rel=1e-12)
    assert problem.rank() == 2


def test_other_families_in_other_cells_pay_for_a_mixture() -> None:
    problem = sw.AllHalfSpaces([[1.0, -2.0, 0.5]], [0.5])
    data = Data(np.array([40.0, 90.0, 30.0]), np.array([4.0, 0.5, 2.0]))
    for family in (sw.Poisson(),):
        code, point = code_of(problem, "yes"), np.zeros(3)
        cost = problem.project(family, data, code, 0, point)
        lost = sum(family.wide_regret(n, x) for n, x in zip(*data, strict=True))
        assert wealth(problem, family, data, code, 0) == pytest.approx(cost - lost, rel=1e-12)


def test_a_product_has_the_cells_of_its_parts() -> None:
    """Evidence is the least of its parts', each about its own arms."""
    family, rng = sw.Gaussian([1.0, 2.0, 3.0, 4.0]), np.random.default_rng(5)
    parts = ((sw.BestArm(2), [2, 0]), (sw.Thresholding(2, 0.0), [1, 3]))
    setting = (sw.Product(parts), family, sw.Uniform(), sw.Wealth())
    state = begin(setting)
    means = np.array([0.0, -1.0, 1.0, 1.5])
    for rounds in range(1, 241):
        arm = int(rng.integers(4))
        observe(setting, state, rounds, 20, arm, rng.normal(means[arm], 1.0))
    margin = sw.Wealth().margin(instance(sw.Product(parts), family, state), state, 240, -math.inf)
    assert sw.Product(parts).decode(state.report.answer) == (0, (0,))
    found = []
    for (problem, group), answer in zip(parts, (0, (0,)), strict=True):
        data = Data(state.data.counts[group], state.data.means[group])
        mine, code = sw.Gaussian(np.array(family.variance)[group]), code_of(problem, answer)
        found += [wealth(problem, mine, data, code, k) for k in range(problem.cell_count(code))]
    assert margin == pytest.approx(min(found), rel=1e-12)
    assert margin > 1.0


class AllOrOne(Cell):
    """All means above a limit; or one below it."""

    arm: int
    limit: float

    def project(self, family: Family, data: Data, closest: Any) -> float:
        closest[:] = data.means
        if self.arm < 0:
            closest[:] = np.maximum(data.means, self.limit)
        else:
            closest[self.arm] = min(data.means[self.arm], self.limit)
        return float(total_divergence(family, data, closest))


class Both(sw.Problem, listed=False):
    """Of somebody else's: are all means above a limit? It has no method that could be left out."""

    arms: int
    limit: float

    def cell(self, code: Any, j: int) -> AllOrOne:
        return AllOrOne(-1 if code[0] == 1 else j, self.limit)  # "no" is wrong where all are above

    def answers(self) -> Iterator[Answer]:
        return iter(("yes", "no"))

    def correct_answers(self, means: Floats) -> Iterator[Answer]:
        return iter(("yes",))

    def cell_count(self, code: Code) -> int:
        return 1 if code[0] else self.arms

    def rank(self) -> int:
        return self.arms

    def union_bound(self) -> int:
        return 1


@pytest.mark.parametrize("setting", FAMILIES, **names)
def test_a_problem_of_ones_own(setting: Any) -> None:
    """It pays for ``rank`` arms in every cell: a mixture's bound, or shrunken counts."""
    family, limit, scale = setting
    data = Data(np.array([40.0, 60.0]), limit + scale * np.array([0.35, 0.6]))
    problem, code = Both(2, limit), np.array([0])
    assert default_stopping(family) == sw.Wealth()
    assert sw.Wealth().level(problem, family, 0.1) == pytest.approx(math.log(10))
    assert sw.Wealth().proven(problem, family)
    for cell in range(2):
        cost = float(data.counts[cell] * family.divergence(data.means[cell], limit))
        if isinstance(family, sw.Gaussian):
            terms = []
            for kappa in 8.0 ** np.arange(-1, 7):
                lost = 0.5 * np.sum(np.log1p(data.counts / kappa))
                terms.append(cost * data.counts[cell] / (data.counts[cell] + kappa) - lost)
            expected = logsumexp(terms, b=grid(sw.Gaussian())[1])
        else:
            lost = [family.wide_regret(n, x) for n, x in zip(*data, strict=True)]
            expected = cost - sum(lost)
        found = wealth(problem, family, data, code, cell)
        assert found == pytest.approx(max(expected, 0.0), rel=1e-9, abs=1e-9)
    state = begin((problem, family, sw.Uniform(), sw.Wealth()))
    state.data.counts[:], state.data.means[:] = data
    margin = sw.Wealth().margin(instance(problem, family, state), state, 100, -math.inf)
    assert margin == pytest.approx(min(wealth(problem, family, data, code, k) for k in range(2)))


class Bare(sw.Family, listed=False):
    """A family of which only a divergence is known."""


def test_a_family_without_bets_and_mixtures() -> None:
    """The usual rule is one that works; Wealth says which."""
    assert default_stopping(Bare()) == sw.MixtureMartingale()
    with pytest.raises(sw.NotDefined, match="MixtureMartingale"):
        sw.Wealth().level(sw.BestArm(2), Bare(), 0.1)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
def test_wide_mixtures_are_mixtures(scale: float) -> None:
    """Their density of one sample integrates to 1 at most, at any scale of the data."""
    for family, law in (
        (sw.Exponential(), lambda x: 1 / (math.e * x)),
        (sw.InverseGaussian(2.0), lambda x: math.sqrt(2.0 / (2 * math.pi * x**3))),
    ):

        def made(z: float, family: Any = family, law: Any = law) -> float:
            x = math.exp(z)
            return x * law(x) * math.exp(-family.wide_regret(1.0, x))

        ends = (-60.0, -20.0, -5.0, 0.0, 5.0, 20.0, 60.0)
        total = sum(integrate.quad(made, a, b, limit=200)[0] for a, b in itertools.pairwise(ends))
        assert 0.9 < total <= 1.0 + 1e-6
        assert family.wide_regret(100.0, scale) < 12.0


# ------------------------------------------------------------------------------------- martingales


@pytest.mark.parametrize("rounds", [1, 2, 5, 12])
def test_coins_sum_to_one(rounds: int) -> None:
    """Over all outcomes, at the true mean: the wealth's mean is 1 exactly."""
    family, state = sw.Bernoulli(), wealth_state(sw.Bernoulli(), sw.Thresholding(1, 0.3))
    for side in (-1.0, 1.0):
        for gap in state.sizes:
            total = 0.0
            for heads in range(rounds + 1):
                odds = math.comb(rounds, heads) * 0.3**heads * 0.7 ** (rounds - heads)
                total += odds * math.exp(
                    family.bet(side, 1.0 * rounds, heads / rounds, 0.3, gap)[0]
                )
            assert total == pytest.approx(1.0, rel=1e-12)


def test_a_pair_sums_to_one_under_adaptive_sampling() -> None:
    """M at the truth, over all 2^10 outcomes of a rule that repeats the arm after a 1."""
    truth, problem = 0.3, sw.BestArm(2)
    total = 0.0
    for outcome in itertools.product((0, 1), repeat=8):
        seen: tuple[list[int], list[int]] = ([], [])
        arm, odds = 0, 1.0
        for place, x in enumerate(outcome):
            seen[arm].append(x)
            odds *= truth if x else 1 - truth
            arm = 1 if place == 0 else (arm if x else 1 - arm)
        made = math.exp(log_pair(sw.Bernoulli(), sw.Bernoulli(), *map(np.array, seen), truth, 0.0))
        total += odds * made
    assert total == pytest.approx(1.0, rel=1e-12)
    assert problem.arms == 2


LAWS = {
    sw.Gaussian: lambda f, c: stats.norm(c, math.sqrt(f.variance)),
    sw.Bernoulli: lambda f, c: stats.bernoulli(c),
    sw.Binomial: lambda f, c: stats.binom(f.trials, c / f.trials),
    sw.Poisson: lambda f, c: stats.poisson(c),
    sw.NegativeBinomial: lambda f, c: stats.nbinom(f.successes, f.successes / (f.successes + c)),
    sw.Geometric: lambda f, c: stats.geom(1 / c),
    sw.Exponential: lambda f, c: stats.expon(scale=c),
    sw.Gamma: lambda f, c: stats.gamma(f.shape, scale=c / f.shape),
    sw.InverseGaussian: lambda f, c: stats.invgauss(c / f.shape, scale=f.shape),
}


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("setting", [each for each in FAMILIES if type(each[0]) in LAWS], **names)
def test_one_sample_has_mean_one(setting: Any, side: float) -> None:
    """By sums or integrals over scipy's densities; at most 1 for the envelope of InverseGaussian."""
    family, center, scale = setting
    law = LAWS[type(family)](family, center)
    for gap in (2.0, 0.5, 0.01):

        def made(x: float, gap: float = gap) -> float:
            value = family.bet(side, 1.0, x, center, gap)[0]
            return math.exp(value + law.logpdf(x)) if x != 0.0 else 0.0

        if isinstance(law.dist, stats.rv_discrete):
            x = np.arange(law.support()[0], min(law.support()[1], 1500.0) + 1.0)
            values = [family.bet(side, 1.0, float(each), center, gap)[0] for each in x]
            total = float(np.sum(np.exp(np.array(values) + law.logpmf(x))))
        else:
            ends = (-60.0, -9.0, -3.0, 0.0, 3.0, 9.0, 60.0, 600.0)
            ends = np.unique(np.maximum([center + scale * each for each in ends], law.support()[0]))
            total = sum(
                integrate.quad(made, a, b, limit=200)[0] for a, b in itertools.pairwise(ends)
            )
        if isinstance(family, sw.InverseGaussian) and side > 0:
            assert total <= 1.0 + 1e-6
        else:
            assert total == pytest.approx(1.0, abs=1e-6)


def test_bounded_rewards_have_mean_at_most_one() -> None:
    """Uniform, two-point, and nearly constant laws on [-1, 3] with mean 0.5."""
    family, rng = sw.BoundedCoin(-1.0, 3.0), np.random.default_rng(5)
    laws = (
        [-1.0 + 3.0 * rng.random() for _ in range(4000)],
        [3.0 if rng.random() < 0.375 else -1.0 for _ in range(4000)],
        [0.4, 0.6],
    )
    for law in laws:
        center = float(np.mean(law))
        for side, gap in itertools.product((-1.0, 1.0), (3.0, 0.4, 0.01)):
            made = [math.exp(family.bet(side, 1.0, x, center, gap)[0]) for x in law]
            assert np.mean(made) <= 1.0 + 1e-12


# -------------------------------------------------------------------------------- what proofs say


@pytest.mark.parametrize("setting", FAMILIES, **names)
def test_bets_are_monotone_and_slopes_are_slopes(setting: Any) -> None:
    family, center, scale = setting
    rng = np.random.default_rng(6)
    low, high = family.interval()
    gaps, _ = grid(family)
    for _ in range(30):
        count = float(rng.integers(1, 200))
        (samples,) = drawn(family, [center], [int(count)], rng)
        mean = float(np.mean(samples))
        points = np.sort(center + scale * rng.normal(0, 2, 60))
        points = points[(points > low + 1e-3) & (points < high - 1e-3)]
        for side, gap in itertools.product((-1.0, 1.0), gaps[::3]):
            found = np.array([family.bet(side, count, mean, c, gap) for c in points])
            assert np.all(side * np.diff(found[:, 0]) <= 1e-9 * (1 + np.abs(found[1:, 0])))
            c, h = points[points.size // 2], 1e-6 * scale
            near = [family.bet(side, count, mean, c + h * s, gap)[0] for s in (1, -1)]
            slope = family.bet(side, count, mean, c, gap)[1]
            size = 1e-4 * (abs(slope) + count / scale)
            assert (near[0] - near[1]) / (2 * h) == pytest.approx(slope, abs=size)


VARIABLES = {
    sw.Exponential: lambda c: 1 / c,
    sw.Gamma: lambda c: 1 / c,
    sw.InverseGaussian: lambda c: 1 / c,
    sw.NegativeBinomial: lambda c: c / (3 + c),
    sw.Geometric: lambda c: (c - 1) / c,
}


@pytest.mark.parametrize("margin", [0.0, 0.3])
@pytest.mark.parametrize("setting", FAMILIES, **names)
def test_log_wealth_of_a_pair_is_convex(setting: Any, margin: float) -> None:
    """In the variable of the table, also with a margin: every chord lies above."""
    family, center, scale = setting
    rng = np.random.default_rng(7)
    low, high = family.interval()
    variable = VARIABLES.get(type(family), lambda c: c)
    for _ in range(4):
        samples = drawn(family, (center, center), rng.integers(1, 60, 2), rng)
        for _ in range(8):
            at = np.sort(
                rng.uniform(
                    max(low, center - 3 * scale), min(high, center + 3 * scale) - margin * scale, 3
                )
            )
            at = np.clip(at, low + 1e-3, high - 1e-3 - margin * scale)
            y = [variable(c) for c in at]
            z = [log_pair(family, family, *samples, c, margin * scale) for c in at]
            if abs(y[2] - y[0]) > 1e-6:
                share = (y[1] - y[0]) / (y[2] - y[0])
                assert z[1] <= (1 - share) * z[0] + share * z[2] + 1e-8 * (
                    1 + abs(z[0]) + abs(z[2])
                )


@pytest.mark.parametrize("setting", FAMILIES, **names)
def test_the_likelihood_ratio_is_at_least_the_evidence(setting: Any) -> None:
    family, center, scale = setting
    rng = np.random.default_rng(8)
    questions = (
        (sw.BestArm(3), 0),
        (sw.BestArm(3, 0.3 * scale), 0),
        (sw.Thresholding(3, center), (0, 2)),
        (sw.MinimumThreshold(3, center), "low"),
        (sw.MinimumThreshold(3, center), "high"),
    )
    if isinstance(family, sw.Gaussian):
        questions += ((sw.Sphere(3, 2.0 * scale, [center] * 3), "inside"),)
    point = np.zeros(3)
    for _ in range(12):
        spread = scale * rng.choice([0.1, 0.6])
        means = np.clip(
            center + spread * rng.normal(size=3),
            *(inside(family)[0] + 0.05, inside(family)[1] - 0.05),
        )
        data = data_of(drawn(family, means, rng.integers(1, 300, 3), rng))
        for problem, answer in questions:
            code = code_of(problem, answer)
            for cell in range(problem.cell_count(code)):
                cost = problem.project(family, data, code, cell, point)
                assert wealth(problem, family, data, code, cell) <= cost * (1 + 1e-9) + 1e-9


def test_the_envelope_is_below_a_ratio_that_is_not_monotone() -> None:
    """InverseGaussian, bets on "above": the least ratio over all smaller candidates."""
    family, samples = sw.InverseGaussian(2.0), np.array([0.4, 1.7, 0.9])
    for gap, c in itertools.product((16.0, 3.0, 0.7), (0.2, 1.0, 5.0, 50.0)):
        expected = log_bet(family, 1, samples, c, gap)
        brute = min(
            log_bet(family, 1, samples, float(at), gap) for at in np.geomspace(0.01, c, 300)
        )
        found = family.bet(1.0, 3.0, float(np.mean(samples)), c, gap)[0]
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert found <= brute + 1e-9
