"""What the page is told: every word about a question or a strategy comes from where that lives."""

from __future__ import annotations

from typing import Any

import pytest

import stopwise as sw
from stopwise.core import registry
from stopwise.web.dashboard import page

PLANES = [[1.0, 0.0], [0.5, 0.5]]
ASKED: list[tuple[Any, str]] = [
    ("best-arm", "Which option has the highest mean?"),
    ("best-arm:epsilon=0.1", "Which option has the highest mean, up to 0.1?"),
    ({"kind": "thresholding", "threshold": 0.5}, "Which options are below 0.5, and which above?"),
    ({"kind": "minimum-threshold", "threshold": -1}, "Is the lowest mean below -1?"),
    ({"kind": "any-low-arm", "threshold": 2}, "Is any option below 2?"),
    ("any-sign", "On which side of 0 is any one option?"),
    ({"kind": "sphere", "radius": 3}, "Are the means inside the ball of radius 3?"),
    ({"kind": "all-half-spaces", "normals": PLANES}, "Is every linear combination high enough?"),
]


def started(question: Any, size: float = 900.0, **more: Any) -> sw.Campaign:
    """A campaign with one sample of each arm, the first high, the second low."""
    spec = {
        "question": question,
        "arms": ["a", "b"],
        "family": {"kind": "gaussian", "variance": 1},
        "delta": 1e-4,
        **more,
    }
    campaign = sw.Campaign.create(spec, "memory:", "asked")
    for arm, value in enumerate((size, -size)):
        campaign.record(arm, value)
    return campaign


@pytest.mark.parametrize(("question", "asked"), ASKED, ids=str)
def test_the_question_has_its_numbers(question: Any, asked: str) -> None:
    assert page(started(question))["asked"] == asked


@pytest.mark.parametrize(
    ("question", "named"),
    [("best-arm", [0]), ("any-sign", [0]), ("any-low-arm:threshold=0", [1]), ("sphere", [])],
)
def test_pictures_mark_the_arms_that_the_answer_names(question: str, named: list[int]) -> None:
    campaign = started(question)
    assert campaign.decision is not None
    assert page(campaign)["named"] == named


def test_changes_have_the_strategys_reasons() -> None:
    campaign = started("best-arm", 0.1, strategy="track-and-stop", order="told")
    campaign.ask()
    campaign.record(0, -2.0)
    campaign.ask()
    found = page(campaign)
    assert found["reason"].startswith("Track-and-Stop pursues")
    assert [(each["answer"], each["because"]) for each in found["changes"]] == [
        ("a is best", "the means favoured it once every arm had a sample"),
        ("b is best", "the means came to favour it over “a is best”"),
    ]


def test_the_guarantee_is_said_in_words() -> None:
    assert page(started("best-arm"))["guarantee"] == "proven"
    assert page(started("best-arm", stopping="stylized"))["guarantee"] == "not proven"


def test_strategies_that_run_live_say_what_they_pursue() -> None:
    for name, kind in registry.load("strategy").items():
        if kind.__module__.startswith("stopwise.") and not kind.needs_truth:
            assert kind.reason.endswith("."), name


def test_a_question_without_words_is_called_by_its_class() -> None:
    class Plain(sw.Problem, listed=False):
        pass

    assert Plain().question_text() == "What is the answer of Plain?"
