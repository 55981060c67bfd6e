"""The kit refuses a problem whose rank or union bound is too small, and says by how much."""

from __future__ import annotations

from typing import Any

import pytest

import stopwise as sw
from stopwise.engine.design import Setting, prepare
from stopwise.testing import check_problem

MEANS = [0.9, 0.5, 0.3]


class Mine(sw.BestArm, listed=False):
    """Best arm, as a user's own problem; those below say wrong things about themselves."""


def says(method: str, value: int) -> Any:
    """The same problem with another rank or union bound."""
    body = {method: lambda problem: value}
    return type(Mine)(f"Claims{value}", (Mine,), body, listed=False)(3)


def test_true_claims_pass() -> None:
    check_problem(Mine(3), sw.Bernoulli(), MEANS)


@pytest.mark.parametrize("value", [0, 1])
def test_a_union_bound_that_is_too_small(value: int) -> None:
    """At 0.9, 0.5, 0.3 two wrong answers are blamed on two different pairs."""
    with pytest.raises(AssertionError, match=f"union bound of .* is {value}"):
        check_problem(says("union_bound", value), sw.Bernoulli(), MEANS)


@pytest.mark.parametrize("value", [0, 1])
def test_a_rank_that_is_too_small(value: int) -> None:
    """Each cell compares two arms."""
    with pytest.raises(AssertionError, match=f"rank of .* is {value}|its rank {value};"):
        check_problem(says("rank", value), sw.Bernoulli(), MEANS)


PART = sw.Thresholding(1, 0.5)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (sw.BestArm(3), "proven"),
        (Mine(3), "proven if its rank and union bound are right"),
        (sw.Product([(sw.BestArm(2), [0, 1]), (PART, [2])]), "proven"),
        (
            sw.Product([(Mine(2), [0, 1]), (PART, [2])]),
            "proven if its rank and union bound are right",
        ),
    ],
    ids=repr,
)
def test_the_guarantee_rests_on_what_others_say(problem: sw.Problem, words: str) -> None:
    def guarantee(rule: sw.StoppingRule) -> str:
        setting = Setting(problem, sw.Bernoulli(), sw.TrackAndStop(), rule)
        return prepare(setting, MEANS, (0.1,), 100).guarantee

    assert guarantee(sw.Mixture()) == words
    assert guarantee(sw.Stylized()) == "not proven"
