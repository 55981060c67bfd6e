"""What each check takes and refuses; tests/core/test_refusals.py has the arguments that use it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from odd import VALUES
from stopwise.core import checks
from stopwise.core.errors import BadArgument

nan, inf = math.nan, math.inf
NUMBER, LIST, ROWS = (
    "a finite number",
    "a list of finite numbers",
    "a list of rows of finite numbers",
)
WHOLE = "a whole number of at least 1"
Check = Callable[[Any], Any]

# a check, and what it refuses, with words of what is allowed
CHECKS: dict[str, tuple[Check, list[tuple[Any, str]]]] = {
    "finite": (
        lambda x: checks.finite("x", x),
        [(bad, NUMBER) for bad in (nan, inf, -inf, "x", "2", None, True, 1j, [1.0], 10**400)]
        + [(1e301, "at most 1e+300 in size")],
    ),
    "number": (
        lambda x: checks.number("x", x),
        [("x%", 'a percentage such as "2.4%"'), ("", "percentage"), (None, NUMBER), ("inf", NUMBER)],
    ),
    "positive": (
        lambda x: checks.positive("x", x),
        [(-1, "above 0"), (0, "above 0"), (nan, NUMBER), (1e-301, "at least 1e-300")],
    ),
    "not_negative": (
        lambda x: checks.not_negative("x", x),
        [(-1.0, "a number of at least 0"), (nan, NUMBER), ("x", NUMBER)],
    ),
    "probability": (
        lambda x: checks.probability("x", x),
        [(bad, "strictly between 0 and 1") for bad in (0.0, 1.0, -1.0)]
        + [("x", NUMBER), (1e-301, "at least 1e-300")],
    ),
    "moderate": (lambda x: checks.moderate("x", x), [(1e101, "at most 1e+100"), (-1e101, "at most")]),
    "margin": (checks.margin, [(-0.1, "at least 0"), (nan, NUMBER), (1e101, "at most 1e+100")]),
    "listed": (
        lambda x: checks.listed("x", x, "a list of pairs"),
        [(bad, "a list of pairs") for bad in (None, 1, "ab", {}, {1}, iter([1]))],
    ),
    "costs": (
        lambda x: checks.costs(x, 2),
        [
            (0.0, "a number above 0"),
            ([1.0, -1.0], "a cost above 0"),
            ([1.0], "2 numbers, one for each arm"),
            (1e101, "at most 1e+100"),
        ],
    ),
    "whole": (
        lambda x: checks.whole("x", x, 1, 9),
        [(bad, WHOLE) for bad in (0, -1, 2.5, 2.0, nan, True, "3", None)]
        + [(10, "a whole number from 1 to 9"), (10**4999, "from 1 to 9")],
    ),
    "arm_count": (lambda x: checks.arm_count(x, 2), [(1, "at least 2"), (10**7, "2 to 1,000,000")]),
    "repetitions": (checks.repetitions, [(0, WHOLE), (10**9, "1 to 100,000,000")]),
    "workers": (checks.workers, [(0, WHOLE), (10**5, "1 to 10,000")]),
    "seed": (checks.seed, [(-1, "at least 0"), (1.5, "at least 0"), (2**128, "0 to ")]),
    "choice": (lambda x: checks.choice("x", x, ("a", "b")), [(x, "'a' or 'b'") for x in ("c", [], 1)]),
    "text": (
        lambda x: checks.text("x", x, 9),
        [(bad, "at most 9 characters") for bad in ("a" * 10, "a\0b", "\ud800", b"a", None)],
    ),
    "function": (lambda x: checks.function("x", x, "a function"), [(1, "a function")]),
    "path": (
        lambda x: checks.path("x", x),
        [(bad, "the path of a file") for bad in ("", "/", "a\0b", "a" * 300, 3, None)],
    ),
    "folder": (
        lambda x: checks.folder("x", x),
        [(bad, "the path of a folder") for bad in ("", "a\0b", "a" * 300, 3, None)],
    ),
    "truth": (lambda x: checks.truth("x", x), [(bad, "true or false") for bad in (1, 0, "yes", None)]),
    "vector": (
        lambda x: checks.vector("x", x, 2),
        [(bad, "finite numbers only") for bad in ([nan, 0], [inf, 0], [0, -inf])]
        + [(bad, f"{LIST}, not empty") for bad in ([], 1.0, [[1, 2]])]
        + [
            (bad, LIST)
            for bad in (None, [1, [2, 3]], "0.5,0.4", ["a", "b"], ["0.5", "0.4"], [1j, 2], {0: 1})
        ]
        + [([True, False], LIST), ([1], "2 numbers, one for each arm; this has 1")]
        + [([1, 2, 3], "this has 3"), ([1e200, 0.0], "at most 1e+100")],
    ),
    "whole_vector": (
        lambda x: checks.whole_vector("x", x),
        [(bad, "a list of whole numbers") for bad in ([0.5, 1], 0, [[1]], ["a"], [1e19], [nan])],
    ),
    "bounds": (
        lambda x: checks.bounds("x", x, 2),
        [(bad, "2 numbers, infinite where there is no bound") for bad in ([0], [0, nan], ["x", 0], 1)],
    ),
    "matrix": (
        lambda x: checks.matrix("x", x),
        [
            (bad, ROWS)
            for bad in ([[1, 0], [0]], [], [[]], [1, 0], [[nan, 1]], [["a", "b"]], "ab", None)
        ]
        + [([[1e101]], "at most 1e+100")],
    ),
    "weights": (
        lambda x: checks.weights("x", x, 2),
        [
            ([-1, 1], "at least 0"),
            ([0, 0], "not all of them 0"),
            ([1, 2, 3], "2 numbers"),
            ([inf, 1], "finite"),
            ("ab", LIST),
        ],
    ),
    "entries": (
        lambda given: checks.entries("x", np.array(given), np.array(given) > 0.0, "above 0"),
        [([1, 0], "above 0"), ([-1, -2], "above 0")],
    ),
}  # fmt: skip
HELPERS = {"real", "from_text", "is_list", "has"}  # these refuse nothing


@pytest.mark.parametrize("name", CHECKS)
def test_what_a_check_refuses(name: str) -> None:
    check, refused = CHECKS[name]
    for bad, allowed in refused:
        with pytest.raises(BadArgument) as caught:
            check(bad)
        assert allowed in caught.value.allowed, bad


def test_every_check_has_a_row() -> None:
    own = {
        name
        for name, each in vars(checks).items()
        if inspect.isfunction(each) and each.__module__ == checks.__name__ and name[0] != "_"
    }
    assert own - HELPERS == set(CHECKS)


def test_what_they_take() -> None:
    assert checks.number("x", " 2.5% ") == 0.025
    assert checks.number("x", "3") == 3.0
    assert checks.positive("x", 5) == 5.0
    assert checks.probability("x", 0.5) == 0.5
    assert checks.whole("x", np.int64(3), 1) == 3
    assert checks.whole("x", 2**63 - 1, 0) == 2**63 - 1
    assert checks.seed(2**128 - 1) == 2**128 - 1
    assert checks.costs(None, 2) is None
    assert checks.costs(3, 2).tolist() == [3.0, 3.0]  # type: ignore[union-attr]
    assert checks.path("x", "a/b.csv") == Path("a/b.csv")
    assert checks.bounds("x", [-inf, 1], 2).tolist() == [-inf, 1.0]
    assert checks.whole_vector("x", [2.0, -1]).tolist() == [2, -1]
    assert checks.matrix("x", [[1, 2]]).tolist() == [[1.0, 2.0]]
    assert checks.weights("x", (0, 2), 2).tolist() == [0.0, 2.0]


@pytest.mark.parametrize(
    "given", [Decimal("0.25"), Fraction(1, 4), np.float32(0.25), np.array(0.25)]
)
def test_other_kinds_of_numbers_are_numbers(given: Any) -> None:
    assert type(checks.finite("x", given)) is float
    assert checks.finite("x", given) == 0.25
    assert checks.vector("x", [given, 1]).tolist() == [0.25, 1.0]


@pytest.mark.parametrize(
    "name", ["2**63", "-10**30", "10**30", "True", "1.5", "None", "5,000 digits"]
)
def test_whole_numbers_are_those_of_64_bits(name: str) -> None:
    with pytest.raises(BadArgument, match="budget: got "):
        checks.whole("budget", VALUES[name](), least=0)


def test_gaps_of_masked_arrays_are_no_numbers() -> None:
    masked = np.ma.masked_array([0.2, 99.0], mask=[False, True])
    with pytest.raises(BadArgument, match="means: got "):
        checks.vector("means", masked)
