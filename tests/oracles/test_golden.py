"""Numbers with a source: the paper's appendix, Table 1, its figures, and public implementations."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import stopwise as sw

# Table 1, epsilon minimum threshold: the oracle boundary as printed (gamma = 0.6, epsilon = 1/6,
# Gaussian arms). The second half mirrors the first.
PRINTED = [
    (0.603601, 1.0),
    (0.6061, 0.868323),
    (0.6086, 0.799213),
    (0.611099, 0.754821),
    (0.613599, 0.723129),
    (0.616098, 0.698967),
    (0.618598, 0.679694),
    (0.621097, 0.663804),
    (0.623597, 0.650366),
    (0.626096, 0.638769),
    (0.628595, 0.628595),
]
BOUNDARY = PRINTED + [(y, x) for x, y in reversed(PRINTED)]


@pytest.mark.parametrize("point", BOUNDARY)
def test_table_1_epsilon_minimum_boundary(point: tuple[float, float]) -> None:
    """On the boundary both answers have the same value; the printed digits decide how exactly."""
    problem = sw.MinimumThreshold(2, 0.6, 1 / 6)

    def difference(x: float, y: float) -> float:
        values = sw.oracle(problem, [x, y], family=sw.Gaussian()).by_answer
        return values["low"].value - values["high"].value

    x, y = point
    # half a unit in the last printed digit, in each coordinate, moves the difference by this much
    unit, here = 0.5e-6, difference(x, y)
    slack = max(abs(difference(x + dx, y) - here) for dx in (unit, -unit))
    slack += max(abs(difference(x, y + dy) - here) for dy in (unit, -unit))
    assert abs(here) <= 1.1 * slack


def test_best_arm_bernoulli() -> None:
    """From two independent public implementations."""
    found = sw.oracle(sw.BestArm(4), [0.5, 0.45, 0.43, 0.4], family=sw.Bernoulli())
    assert found.time == pytest.approx(989.79214, abs=5e-6)
    expected = [0.41652387, 0.39026391, 0.13622320, 0.05698902]
    np.testing.assert_allclose(found.weights[0], expected, atol=5e-9)
    assert found.answers == (0,)
    assert found.gap <= 1e-9
    assert found.status == "exact"


def test_a_tie_is_a_set() -> None:
    found = sw.oracle(sw.BestArm(3, 0.1), [0.5, 0.5, 0.3], family=sw.Gaussian())
    assert found.answers == (0, 1)
    assert len(found.weights) == 2
    np.testing.assert_allclose(found.weights[0][[1, 0, 2]], found.weights[1], rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_half_space(seed: int) -> None:
    """Appendix: D = ((<a, mu> - b)/||a||_1)^2/2 and w = |a|/||a||_1, for variance 1."""
    rng = np.random.default_rng(seed)
    a, mu, b = rng.normal(size=6), rng.normal(size=6), float(rng.normal())
    side = 1 if a @ mu >= b else -1
    found = sw.oracle(sw.AnyHalfSpace([a], [b]), mu, family=sw.Gaussian())
    assert found.answers == ((0, side),)
    assert found.value == pytest.approx(0.5 * ((a @ mu - b) / np.abs(a).sum()) ** 2, rel=1e-9)
    np.testing.assert_allclose(found.weights[0], np.abs(a) / np.abs(a).sum(), rtol=1e-9)


def test_minimum_threshold() -> None:
    """Appendix: harmonic for "high", the lowest arm alone for "low"; any divergence."""
    means, family = [0.5, 0.45, 0.7], sw.Bernoulli()
    d = [
        sw.cost(
            sw.AnyLowArm(3, 0.4), means, family=family, weights=np.eye(3)[k], answer="none"
        ).value
        for k in range(3)
    ]
    assert d == [0.0, 0.0, 0.0]  # one arm alone proves nothing about the others
    high = sw.oracle(sw.MinimumThreshold(3, 0.4), means, family=family)
    single = [sw.oracle(sw.AnySign(1, 0.4), [m], family=family).value for m in means]
    assert high.value == pytest.approx(1 / sum(1 / x for x in single), rel=1e-9)
    np.testing.assert_allclose(high.weights[0], high.value / np.array(single), rtol=1e-9)
    low = sw.oracle(sw.MinimumThreshold(3, 0.55), means, family=family)
    assert low.value == pytest.approx(
        sw.oracle(sw.AnySign(1, 0.55), [0.45], family=family).value, rel=1e-9
    )
    np.testing.assert_array_equal(low.weights[0], [0.0, 1.0, 0.0])
    tied = sw.oracle(sw.MinimumThreshold(3, 0.5), [0.3, 0.3, 0.4], family=sw.Gaussian())
    np.testing.assert_array_equal(tied.vertices[0], np.eye(3)[:2])


@pytest.mark.parametrize("seed", range(6))
def test_sphere(seed: int) -> None:
    """Appendix, with its boundary recursion spelled out: drop the smallest |mu_k| while it must."""
    rng = np.random.default_rng(seed)
    mu = rng.normal(size=5) * (0.2 if seed % 2 else 1.2)
    kept = np.argsort(-np.abs(mu))
    while True:
        m = np.abs(mu[kept])
        k, one, two = m.size, m.sum(), (m**2).sum()
        if (one - k * m.min()) ** 2 <= one**2 - k * (two - 1.0):
            break
        kept = kept[:-1]
    root = math.sqrt(k * (1 - two) + one**2)
    weights = np.zeros(5)
    weights[kept] = 1 / k + (m - one / k) / root
    found = sw.oracle(sw.Sphere(5), mu, family=sw.Gaussian())
    assert found.answers == (("inside",) if np.linalg.norm(mu) < 1 else ("outside",))
    assert found.value == pytest.approx((root - one) ** 2 / (2 * k**2), rel=1e-9)
    np.testing.assert_allclose(found.weights[0], weights, atol=1e-9)


def test_sphere_from_its_centre() -> None:
    found = sw.oracle(sw.Sphere(4, 2.0), np.zeros(4), family=sw.Gaussian(0.5))
    assert found.value == pytest.approx(4.0 / (2 * 4 * 0.5), rel=1e-12)
    assert found.gap <= 1e-9


def test_figure_2_instance() -> None:
    """K = n = 10, T* = 200, every normal an oracle answer, weights the normals."""
    normals = np.full((10, 10), 0.2 / 9) + (0.8 - 0.2 / 9) * np.eye(10)
    found = sw.oracle(sw.AnyHalfSpace(normals), [-0.1] * 10, family=sw.Gaussian())
    assert found.time == pytest.approx(200.0, rel=1e-12)
    assert found.answers == tuple((m, -1) for m in range(10))
    np.testing.assert_allclose(np.array(found.weights), normals, rtol=1e-9)


def test_figure_5_instance() -> None:
    """The paper's D_{2,3} = max and its oracle weights: the hull of two vectors."""
    a, mu0, family = 0.1, 0.2, sw.Gaussian(0.25)
    second = sw.AllHalfSpaces([[a, 1 - a], [1 - a, a]])
    problem = sw.Product([(sw.AnySign(1), [0]), (second, [1, 2])])
    found = sw.oracle(problem, [-mu0] * 3, family=family)
    assert found.answers == (((0, "low"), "no"),)
    one = 0.5 * mu0**2 / 0.25
    assert found.value == pytest.approx(one / 2, rel=1e-9)
    expected = [[0.5, a / 2, (1 - a) / 2], [0.5, (1 - a) / 2, a / 2]]
    np.testing.assert_allclose(sorted(found.vertices[0].tolist()), expected, atol=1e-9)
    uneven = sw.oracle(second, [-0.3, -0.1], family=family)
    assert uneven.value == pytest.approx(0.5 * 0.28**2 / 0.25, rel=1e-9)
    np.testing.assert_allclose(uneven.weights[0], [1 - a, a], rtol=1e-9)


