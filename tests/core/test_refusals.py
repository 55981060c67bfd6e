"""Every refusal says what was given, what is allowed, and which argument it is about."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.errors import (
    BadArgument,
    MissingMethod,
    NotDefined,
    StopwiseError,
    shown,
)

Row = tuple[Callable[[], Any], type[StopwiseError], list[str]]

nan, inf = math.nan, math.inf
coin, normal = sw.Bernoulli(), sw.Gaussian()
two, three = sw.BestArm(2), sw.Thresholding(3, 0.0)
planes = sw.AnyHalfSpace([[1, 1], [1, -1]])
pair = sw.Product([(two, [0, 1]), (sw.Thresholding(1, 0.0), [2])])
cells = sw.Cells(2, {"a": sw.Polyhedron([[1, -1]]), "b": sw.Polyhedron([[-1, 1]])})
inside_out = {"in": sw.OutsideBall([0.5, 0.5], 0.1), "out": sw.Ball([0.5, 0.5], 0.1)}
NOT_CONVEX = (
    sw.Exponential(),
    sw.Gamma(2.0),
    sw.Geometric(),
    sw.NegativeBinomial(3.0),
    sw.InverseGaussian(2.0),
)


class Stranger:
    """A type that is none of ours."""


class Plain(NamedTuple):
    """A tuple of numbers, but no strategy."""

    arms: int = 2


class Empty(sw.Problem, listed=False):
    """A problem without methods."""

    arms: int = 2


def lacking(*methods: str) -> sw.Problem:
    """Best arm without some of its methods."""
    kind: Any = type(sw.BestArm)
    body = {method: getattr(sw.Problem, method) for method in methods}
    return kind("Lacking", (sw.BestArm,), body, listed=False)(2)


class NoLevel(sw.StoppingRule, listed=False):
    """A rule without a method."""


class Unknown(sw.Family, listed=False):
    """A family without a method."""


def campaign() -> sw.Campaign:
    spec = {"question": "best-arm", "arms": ["A", "B"], "family": "bernoulli", "delta": 0.1}
    return sw.Campaign.create(spec, "memory:", "one")


def cell(*given: Any, **bounds: Any) -> sw.Cells:
    return sw.Cells(2, {"a": sw.Polyhedron(*given, **bounds)})


def refused(problem: Any, answer: Any) -> Callable[[], Any]:
    ones = np.ones(problem.arms)
    return lambda: sw.cost(problem, ones, family=sw.Gaussian(), weights=ones, answer=answer)


TIMING: list[Row] = [
    (
        lambda: sw.bench({"a": int, "b": str}, largest=1.01),
        BadArgument,
        ["largest: got 1.01", "a number above 1.02", "epsilon"],
    ),
]

# One bad value for every public argument that core/checks.py looks at; tests/core/test_checks.py has
# what else each check refuses.
ones = np.ones(2)
ARGUMENTS: list[Row] = [
    (call, BadArgument, [f"{name}: got {shown(bad)}", allowed])
    for name, bad, allowed, call in [
        ("means", [nan, 0], "finite", lambda: sw.oracle(two, [nan, 0], family=normal)),
        ("means", [nan, 1], "finite", lambda: sw.correct_answers(two, [nan, 1])),
        ("means", [1], "2 numbers", lambda: sw.correct_answers(two, [1])),
        ("means", [nan, 1], "finite", lambda: sw.witness(two, [nan, 1], family=normal, answer=0)),
        ("means", [1], "2 numbers", lambda: sw.track_and_stop_bound(two, [1], family=normal)),
        ("means", [nan, 1], "finite", lambda: sw.lower_bound(two, [nan, 1], family=normal)),
        ("means", [nan, 1], "finite",
         lambda: sw.cost(two, [nan, 1], family=normal, weights=ones, answer=0)),
        ("means", [nan, 1], "finite",
         lambda: sw.evidence(two, [nan, 1], family=normal, counts=ones)),
        ("means", [nan, 1], "finite",
         lambda: sw.reachable_answers(two, [nan, 1], family=normal, counts=ones, level=1.0)),
        ("weights", [-1, 1], "at least 0",
         lambda: sw.cost(two, [1, 0], family=normal, weights=[-1, 1], answer=0)),
        ("counts", [0, 0], "not all of them 0",
         lambda: sw.evidence(two, [1, 0], family=normal, counts=[0, 0])),
        ("counts", [1, 2, 3], "2 numbers",
         lambda: sw.reachable_answers(two, [1, 0], family=normal, counts=[1, 2, 3], level=1.0)),
        ("level", -1.0, "a number of at least 0",
         lambda: sw.reachable_answers(two, [1, 0], family=normal, counts=ones, level=-1.0)),
        ("limit", -1, "a whole number of at least 0",
         lambda: sw.reachable_answers(two, [1, 0], family=normal, counts=ones, level=1.0, limit=-1)),
        ("nodes", 0, "a whole number of at least 1",
         lambda: sw.track_and_stop_bound(two, [1, 0], family=normal, nodes=0)),
        ("costs", 0.0, "a number above 0",
         lambda: sw.oracle(two, [0.1, 0.2], family=coin, costs=0.0)),
        ("delta", 1.0, "strictly between 0 and 1",
         lambda: sw.lower_bound(two, [0.1, 0.2], family=coin, delta=1.0)),
        ("variance", -1, "above 0", lambda: sw.Gaussian(-1)),
        ("shape", -1, "above 0", lambda: sw.Gamma(-1)),
        ("shape", 0, "above 0", lambda: sw.InverseGaussian(0)),
        ("successes", nan, "finite", lambda: sw.NegativeBinomial(nan)),
        ("trials", 2.5, "a whole number of at least 1", lambda: sw.Binomial(2.5)),
        ("high", inf, "a finite number", lambda: sw.Bounded(0, inf)),
        ("low", nan, "a finite number", lambda: sw.Bounded(nan, 1)),
        ("radius", 0, "above 0", lambda: sw.Sphere(2, 0)),
        ("center", [nan, 0], "finite", lambda: sw.Sphere(2, 1.0, [nan, 0])),
        ("arms", 1, "a whole number of at least 2", lambda: sw.BestArm(1)),
        ("arms", 1, "a whole number of at least 2", lambda: sw.TopArms(1, 1)),
        ("arms", 1, "a whole number of at least 2", lambda: sw.BetterThan(1)),
        ("arms", 1, "a whole number of at least 2", lambda: sw.AnyBetterThan(1)),
        ("arms", 0, "a whole number of at least 1", lambda: sw.Thresholding(0, 0.0)),
        ("arms", 0, "a whole number of at least 1", lambda: sw.MinimumThreshold(0, 0.0)),
        ("arms", 0, "a whole number of at least 1", lambda: sw.AnyLowArm(0, 0.0)),
        ("arms", 0, "a whole number of at least 1", lambda: sw.AnySign(0)),
        ("arms", 0, "a whole number of at least 1", lambda: sw.Sphere(0)),
        ("arms", 0, "a whole number of at least 1", lambda: sw.Cells(0, {"a": sw.Polyhedron()})),
        ("threshold", nan, "a finite number", lambda: sw.Thresholding(2, nan)),
        ("threshold", nan, "a finite number", lambda: sw.MinimumThreshold(2, nan)),
        ("threshold", nan, "a finite number", lambda: sw.AnyLowArm(2, nan)),
        ("threshold", nan, "a finite number", lambda: sw.AnySign(2, nan)),
        ("epsilon", -0.1, "at least 0", lambda: sw.BestArm(2, -0.1)),
        ("epsilon", -0.1, "at least 0", lambda: sw.TopArms(2, 1, -0.1)),
        ("epsilon", -0.1, "at least 0", lambda: sw.BetterThan(2, 0, -0.1)),
        ("epsilon", -0.1, "at least 0", lambda: sw.AnyBetterThan(2, 0, -0.1)),
        ("epsilon", -0.1, "at least 0", lambda: sw.MinimumThreshold(2, 0.5, -0.1)),
    ]
]  # fmt: skip

OUTSIDE: list[Row] = [
    (
        lambda: sw.oracle(two, [0.5, 1.2], family=coin),
        BadArgument,
        ["means[1]: got 1.2", "Bernoulli()", "(0, 1)"],
    ),
    (lambda: sw.oracle(two, [1.0, 0.5], family=coin), BadArgument, ["means[0]: got 1.0", "(0, 1)"]),
    (lambda: sw.oracle(two, [0.5, 0.0], family=coin), BadArgument, ["means[1]: got 0.0", "(0, 1)"]),
    (
        lambda: sw.witness(two, [1.0, 0.5], family=coin, answer=0),
        BadArgument,
        ["means[0]: got 1.0", "(0, 1)"],
    ),
    (
        lambda: sw.track_and_stop_bound(two, [1.0, 0.5], family=coin),
        BadArgument,
        ["means[0]: got 1.0", "(0, 1)"],
    ),
    (
        lambda: sw.cost(two, [1.2, 0.5], family=coin, weights=[1, 1], answer=0),
        BadArgument,
        ["means[0]: got 1.2", "[0, 1]"],
    ),
    (
        lambda: sw.evidence(two, [0.5, -0.1], family=coin, counts=[1, 1]),
        BadArgument,
        ["means[1]: got -0.1", "[0, 1]"],
    ),
    (
        lambda: sw.oracle(two, [4.0, 1.0], family=sw.Binomial(3)),
        BadArgument,
        ["means[0]: got 4.0", "Binomial(trials=3)", "(0, 3)"],
    ),
    (
        lambda: sw.oracle(two, [1.0, 2.0], family=sw.Bounded(-1, 2)),
        BadArgument,
        ["means[1]: got 2.0", "Bounded(low=-1.0, high=2.0)", "(-1, 2)"],
    ),
    (
        lambda: sw.oracle(two, [1, 0], family=sw.Poisson()),
        BadArgument,
        ["means[1]: got 0.0", "(0, inf)"],
    ),
    (
        lambda: sw.oracle(two, [1, 2], family=sw.Geometric()),
        BadArgument,
        ["[0]: got 1.0", "(1, inf)"],
    ),
]

FAMILIES: list[Row] = [
    (lambda: sw.Gaussian("large"), BadArgument, ["variance: got 'large'", '"unknown"']),
    (
        lambda: sw.Gaussian(variance=None).seen([1.0, 0.0]),
        BadArgument,
        ["deviations[1]: got 0.0", "above 0"],
    ),
    (
        lambda: sw.oracle(two, [1.0, 0.0], family=sw.Gaussian(variance=None)),
        NotDefined,
        ["says nothing about standard deviations", "deviations=[...]"],
    ),
    (
        lambda: sw.run(two, [1.0, 0.0], family=sw.Gaussian(variance=None)),
        NotDefined,
        ["says nothing about standard deviations", "deviations=[...]"],
    ),
    (
        lambda: sw.run(two, [1, 0], family=sw.Gaussian(variance=None).seen([1, 2]), deviations=1),
        BadArgument,
        ["deviations: got 1", "nothing with"],
    ),
    (lambda: sw.Bounded(1, 0), BadArgument, ["high: got 0.0", "above low = 1.0"]),
    (lambda: sw.Bounded(1, 1), BadArgument, ["high: got 1.0", "above low = 1.0"]),
]

SETS: list[Row] = [
    (lambda: sw.Linear([[1.0, 0.0]]), BadArgument, ["features", "at least two rows"]),
    (lambda: sw.Linear([[1, 1], [2, 2]]), BadArgument, ["features", "independent columns"]),
    (lambda: sw.Linear([[1], [2]], goal="up"), BadArgument, ["goal: got 'up'", '"max"', '"min"']),
    (
        lambda: sw.oracle(sw.Linear([[1], [2]]), [1, 3], family=sw.Gaussian()),
        BadArgument,
        ["means: got [1.0, 3.0]", "possible models of Linear("],
    ),
    (
        lambda: sw.oracle(sw.Linear([[1], [2]]), [0.1, 0.2], family=coin),
        NotDefined,
        ["Linear with Bernoulli()", "Gaussian arms with known variances"],
    ),
    (lambda: sw.TopArms(3, 0), BadArgument, ["m: got 0", "a whole number of at least 1"]),
    (lambda: sw.TopArms(3, 3), BadArgument, ["m: got 3", "from 1 to 2", "3 arms in all"]),
    (lambda: sw.TopArms(3, 1, goal="low"), BadArgument, ["goal: got 'low'", '"max"', '"min"']),
    (lambda: sw.BetterThan(3, 3), BadArgument, ["control: got 3", "an arm", "from 0 to 2"]),
    (lambda: sw.AnyBetterThan(3, -1), BadArgument, ["control: got -1", "at least 0"]),
    (lambda: sw.BetterThan(3, goal="up"), BadArgument, ["goal: got 'up'", '"max"', '"min"']),
    *(
        (
            lambda problem=problem: sw.oracle(problem, [0.2, 0.3, 0.4], family=coin),
            BadArgument,
            ["epsilon: got 1.5", "less than the width 1", "Bernoulli()", "no sample is needed"],
        )
        for problem in (sw.TopArms(3, 2, 1.5), sw.BetterThan(3, 0, 1.5))
    ),
]

PROBLEMS: list[Row] = [
    *SETS,
    (lambda: sw.Sphere(2, 1.0, [0]), BadArgument, ["center: got [0]", "2 numbers", "has 1"]),
]

HALF_SPACES: list[Row] = [
    row
    for make in (sw.AnyHalfSpace, sw.AllHalfSpaces)
    for row in [
        (
            lambda make=make: make([[1, 0], [0, 0]]),
            BadArgument,
            ["normals[1]: got [0.0, 0.0]", "not zero"],
        ),
        (
            lambda make=make: make([[1, 0], [0]]),
            BadArgument,
            ["normals: got [[1, 0], [0]]", "rows of finite numbers, all equally long"],
        ),
        (
            lambda make=make: make([[1, 0]], [1, 2]),
            BadArgument,
            ["offsets: got [1, 2]", "1 numbers, one for each normal"],
        ),
        (lambda make=make: make([[1, 0]], [nan]), BadArgument, ["offsets: got [nan]", "finite"]),
        (
            lambda make=make: sw.oracle(make([[1, 1]], [3]), [0.2, 0.3], family=coin),
            BadArgument,
            ["offsets[0]: got 3.0", "between 0 and 2", "cuts the means of Bernoulli()"],
        ),
        (
            lambda make=make: sw.oracle(
                make([[1, 0], [1, -1]], [0.5, -1]), [0.2, 0.3], family=coin
            ),
            BadArgument,
            ["offsets[1]: got -1.0", "between -1 and 1", "Bernoulli()"],
        ),
        (
            lambda make=make: sw.oracle(make([[1, 0]], [-1]), [1, 2], family=sw.Poisson()),
            BadArgument,
            ["offsets[0]: got -1.0", "between 0 and inf", "Poisson()"],
        ),
    ]
]

INTERVALS: list[Row] = [
    *(
        (
            lambda make=make, bad=bad: sw.oracle(make(2, bad), [0.2, 0.3], family=coin),
            BadArgument,
            [f"threshold: got {bad!r}", "inside", "Bernoulli(), (0, 1)", "known without a sample"],
        )
        for make, bad in ((sw.Thresholding, 1.0), (sw.AnyLowArm, 1.5), (sw.AnySign, 0.0))
    ),
    (
        lambda: sw.oracle(sw.MinimumThreshold(2, 1.5), [0.2, 0.3], family=coin),
        BadArgument,
        ["threshold", "got 1.5", "Bernoulli(), (0, 1)"],
    ),
    (
        lambda: sw.oracle(sw.MinimumThreshold(2, 0.25, 0.5), [0.2, 0.3], family=coin),
        BadArgument,
        ["threshold - epsilon: got -0.25", "Bernoulli(), (0, 1)"],
    ),
    (
        lambda: sw.oracle(sw.MinimumThreshold(2, 0.75, 0.5), [0.2, 0.3], family=coin),
        BadArgument,
        ["threshold + epsilon: got 1.25", "Bernoulli(), (0, 1)"],
    ),
    (
        lambda: sw.oracle(sw.BestArm(2, 1.0), [0.2, 0.3], family=coin),
        BadArgument,
        ["epsilon: got 1.0", "less than the width 1", "Bernoulli()", "no sample is needed"],
    ),
    (
        lambda: sw.cost(
            sw.BestArm(2, 3.5), [1, 2], family=sw.Binomial(3), weights=[1, 1], answer=1
        ),
        BadArgument,
        ["epsilon: got 3.5", "less than the width 3", "Binomial(trials=3)"],
    ),
]

ANSWERS: list[Row] = [
    (refused(problem, answer), BadArgument, [f"answer: got {answer!r}", "an answer of ", *listed])
    for problem, answer, listed in [
        (two, 2, ["BestArm(arms=2, epsilon=0.0): 0, 1"]),
        (two, -1, ["BestArm(arms=2, epsilon=0.0): 0, 1"]),
        (two, "0", ["BestArm(arms=2, epsilon=0.0): 0, 1"]),
        (two, None, ["BestArm(arms=2, epsilon=0.0): 0, 1"]),
        (sw.MinimumThreshold(2, 0.0), "middle", ["MinimumThreshold(", "'low', 'high'"]),
        (sw.AnyLowArm(2, 0.0), 2, ["AnyLowArm(", "0, 1, 'none'"]),
        (sw.AnySign(1), (0, "up"), ["AnySign(", "(0, 'low'), (0, 'high')"]),
        (sw.AnySign(1), 0, ["AnySign(", "(0, 'low'), (0, 'high')"]),
        (planes, (0, 0), ["AnyHalfSpace(", "(0, 1), (0, -1), (1, 1), (1, -1)"]),
        (planes, (2, 1), ["AnyHalfSpace(", "(0, 1), (0, -1), (1, 1), (1, -1)"]),
        (sw.AllHalfSpaces([[1, 0]]), "maybe", ["AllHalfSpaces(", "'yes', 'no'"]),
        (sw.Sphere(2), "on", ["Sphere(arms=2, ", "'inside', 'outside'"]),
        (three, (1, 0), ["Thresholding(arms=3, ", "(0, 1, 2), (0, 1), "]),  # not sorted
        (three, (1, 1), ["Thresholding(arms=3, ", "(0, 1, 2), (0, 1), "]),  # twice the same
        (three, (3,), ["Thresholding(arms=3, ", "(0, 1, 2), (0, 1), "]),
        (three, (-1,), ["Thresholding(arms=3, ", "(0, 1, 2), (0, 1), "]),
        (three, [0, 1], ["Thresholding(arms=3, ", "(0, 1, 2), (0, 1), "]),
        (three, 0, ["Thresholding(arms=3, ", "(0, 1, 2), (0, 1), "]),
        (sw.TopArms(3, 2), (0,), ["TopArms(arms=3, ", "(0, 1), (0, 2), (1, 2)"]),
        (sw.TopArms(3, 2), (1, 0), ["TopArms(arms=3, ", "(0, 1), (0, 2), (1, 2)"]),
        (sw.BetterThan(3), (0, 1), ["BetterThan(arms=3, ", "(1, 2), (1,), (2,), ()"]),
        (sw.AnyBetterThan(3, 1), 1, ["AnyBetterThan(arms=3, ", "0, 2, 'none'"]),
        (pair, (0,), ["Product([(BestArm(", "(0, (0,)), (0, ())"]),
        (pair, (0, (), 1), ["Product([(BestArm(", "(0, (0,)), (0, ())"]),
        (pair, 0, ["Product([(BestArm(", "(0, (0,)), (0, ())"]),
        (cells, "c", ["Cells(arms=2, ", "'a', 'b'"]),
    ]
] + [
    (
        refused(pair, (5, ())),
        BadArgument,
        ["answer", "got 5", "BestArm(arms=2, epsilon=0.0): 0, 1"],
    ),
    (refused(pair, (0, 5)), BadArgument, ["answer", "got 5", "Thresholding(arms=1, "]),
    (
        lambda: sw.witness(two, [1, 0], family=sw.Gaussian(), answer=5),
        BadArgument,
        ["answer: got 5", "BestArm(", ": 0, 1"],
    ),
]

PRODUCTS: list[Row] = [
    (lambda: sw.Product([]), BadArgument, ["parts: got []", "pairs (problem, arm indices)"]),
    (lambda: sw.Product("ab"), BadArgument, ["parts: got 'ab'", "pairs (problem, arm indices)"]),
    (
        lambda: sw.Product([(two, [0, 1]), (two, [1, 2])]),
        BadArgument,
        ["parts: got [[0, 1], [1, 2]]", "disjoint groups", "cover 0 to 3"],
    ),
    (
        lambda: sw.Product([(two, [0, 1]), (two, [3, 4])]),
        BadArgument,
        ["parts: got [[0, 1], [3, 4]]", "disjoint groups", "cover 0 to 3"],
    ),
    (lambda: sw.Product([(two, [-1, 0])]), BadArgument, ["parts: got [[-1, 0]]", "cover 0 to 1"]),
    (
        lambda: sw.Product([(sw.Sphere(1), [2]), (two, [0, 1, 2])]),
        BadArgument,
        ["parts[1]: got [0, 1, 2]", "2 arm indices for BestArm(arms=2, epsilon=0.0)"],
    ),
    (
        lambda: sw.Product([(two, 0)]),
        BadArgument,
        ["parts[0]: got 0", "a list of whole numbers"],
    ),
    (lambda: sw.Product([(Stranger(), [0])]), BadArgument, ["parts[0]", "a problem"]),
]

CELLS: list[Row] = [
    (
        lambda: sw.Cells(2, {}),
        BadArgument,
        ["alternatives: got {}", "a dict from answers to cells"],
    ),
    (lambda: sw.Cells(2, None), BadArgument, ["alternatives: got None", "a dict from answers"]),
    (lambda: sw.Cells(2, [sw.Polyhedron()]), BadArgument, ["alternatives: got [Poly", "a dict"]),
    (
        lambda: sw.Cells(2, {"a": 5}),
        BadArgument,
        ["alternatives['a'][0]: got 5", "a Polyhedron, a"],
    ),
    (
        lambda: sw.Cells(2, {"a": sw.Polyhedron([[1, 0]]), "b": [sw.Polyhedron(), None]}),
        BadArgument,
        ["alternatives['b'][1]: got None", "a Polyhedron, a Ball or an OutsideBall"],
    ),
    (lambda: cell([[1, 0, 0]]), BadArgument, ["['a'][0].normals: got [[1, 0, 0]]", "rows of 2"]),
    (lambda: cell([[0, 0]]), BadArgument, ["['a'][0].normals[0]: got [0.0, 0.0]", "not zero"]),
    (lambda: cell([[1, nan]]), BadArgument, ["['a'][0].normals: got [[1, nan]]", "finite"]),
    (lambda: cell([[1, 0]], [1, 2]), BadArgument, ["['a'][0].offsets: got [1, 2]", "1 numbers"]),
    (lambda: cell(lower=[0]), BadArgument, ["['a'][0].lower: got [0]", "2 numbers"]),
    (lambda: cell(upper=[0, nan]), BadArgument, ["['a'][0].upper: got [0, nan]", "2 numbers"]),
    (
        lambda: cell(lower=[1, 1], upper=[0, 2]),
        BadArgument,
        ["alternatives['a'][0].upper: got [0, 2]", "at least lower"],
    ),
    (
        lambda: sw.Cells(2, {"a": sw.Ball([0], 1)}),
        BadArgument,
        ["alternatives['a'][0].center: got [0]", "2 numbers"],
    ),
    (
        lambda: sw.Cells(2, {"a": sw.OutsideBall([0, nan], 1)}),
        BadArgument,
        ["alternatives['a'][0].center: got [0, nan]", "finite"],
    ),
    *(
        (
            lambda kind=kind: sw.Cells(2, {"a": kind([0, 0], 0)}),
            BadArgument,
            ["alternatives['a'][0].radius: got 0", "above 0"],
        )
        for kind in (sw.Ball, sw.OutsideBall)
    ),
    (
        lambda: sw.Cells(2, {"a": []}, sw.Polyhedron([[1, 2, 3]])),
        BadArgument,
        ["models.normals: got [[1, 2, 3]]", "rows of 2 numbers"],
    ),
    (
        lambda: sw.Cells(2, {"a": []}, sw.Polyhedron(lower=[1, 1], upper=[2, 0])),
        BadArgument,
        ["models.upper: got [2, 0]", "at least lower"],
    ),
    (lambda: sw.Cells(2, {"a": []}, 5), BadArgument, ["models: got 5", "a Polyhedron"]),
    (
        lambda: sw.oracle(sw.Cells(2, {"a": sw.Ball([0, 0], 1)}), [0, 0], family=sw.Gaussian()),
        BadArgument,
        ["means: got [0.0, 0.0]", "Cells(arms=2, answers=['a'], cells=1) has a correct answer"],
    ),
]

EMPTY = [
    (cell([[1, 1], [-1, -1]], [1, 0]), normal),  # 1 <= sum <= 0
    (cell([[1, 1], [-1, -1]], [1, -1]), normal),  # a plane: no interior
    (cell(lower=[1, 1], upper=[1, 2]), normal),
    (cell([[1, 1]], [3]), coin),  # no two coins add up to 3
    (cell(lower=[2, 2]), coin),
    (sw.Cells(2, {"a": sw.Ball([3, 3], 1)}), coin),
    (sw.Cells(2, {"a": sw.Polyhedron(upper=[0, 0])}, sw.Polyhedron(lower=[1, 1])), normal),
    (sw.AllHalfSpaces([[1, 0], [-1, 0]], [1, 0.5]), normal),
    (sw.AllHalfSpaces([[1, 1], [-1, -1]], [1, -1]), normal),
]
EMPTY_CELLS: list[Row] = [
    (
        lambda problem=problem, family=family: sw.oracle(problem, [0.2, 0.3], family=family),
        BadArgument,
        ["empty", "interior", f"among the means of {family!r}"],
    )
    for problem, family in EMPTY
]

UNDEFINED: list[Row] = [
    (
        lambda: sw.oracle(sw.Sphere(2), [0.2, 0.3], family=coin),
        NotDefined,
        ["Sphere with Bernoulli()", "not convex", "Use Gaussian(variance)"],
    ),
    (
        lambda: sw.oracle(sw.Cells(2, inside_out), [0.5, 0.5], family=coin),
        NotDefined,
        ["OutsideBall with Bernoulli()", "not convex", "Use Gaussian(variance)"],
    ),
    *(
        (
            lambda models=models: sw.oracle(
                sw.Cells(2, inside_out, models), [0.5, 0.5], family=sw.Gaussian()
            ),
            NotDefined,
            ["OutsideBall together with constraints on the models", "Leave out ``models``"],
        )
        for models in (sw.Polyhedron(lower=[0, 0]), sw.Polyhedron([[1, 1]]))
    ),
    *(
        (
            lambda problem=problem, family=family: sw.oracle(problem, [2, 3], family=family),
            NotDefined,
            [f"{what} with ", repr(family), "not convex", "Allowed: Gaussian, Bernoulli"],
        )
        for family, what, problem in (
            (NOT_CONVEX[0], "AnyHalfSpace", planes),
            (NOT_CONVEX[1], "AllHalfSpaces", sw.AllHalfSpaces([[1, 1]], [3])),
            (NOT_CONVEX[2], "Cells", cell([[1, 1]], [3])),
            (NOT_CONVEX[3], "Cells", sw.Cells(2, {"a": sw.Ball([2, 2], 0.5)})),
            (NOT_CONVEX[4], "AnyHalfSpace", sw.Product([(planes, [0, 1])])),
        )
    ),
]

ROLES: list[Row] = [
    (call, BadArgument, ["problem: got <", "Stranger", "allowed: a problem, such as BestArm(4)"])
    for call in (
        lambda: sw.oracle(Stranger(), [1, 2], family=normal),
        lambda: sw.cost(Stranger(), [1], family=normal, weights=[1], answer=0),
        lambda: sw.evidence(Stranger(), [1], family=normal, counts=[1]),
        lambda: sw.correct_answers(Stranger(), [1]),
        lambda: sw.reachable_answers(Stranger(), [1], family=normal, counts=[1], level=1.0),
        lambda: sw.answers(Stranger()),
        lambda: sw.rank(Stranger()),
        lambda: sw.union_bound(Stranger()),
        lambda: sw.simulate(Stranger(), [1], family=normal),
        lambda: sw.plan(Stranger(), [1], family=normal),
    )
]
FORGOTTEN = ["family: got nothing; allowed: a family", "family=Bernoulli()", "there is no default"]
ROLES += [
    (call, BadArgument, FORGOTTEN)
    for call in (
        lambda: sw.oracle(two, [1, 2]),
        lambda: sw.oracle(two, [1, 2], normal),  # after the means everything has its name
        lambda: sw.cost(two, [1, 2], weights=[1, 1], answer=1),
        lambda: sw.evidence(two, [1, 2], counts=[1, 1]),
        lambda: sw.witness(two, [1, 2], answer=1),
        lambda: sw.track_and_stop_bound(two, [1, 2]),
        lambda: sw.reachable_answers(two, [1, 2], counts=[1, 1], level=1.0),
        lambda: sw.run(two, [1, 2]),
        lambda: sw.simulate(two, [1, 2]),
        lambda: sw.plan(two, [1, 2]),
        lambda: sw.Study(two, [[1, 2]]),
    )
]
ROLES += [
    (lambda: sw.oracle(two, [1, 2], family=Stranger()), BadArgument, ["family: got", "a family"]),
    (lambda: sw.oracle(two, [1, 2], family=two), BadArgument, ["family: got BestArm", "a family"]),
    (
        lambda: sw.oracle(two, [1, 2], family=sw.Gaussian),
        BadArgument,
        ["family: got 'Gaussian'", "This is the type; give a value of it: Gaussian(...)"],
    ),
    (
        lambda: sw.simulate(sw.BestArm, "hello", family=normal),
        BadArgument,
        ["problem: got 'BestArm'", "BestArm(4)", "BestArm(...)"],
    ),
    (
        lambda: sw.run(two, [1, 0], family=normal, strategy="sticky"),
        BadArgument,
        ["strategy: got 'sticky'", "a strategy, such as TrackAndStop()"],
    ),
    (
        lambda: sw.run(two, [1, 0], family=normal, strategy=Plain()),
        BadArgument,
        ["strategy: got Plain", "class Plain(sw.Strategy)", "docs/extend.md"],
    ),
    (
        lambda: sw.plan(two, ["3%", "x%"], family=sw.Bernoulli()),
        BadArgument,
        ["means[1]: got 'x%'", 'a percentage such as "2.4%"'],
    ),
    (
        lambda: sw.plan(two, [0.3, 0.2], family=sw.Bernoulli(), delta="60%"),
        BadArgument,
        ["delta: got '60%'", "strictly between 0 and 0.5"],
    ),
    (
        lambda: sw.run(three, [1, 0, 2], family=normal, strategy=sw.KLLUCB()),
        NotDefined,
        ["strategy: KLLUCB is not for Thresholding", "the best arm: BestArm(K)", "TrackAndStop()"],
    ),
    (
        lambda: sw.run(two, [1, 0], family=normal, strategy=sw.SEE()),
        NotDefined,
        ["strategy: SEE is not for BestArm", "an arm beyond a limit: AnyLowArm"],
    ),
    (
        lambda: sw.run(two, [1, 0], family=normal, strategy=sw.APT()),
        NotDefined,
        ["strategy: APT is not for BestArm", "the sides of all arms: Thresholding"],
    ),
    (
        lambda: sw.run(three, [1, 0, 2], family=normal, stopping=sw.BoundsApart()),
        NotDefined,
        ["stopping: BoundsApart is not for Thresholding", "Wealth()"],
    ),
    (
        lambda: sw.run(two, [1, 2], family=sw.Poisson(), strategy=sw.LilUCB()),
        NotDefined,
        ["LilUCB with Poisson()", "sub-Gaussian samples", "such as KLLUCB()"],
    ),
    (
        lambda: sw.run(sw.BestArm(2, 0.1), [1, 0], family=normal, strategy=sw.KLRacing()),
        NotDefined,
        ["KLRacing('mixture') with epsilon=0.1", "epsilon=0", "KLLUCB()"],
    ),
    (
        lambda: sw.run(sw.BestArm(2, 0.1), [1, 0], family=normal, stopping=sw.LastLeft()),
        NotDefined,
        ["LastLeft('chernoff', 'mixture') with epsilon > 0", "BoundsApart()"],
    ),
    (
        lambda: sw.run(sw.AnyLowArm(2, 0.5), [0.1, 0.7], family=coin, stopping=sw.JourdanReda()),
        NotDefined,
        ["JourdanReda(exact=True) with Bernoulli()", "Gaussian arms", "Wealth()"],
    ),
    (lambda: sw.KLLUCB("wide"), BadArgument, ["radius: got 'wide'", '"stylized" or "mixture"']),
    (lambda: sw.LastLeft("f1"), BadArgument, ["race: got 'f1'", "'kl', 'chernoff', 'elimination'"]),
    (lambda: sw.BeyondLimit("wide"), BadArgument, ["radius: got 'wide'", '"hoeffding"']),
    (
        lambda: sw.run(two, [1, 0], family=normal, stopping=sw.TrackAndStop()),
        BadArgument,
        ["stopping: got TrackAndStop", "a stopping rule, such as Mixture()"],
    ),
    (
        lambda: sw.oracle("best-arm", [1, 2], family=normal),
        BadArgument,
        ["problem: got 'best-arm'"],
    ),
]

MISSING: list[Row] = [
    (
        call,
        MissingMethod,
        [f"{kind} needs a method ``{method}``", "docs/extend.md"],
    )
    for method, kind, call in [
        ("answers", "Empty", lambda: list(sw.answers(Empty()))),
        ("answers", "Empty", lambda: sw.simulate(Empty(), [1, 2], family=normal)),
        ("rank", "Lacking", lambda: sw.rank(lacking("rank"))),
        ("union_bound", "Lacking", lambda: sw.union_bound(lacking("union_bound"))),
        (
            "correct_answers",
            "Lacking",
            lambda: sw.oracle(lacking("correct_answers"), [1, 2], family=normal),
        ),
        (
            "cell_count",
            "Lacking",
            lambda: sw.simulate(lacking("cell_count"), [1, 2], family=normal),
        ),
        ("cell", "Lacking", lambda: sw.run(lacking("cell"), [1, 2], family=normal)),
        ("cell_count", "Empty", lambda: Empty().cell_count(np.zeros(1, int))),
        ("interval", "Unknown", lambda: sw.simulate(two, [1, 2], family=Unknown())),
        ("level", "NoLevel", lambda: sw.run(two, [1, 2], family=normal, stopping=NoLevel())),
        ("divergence", "Unknown", lambda: Unknown().divergence(0.5, 0.4)),
        ("variance_at", "Unknown", lambda: Unknown().variance_at(0.5)),
        ("variance_slope", "Unknown", lambda: Unknown().variance_slope(0.5)),
        ("natural", "Unknown", lambda: Unknown().natural(0.5)),
        ("draw", "Unknown", lambda: Unknown().draw(0.5, np.random.default_rng(0))),
        ("tilt", "Exponential", lambda: sw.Exponential().tilt(1.0, 0.5)),
    ]
]


def asked() -> sw.PairedSession:
    session = sw.PairedSession(coin, 2)
    session.ask()
    return session


table = [[1, 0], [0, 1], [1, 1]]
PAIRED: list[Row] = [
    (
        lambda: sw.simulate_paired(table, family=normal),
        NotDefined,
        ["paired tests with Gaussian", "Bernoulli()", "Gaussian(variance=None)"],
    ),
    (lambda: sw.simulate_paired([[1], [0]], family=coin), BadArgument, ["table: got", "two arms"]),
    (lambda: sw.simulate_paired([[2, 0]], family=coin), BadArgument, ["table: got 2.0"]),
    (
        lambda: sw.simulate_paired(table, family=coin, pool=True, duels=True),
        BadArgument,
        ["duels: got True", "False with a pool", "docs/paired.md"],
    ),
    (
        lambda: sw.simulate_paired(table, family=sw.Gaussian(variance=None), pool=True),
        NotDefined,
        ["pool=3", "Bounded(low, high)"],
    ),
    (
        lambda: sw.PairedSession(coin, 2, pool=5, deterministic="yes"),  # type: ignore[arg-type]
        BadArgument,
        ["deterministic: got 'yes'", "true or false"],
    ),
    (
        lambda: sw.PairedSession(coin, 2, pool=5, ties=True),
        BadArgument,
        ["epsilon: got 0.0", "above 0"],
    ),
    (
        lambda: sw.PairedSession(coin, 2, ties=True),
        BadArgument,
        ["epsilon: got 0.0", "ties", "just equal"],
    ),
    (lambda: sw.PairedSession(coin, 1), BadArgument, ["arms: got 1", "at least 2"]),
    (lambda: sw.PairedSession(coin, 2, delta=1.0), BadArgument, ["delta: got 1.0", "strictly"]),
    (lambda: sw.PairedSession(coin, 2, goal="least"), BadArgument, ["goal: got 'least'", "max"]),
    (lambda: asked().tell(0, 0, 0.5), BadArgument, ["value: got 0.5"]),
    (lambda: asked().tell(1, 0, 1.0), BadArgument, ["item: got 1", "so far there are 1"]),
    (lambda: asked().tell(0, 2, 1.0), BadArgument, ["arm: got 2", "0 to 1"]),
]

REFUSALS: list[Row] = [
    *TIMING,
    *ARGUMENTS,
    *OUTSIDE,
    *FAMILIES,
    *PROBLEMS,
    *HALF_SPACES,
    *INTERVALS,
    *ANSWERS,
    *PRODUCTS,
    *CELLS,
    *EMPTY_CELLS,
    *UNDEFINED,
    *ROLES,
    *MISSING,
    *PAIRED,
]


REFUSALS += [
    (
        lambda: sw.Cells(2, {"a": []}),
        BadArgument,
        ["alternatives['a']: got []", "at least one cell"],
    ),
    (
        lambda: sw.Cells(2, {"a": sw.Polyhedron(lower=["x", 0])}),
        BadArgument,
        ["alternatives['a'][0].lower: got ['x', 0]", "2 numbers, infinite where there is no bound"],
    ),
    (
        lambda: sw.Cells(2, {"a": sw.Polyhedron([[1, 0]])}, models=[]),
        BadArgument,
        ["models: got []", "allowed: a Polyhedron."],
    ),
    (
        lambda: sw.oracle(
            sw.Cells(
                2,
                {"a": sw.Polyhedron(lower=[3, 3]), "b": sw.Polyhedron(upper=[3, 3])},
                models=sw.Polyhedron(lower=[1, 1]),
            ),
            [0.0, 0.0],
            family=sw.Gaussian(),
        ),
        BadArgument,
        ["means: got [0.0, 0.0]", "the possible models"],
    ),
    (lambda: sw.Product([(two, [0.5, 1.5])]), BadArgument, ["parts[0]: got [0.5", "whole numbers"]),
    (lambda: sw.Product(None), BadArgument, ["parts: got None", "a list of pairs"]),
    (
        lambda: sw.cost(
            sw.Thresholding(3, 0.0),
            [1, 0.5, 1],
            family=sw.Gaussian(),
            weights=[1, 1, 1],
            answer=("a", 1),
        ),
        BadArgument,
        ["answer: got ('a', 1)", "an answer of Thresholding"],
    ),
    (
        lambda: sw.cost(two, [1, 0], family=sw.Gaussian(), weights=[1, 1], answer=np.array([0, 1])),
        BadArgument,
        ["answer: got array([0, 1])", "an answer of BestArm"],
    ),
]


def runs(problem: Any, strategy: Any) -> Callable[[], Any]:
    """One run of coins."""
    means = np.linspace(0.4, 0.6, problem.arms)
    return lambda: sw.run(problem, means, family=coin, strategy=strategy, seed=1)


def begun(**given: Any) -> Callable[[], Any]:
    """One run, with these random numbers."""
    return lambda: sw.run(two, [0.6, 0.4], family=coin, **given)


REFUSALS += [
    (begun(seed=1, rng=1), BadArgument, ["rng: got 1", "nothing beside ``seed``", "Both say"]),
    (begun(rng=-1), BadArgument, ["rng: got -1", "a whole number of at least 0"]),
    (begun(rng=True), BadArgument, ["rng: got True", "a whole number of at least 0"]),
    (begun(rng="1"), BadArgument, ["rng: got '1'", "a numpy SeedSequence or a numpy Generator"]),
    (begun(rng=np.random.RandomState(1)), BadArgument, ["rng: got", "default_rng"]),
]

levels = sw.Thresholding(3, 0.5)
coins = sw.Product([(two, [0, 1]), (sw.Thresholding(1, 0.5), [2])])
REFUSALS += [
    (lambda: sw.TopTwo("best"), BadArgument, ["leader: got 'best'", '"eb", "ts", "ucb", "ei"']),
    (lambda: sw.TopTwo("ts", 3), BadArgument, ["challenger: got 3", '"tc", "tci", "rs", "ei"']),
    (lambda: sw.T3c(1.0), BadArgument, ["share: got 1.0", 'between 0 and 1, "ids" or "tracked"']),
    (lambda: sw.T3c("half"), BadArgument, ["share: got 'half'", '"ids", "tracked"']),
    (lambda: sw.TopTwo(slack=-1.0), BadArgument, ["slack: got -1.0", "at least 0"]),
    (lambda: sw.EbTcEpsilon(0.0), BadArgument, ["slack: got 0.0", "above 0"]),
    (runs(levels, sw.Ttucb()), BadArgument, ["leader: got UpperBound", 'leader "eb" or "ts"']),
    (runs(levels, sw.Ttts()), BadArgument, ["challenger: got Resampling", '"tc" or "tci"']),
    (runs(levels, sw.T3c("tracked")), BadArgument, ["share: got Tracked", 'share "ids" or 0.5']),
    (runs(levels, sw.T3c(0.4)), BadArgument, ["share: got Fixed(beta=0.4)", "such as BestArm"]),
    (runs(levels, sw.TopTwo(slack=0.1)), BadArgument, ["slack: got 0.1", "no epsilon"]),
    (runs(two, sw.EbTcEpsilon(1.0)), BadArgument, ["epsilon: got 1.0", "less than the width 1"]),
    (runs(coins, sw.FrankWolfe()), NotDefined, ["FrankWolfe needs the cells", "AdaHedge()"]),
    # tests/campaign/test_imports.py has the refusals of a file's cells and rows
    (
        lambda: campaign().import_results("past.txt"),
        BadArgument,
        ["file: got 'past.txt'", "ends with .csv, .parquet"],
    ),
    (
        lambda: campaign().import_results("past.csv", time="day", in_order=True),
        BadArgument,
        ["in_order: got True", "a column of times"],
    ),
    (
        lambda: campaign().record_all([(0, 1, "one"), (0, 7, "two")]),
        BadArgument,
        ["records[1]: value: got 7", "None of the 2 records was taken"],
    ),
    (
        lambda: campaign().record_all([(0, 1, "one"), (5, 0, "two")]),
        BadArgument,
        ["records[1]: arm: got 5", "0 to 1"],
    ),
]


GOOD: dict[str, Any] = {
    "problem": sw.BestArm(3),
    "means": [0.5, 0.4, 0.3],
    "family": coin,
    "strategy": sw.TrackAndStop(),
    "seed": 1,
    "repetitions": 2,
}


def simulates(**change: Any) -> Callable[[], Any]:
    return lambda: sw.simulate(**{**GOOD, **change})


class Looks(sw.Strategy, listed=False):
    """A strategy that gets the delta of a run."""

    looks_at_delta = True
    tracker: sw.CTracking = sw.CTracking()


def sticky(**options: Any) -> Callable[[], Any]:
    return simulates(strategy=sw.StickyTrackAndStop(**options))


REFUSALS += [
    (simulates(delta=0.0), BadArgument, ["delta: got 0.0", "between 0 and 1"]),
    (simulates(delta=[]), BadArgument, ["delta: got []"]),
    (simulates(delta=[0.1, 0.1]), BadArgument, ["delta: got [0.1, 0.1]", "differ"]),
    (simulates(delta=[0.1, 2.0]), BadArgument, ["delta: got 2.0", "strictly between"]),
    (simulates(delta=[0.1, 0.2], strategy=Looks()), BadArgument, ["delta", "looks at delta"]),
    (
        lambda: sw.run(two, [1, 0], family=normal, delta=[0.1, 0.2]),
        BadArgument,
        ["delta: got [0.1"],
    ),
    (simulates(means=[0.5, 1.2, 0.3]), BadArgument, ["means[1]: got 1.2"]),
    (simulates(means=[0.5, 0.4]), BadArgument, ["means: got [0.5, 0.4]", "3 numbers"]),
    (simulates(seed=-1), BadArgument, ["seed: got -1"]),
    (simulates(repetitions=0), BadArgument, ["repetitions: got 0"]),
    (simulates(workers=0), BadArgument, ["workers: got 0"]),
    (simulates(max_rounds=2), BadArgument, ["max_rounds: got 2"]),
    (simulates(strategy=sw.FixedWeights([0.5, 0.5])), BadArgument, ["weights: got", "3 numbers"]),
    (sticky(order=[0, 1]), BadArgument, ["order: got (0, 1)", "each answer"]),
    (sticky(order=[0, 1, 7]), BadArgument, ["order: got (0, 1, 7)", "each answer"]),
    (sticky(region=lambda t: -t), BadArgument, ["region: got", "not fall"]),
    (lambda: sw.StickyTrackAndStop(region=3.0), BadArgument, ["region: got 3.0"]),
    (lambda: sw.TrackAndStop("E"), BadArgument, ["tracking: got 'E'"]),
    (lambda: sw.FixedWeights([-1.0, 2.0]), BadArgument, ["weights: got [-1.0, 2.0]", "at least 0"]),
    (
        simulates(stopping=sw.Mixture(), family=sw.InverseGaussian()),
        NotDefined,
        ["Mixture", "MixtureMartingale"],
    ),
    (simulates(problem=sw.Sphere(3)), NotDefined, ["Sphere", "Gaussian"]),
    (simulates(strategy=sw.TrackAndStop), BadArgument, ["strategy: got 'TrackAndStop'", "value"]),
    (simulates(stopping=sw.Mixture), BadArgument, ["stopping: got 'Mixture'", "value"]),
    (lambda: sw.Gaussian([1.0, 0.0]), BadArgument, ["variance[1]: got 0.0"]),
    (lambda: sw.Gaussian([1.0, nan]), BadArgument, ["variance: got [1.0, nan]"]),
    (lambda: sw.Gaussian([]), BadArgument, ["variance: got []", "not empty"]),
    (
        lambda: sw.oracle(sw.BestArm(3), [1, 2, 3], family=sw.Gaussian([1, 2])),
        BadArgument,
        ["variance: got", "3 numbers, one for each arm; this has 2"],
    ),
]


def unsaid(family: str) -> Callable[[], Any]:
    spec = {"question": "best-arm", "arms": ["A", "B"], "family": family, "delta": 0.1}
    return lambda: sw.Campaign.create(spec, "memory:", "unsaid")


REFUSALS += [
    (
        unsaid("gaussian"),
        BadArgument,
        ["family.variance: got nothing", 'Write {kind = "gaussian", variance = "unknown"}', "1600"],
    ),
    (unsaid("gamma"), BadArgument, ["family.shape: got nothing", 'Write family = "exponential"']),
    (unsaid("inverse-gaussian"), BadArgument, ["family.shape: got nothing", 'kind = "bounded"']),
]


@pytest.mark.parametrize(
    ("call", "kind", "parts"), REFUSALS, ids=[" ".join(row[2][:2]) for row in REFUSALS]
)
def test_refusal(call: Callable[[], Any], kind: type[StopwiseError], parts: list[str]) -> None:
    with pytest.raises(kind) as caught:
        call()
    error, message = caught.value, str(caught.value)
    assert type(error) is kind
    assert isinstance(error, StopwiseError)
    assert isinstance(error, TypeError if kind is MissingMethod else ValueError)
    assert [part for part in parts if part not in message] == []
    if isinstance(error, BadArgument):
        assert message.startswith(
            f"{error.name}: got {shown(error.given)}; allowed: {error.allowed}."
        )
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is BadArgument
        assert (str(again), again.name, again.allowed) == (message, error.name, error.allowed)


def test_hint_follows_what_is_allowed_and_survives_pickling() -> None:
    error = BadArgument("epsilon", -1, "a number of at least 0", "Try 0.")
    assert str(error) == "epsilon: got -1; allowed: a number of at least 0. Try 0."
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.name, again.given) == (str(error), "epsilon", -1)


def test_not_defined_can_be_pickled() -> None:
    with pytest.raises(NotDefined) as caught:
        sw.oracle(sw.Sphere(2), [0.2, 0.3], family=coin)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again)) == (NotDefined, str(caught.value))


@pytest.mark.parametrize(
    ("family", "means", "best"),
    [
        (coin, [1.0, 0.5], 0),
        (coin, [0.0, 0.5], 1),
        (sw.Binomial(3), [3.0, 1.0], 0),
        (sw.Bounded(-1, 2), [-1.0, 1.0], 1),
        (sw.Poisson(), [0.0, 1.0], 1),
        (sw.Geometric(), [1.0, 2.0], 1),
    ],
)
def test_data_may_lie_on_the_boundary(family: Any, means: list[float], best: int) -> None:
    value = sw.cost(two, means, family=family, weights=[1, 1], answer=best).value
    assert 0.0 < value < inf
    assert sw.evidence(two, means, family=family, counts=[1, 1]) == {best: value}
    assert best in sw.reachable_answers(two, means, family=family, counts=[1, 1], level=0.1)


@pytest.mark.parametrize("family", NOT_CONVEX, ids=repr)
def test_half_spaces_of_one_arm_need_no_convexity(family: Any) -> None:
    normals, offsets = [[1, 0], [0, -2]], [1.5, -5]  # arm 0 above 1.5, arm 1 below 2.5
    low, high = family.divergence(2.0, 1.5), family.divergence(3.0, 2.5)
    found = sw.oracle(sw.AnyHalfSpace(normals, offsets), [2, 3], family=family)
    assert found.correct == ((0, 1), (1, -1))
    assert found.value == pytest.approx(max(low, high))
    assert sw.oracle(sw.AllHalfSpaces(normals, offsets), [2, 3], family=family).answers == ("no",)
    sides = {"up": sw.Polyhedron([[-1, 0]], [-1.5]), "down": sw.Polyhedron([[1, 0]], [1.5])}
    assert sw.oracle(sw.Cells(2, sides), [2, 3], family=family).answers == ("up",)


@pytest.mark.parametrize("family", [normal, coin, sw.Poisson(), *NOT_CONVEX[:2]], ids=repr)
def test_a_tie_for_the_best_arm_is_not_an_error(family: Any) -> None:
    found = sw.oracle(sw.BestArm(3), [0.5, 0.5, 0.25], family=family)
    assert (found.time, found.value, found.status) == (inf, 0.0, "degenerate")
    assert found.correct == found.answers == (0, 1)
    assert all(np.allclose(each, 1 / 3, rtol=1e-15) for each in found.weights)
    assert found.to_dict()["time"] is None
    assert "infinite" in repr(found)