def test_figure_5_read_literally() -> None:
    """A union of half-spaces: "is there an m" is answered "no" as far as both are passed."""
    literal = sw.AllHalfSpaces([[-0.1, -0.9], [-0.9, -0.1]])
    found = sw.oracle(literal, [-0.2, -0.2], family=sw.Gaussian())
    assert found.answers == ("yes",)  # no m with mu . u_m > 0
    np.testing.assert_allclose(found.weights[0], [0.5, 0.5], atol=1e-6)
    assert found.value < 0.5 * 0.2**2
    assert found.gap <= 1e-6


def test_product_law() -> None:
    """1/D adds, also for products of products."""
    family = sw.Bernoulli()
    parts = [
        (sw.BestArm(3), [0.3, 0.5, 0.6]),
        (sw.AnyLowArm(2, 0.4), [0.6, 0.2]),
        (sw.Thresholding(2, 0.5), [0.7, 0.1]),
    ]
    times = [sw.oracle(problem, means, family=family).time for problem, means in parts]
    inner = sw.Product([(parts[1][0], [1, 0]), (parts[2][0], [2, 3])])
    nested = sw.Product([(inner, [0, 2, 3, 5]), (parts[0][0], [1, 4, 6])])
    means = np.empty(7)
    means[[1, 4, 6]] = parts[0][1]
    means[[2, 0]] = parts[1][1]
    means[[3, 5]] = parts[2][1]
    found = sw.oracle(nested, means, family=family)
    assert found.time == pytest.approx(sum(times), rel=1e-9)
    assert found.weights[0][[1, 4, 6]].sum() == pytest.approx(times[0] / sum(times), rel=1e-9)
    assert sw.witness(nested, means, family=family, answer=found.answers[0]).gap <= 1e-6


def test_thresholding_a_thousand_arms() -> None:
    means = np.linspace(0.01, 0.99, 1000)
    found = sw.oracle(sw.Thresholding(1000, 0.503), means, family=sw.Bernoulli())
    assert len(found.answers[0]) == int((means <= 0.503).sum())  # type: ignore[arg-type]
    assert found.gap <= 1e-9


def test_theorem_5_bound() -> None:
    """Any low arm at (mu, mu): half-half is worst, twice T*. One oracle answer: no loss."""
    bound = sw.track_and_stop_bound(sw.AnyLowArm(2, 0.0), [-0.5, -0.5], family=sw.Gaussian())
    assert bound.time == pytest.approx(2 * bound.oracle_time, rel=1e-6)
    assert bound.gap <= 1e-5
    np.testing.assert_allclose(bound.weights, [0.5, 0.5], atol=1e-6)
    single = sw.track_and_stop_bound(sw.BestArm(3), [0.5, 0.3, 0.1], family=sw.Gaussian())
    assert single.time == pytest.approx(single.oracle_time, rel=1e-9)


def test_two_gaussian_arms_are_sampled_alike() -> None:
    """The appendix's remark on best arm with K = 2, with and without epsilon."""
    for epsilon in (0.0, 0.3):
        found = sw.oracle(sw.BestArm(2, epsilon), [0.7, 0.2], family=sw.Gaussian())
        np.testing.assert_allclose(found.weights[0], [0.5, 0.5], rtol=1e-9)
        assert found.value == pytest.approx((0.5 + epsilon) ** 2 / 8, rel=1e-9)


def test_rank_and_events() -> None:
    """Best arm (2, K - 1), any low arm (1, K)."""
    facts = {
        sw.BestArm(7): (2, 6),
        sw.AnyLowArm(7, 0.0): (1, 7),
        sw.Thresholding(7, 0.0): (1, 7),
        sw.AnySign(7): (1, 7),
        sw.MinimumThreshold(7, 0.0): (7, 1),
    }
    for problem, (rank, events) in facts.items():
        assert (sw.rank(problem), sw.union_bound(problem)) == (rank, events), problem
    assert sw.rank(sw.AnyHalfSpace([[1, 0, 2], [0, 1, 0]])) == 2
    assert sw.union_bound(sw.AnyHalfSpace([[1, 0, 2], [0, 1, 0]])) == 2
    assert sw.rank(sw.Sphere(4)) == 4
    both = sw.Product([(sw.BestArm(3), [0, 1, 2]), (sw.AnySign(2), [3, 4])])
    assert (sw.rank(both), sw.union_bound(both)) == (2, 4)


def test_problems_survive_a_pickle() -> None:
    means = [0.3, 0.5, -0.2]
    cells = sw.Cells(3, {"a": sw.Polyhedron([[1, 1, 0]]), "b": sw.Polyhedron([[-1, -1, 0]])})
    for problem in (
        sw.BestArm(3, 0.1),
        sw.AllHalfSpaces(np.eye(3)),
        sw.Sphere(3, 2.0, [0.1, 0.2, 0.3]),
        sw.Product([(sw.BestArm(2), [2, 0]), (sw.AnySign(1), [1])]),
        cells,
    ):
        again = pickle.loads(pickle.dumps(problem))
        assert repr(again) == repr(problem)
        assert (
            sw.oracle(again, means, family=sw.Gaussian()).value
            == sw.oracle(problem, means, family=sw.Gaussian()).value
        )


def test_the_oracle_speaks() -> None:
    found = sw.oracle(sw.BestArm(2), [0.5, 0.3], family=sw.Bernoulli())
    assert "characteristic time" in repr(found)
    assert found._repr_html_().count("<table>") == 2
    plain = found.to_dict()
    assert plain["time"] == found.time
    assert plain["answers"] == [0]
    assert sw.oracle(sw.BestArm(2), [0.5, 0.5], family=sw.Gaussian()).to_dict()["time"] is None


@pytest.mark.parametrize(
    ("epsilon", "means", "expected"),
    [
        (0.999, [0.9999911287331767, 0.9996842132363768], 6.9075819),
        (0.9, [0.999999, 0.999999], 2.3025681),
        (0.9999, [0.999, 0.99], 9.1932229),
    ],
)
def test_models_at_the_end_of_the_interval(
    epsilon: float, means: list[float], expected: float
) -> None:
    """Closest models within rounding of 1: the value stays finite and certified."""
    found = sw.oracle(sw.BestArm(2, epsilon), means, family=sw.Bernoulli())
    assert found.value == pytest.approx(expected, rel=1e-7)
    assert found.gap <= 1e-6


@pytest.mark.parametrize(
    ("problem", "answer", "means", "family", "expected"),
    [
        (sw.AnyHalfSpace([[1, 1]], [2]), (0, -1), [0, 0], sw.Poisson(), 10.0),
        (sw.AnyHalfSpace([[1, 1]], [0.2]), (0, -1), [0, 0], sw.Bernoulli(), 1.11571776),
        (sw.AnyHalfSpace([[1, 1]], [2]), (0, -1), [0, 0.05], sw.Poisson(), 9.65342641),
        (sw.AllHalfSpaces([[1, 1], [1, 2]], [2, 3]), "no", [0, 0], sw.Poisson(), 15.0),
        (
            sw.AllHalfSpaces([[1, 1], [1, 2]], [0.2, 0.3]),
            "no",
            [0, 0],
            sw.Bernoulli(),
            15 * math.log(1 / 0.9),
        ),
    ],
)
def test_all_zero_data(
    problem: object, answer: object, means: list[float], family: object, expected: float
) -> None:
    """Estimates on the boundary, where a Poisson divergence is linear: evidence is not lost."""
    found = sw.cost(problem, means, family=family, weights=[5, 10], answer=answer)
    assert found.value == pytest.approx(expected, rel=1e-5)
    assert (
        sw.cost(problem, found.closest, family=family, weights=[1, 1], answer=answer).value <= 1e-9
    )


def test_an_arm_that_was_never_sampled_can_be_anywhere() -> None:
    sign = sw.reachable_answers(
        sw.AnySign(2, 2.0), [2.5, 2.1], family=sw.Poisson(), counts=[0, 100], level=1.0
    )
    assert len(sign) == 4
    minimum = sw.MinimumThreshold(2, 2.0, 0.4)
    assert sw.reachable_answers(
        minimum, [2.5, 2.0], family=sw.Poisson(), counts=[0, 100], level=0.01
    ) == (
        "low",
        "high",
    )


def test_parallel_planes_cannot_both_win() -> None:
    parallel = sw.AnyHalfSpace([[1, 0], [1, 0]], [0, 1])
    assert sw.reachable_answers(
        parallel, [0.3, 0], family=sw.Gaussian(), counts=[1, 1], level=100.0
    ) == ((0, 1), (1, -1))


def test_near_ties_are_ties() -> None:
    means = [-0.3, -(0.1 + 0.2)]
    assert sw.oracle(sw.AnyLowArm(2, 0.0), means, family=sw.Gaussian()).answers == (0, 1)
    assert sw.oracle(sw.BestArm(2, 0.1), means, family=sw.Gaussian()).answers == (0, 1)


def test_models_of_cells_restrict_but_do_not_decide() -> None:
    """On the boundary of the possible models an answer is judged by its own cells."""
    cells = sw.Cells(
        3,
        {"yes": sw.Polyhedron([[1, -1, 0]], [-0.2]), "no": sw.Polyhedron([[-1, 1, 0]], [0.2])},
        models=sw.Polyhedron([[-1, 0, 1], [0, 1, -1]]),
    )
    assert sw.correct_answers(cells, [0.3, 0.35, 0.35]) == ("no",)
    with pytest.raises(sw.BadArgument, match="possible models"):
        sw.oracle(
            sw.Product([(cells, [0, 1, 2]), (sw.AnySign(1), [3])]),
            [0.8, 0.3, 0.5, 0.2],
            family=sw.Gaussian(),
        )


def test_witness_is_as_good_as_the_certificate() -> None:
    """Payoffs over twelve orders of magnitude, where a linear program alone fails."""
    means = [1, 1e6, 1e-6, 1e6, 1, 1e6]
    assert (
        sw.witness(sw.BestArm(6, 1.0), means, family=sw.InverseGaussian(2.0), answer=1).gap <= 1e-6
    )


def test_evidence_at_an_estimate_that_is_no_model() -> None:
    """There an answer has evidence without being correct: the closest possible model costs something."""
    problem = sw.Cells(
        2,
        {"far": sw.Polyhedron([[1, -1]], [-1]), "near": sw.Polyhedron([[-1, 1]], [1])},
        models=sw.Polyhedron([[-1, 1]]),
    )
    estimate, counts = [1.0, 0.0], [10, 30]
    found = sw.evidence(problem, estimate, family=sw.Gaussian(), counts=counts)
    # (gap)^2/2 / (1/10 + 1/30): to m0 = m1 for "far", to m1 = m0 + 1 for "near"
    assert found == pytest.approx({"far": 0.5 / (4 / 30), "near": 2.0 / (4 / 30)}, rel=1e-6)
    inside = sw.evidence(problem, [0.0, 0.5], family=sw.Gaussian(), counts=counts)
    assert list(inside) == ["near"]
