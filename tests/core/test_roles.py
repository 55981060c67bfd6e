"""Problem, family, strategy and stopping rule are classes; a wrong one is refused in plain words.

By a type checker, when the class is made, or when it is used.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

import stopwise as sw
from stopwise.core.errors import MissingMethod, StopwiseError
from stopwise.core.values import ValueType

ROOT = Path(__file__).parents[2]
SNIPPET = """
import stopwise as sw

good = sw.simulate(sw.BestArm(2), [1.0, 0.0], family=sw.Gaussian([1.0, 2.0]))
sw.simulate(sw.BestArm, "hello", family=sw.Gaussian())  # problem
sw.simulate(sw.BestArm(2), [1.0, 0.0])  # family
sw.simulate(sw.BestArm(2), [1.0, 0.0], family="gaussian")  # family
sw.simulate(sw.BestArm(2), [1.0, 0.0], family=sw.Gaussian(), strategy=sw.Mixture())  # strategy
sw.run(sw.BestArm(2), [1.0, 0.0], family=sw.Gaussian(), stopping=sw.Uniform())  # stopping
sw.oracle(sw.Gaussian(), [1.0], family=sw.Gaussian())  # problem
sw.oracle(sw.BestArm(2), [1.0, 0.0], sw.Gaussian())  # keyword-only
sw.plan(sw.BestArm(2), [1.0, 0.0], family=sw.BestArm(2))  # family
reveal = good.stopping_times.sum()


class Mine(sw.BestArm):
    def rank(self, family: sw.Family) -> int:  # an extra parameter
        return 2

    def union_bound(self) -> str:  # another result
        return "two"


class Coin(sw.Family):
    def divergence(self, mu: float) -> float:  # a parameter is missing
        return mu

    def interval(self) -> tuple[float, float]:
        return 0.0, 1.0
"""


def test_wrong_roles_are_refused_by_the_type_checker(tmp_path: Path) -> None:
    (tmp_path / "snippet.py").write_text(SNIPPET)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--show-error-codes",
         "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache"),
         str(tmp_path / "snippet.py")],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    lines = {int(found) for found in re.findall(r"snippet\.py:(\d+): error", done.stdout)}
    wrong = {place for place, line in enumerate(SNIPPET.splitlines(), 1) if "#" in line}
    assert lines == wrong, done.stdout


def made(base: type, **body: Any) -> Any:
    """A class of this base with these attributes."""
    return ValueType("Mine", (base,), body, listed=False)


@pytest.mark.parametrize(
    ("base", "body", "words"),
    [
        (
            sw.Problem,
            {"rank": lambda self, code: 2},
            ["Mine.rank(self, code)", "parameters (self)"],
        ),
        (
            sw.Family,
            {"divergence": lambda self, mu: mu},
            [
                "Mine.divergence(self, mu) must have the parameters (self, mu, lam)",
                "docs/extend.md",
            ],
        ),
        (
            sw.Family,
            {"divergence": lambda self, lam, mu: mu},
            ["Mine.divergence(self, lam, mu)", "(self, mu, lam)"],
        ),
        (sw.Problem, {"rank": 2}, ["Mine.rank must be a method", "def rank(self)"]),
        (sw.Problem, {"rank": property(lambda self: 2)}, ["Mine.rank must be a method"]),
        (
            sw.Problem,
            {"__annotations__": {"rank": "int"}},
            ["Mine: the field 'rank'", "of Problem"],
        ),
        (sw.Problem, {"arms": lambda self: 2}, ["Mine.arms must be a field or a property"]),
        (
            sw.BestArm,  # a method with variants for some families
            {"reach": lambda self, family: 0.0},
            ["Mine.reach(self, family)", "(self, family, data, code, level, point)"],
        ),
    ],
)
def test_a_method_that_does_not_fit_is_refused_with_its_class(
    base: type, body: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(StopwiseError) as caught:
        made(base, **body)
    assert [word for word in words if word not in str(caught.value)] == []


def test_other_names_of_parameters_are_fine() -> None:
    kind = made(sw.Bernoulli, divergence=lambda f, x, y: abs(x - y))
    assert kind().divergence(0.5, 0.25) == 0.25


def test_a_misspelled_method_is_named() -> None:
    kind = made(sw.Problem, arms=2, anwsers=lambda self: [0, 1])
    with pytest.raises(
        MissingMethod, match=r"Mine needs a method ``answers`` .* Is ``anwsers`` misspelled"
    ):
        sw.simulate(kind(), [1.0, 0.0], family=sw.Gaussian())
    strategy = made(sw.Direct, nextarm=lambda self, instance, state, rounds, rng: 0)
    with pytest.raises(MissingMethod, match=r"``next_arm`` .* Is ``nextarm`` misspelled"):
        sw.run(sw.BestArm(2), [1.0, 0.0], family=sw.Gaussian(), strategy=strategy())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("problem", sw.BestArm),
        ("family", sw.Gaussian),
        ("strategy", sw.Uniform),
        ("stopping", sw.Wealth),
    ],
)
def test_a_class_in_place_of_a_value_is_refused(name: str, kind: Any) -> None:
    given: dict[str, Any] = {"problem": sw.BestArm(2), "family": sw.Gaussian(), name: kind}
    words = f"{name}: got '{kind.__name__}'.*give a value of it: {kind.__name__}"
    with pytest.raises(sw.BadArgument, match=words):
        sw.run(given.pop("problem"), [1.0, 0.0], **given)


class Scaled(sw.Bernoulli, listed=False):
    """Fields of two classes, each with a default; what ClassVar says is no field."""

    scale: float = 2.0
    words: ClassVar[str] = "coins"


class Shifted(Scaled, listed=False):
    shift: float = 1.0


def test_fields_and_their_defaults_are_inherited() -> None:
    assert Shifted() == Shifted(2.0, 1.0) == Shifted(shift=1.0)
    assert Shifted._fields == ("scale", "shift")
    assert repr(Shifted(shift=3.0)) == "Shifted(scale=2.0, shift=3.0)"


def test_a_field_without_a_default_after_one_with_is_refused() -> None:
    with pytest.raises(StopwiseError, match="'late' has no default, but 'scale' before it has one"):
        made(Scaled, __annotations__={"late": "float"})


def test_a_field_that_init_forgets_is_named() -> None:
    def init(self: Any, arms: int) -> None:
        self.arms = arms

    kind = made(sw.Problem, __annotations__={"arms": "int", "m": "int"}, __init__=init)
    with pytest.raises(StopwiseError, match=r"Mine\.__init__ does not set m"):
        kind(3)


def test_only_functions_are_jitable() -> None:
    wrong: Any = 3
    with pytest.raises(sw.BadArgument, match="function: got 3; allowed: a plain function"):
        sw.jitable(wrong)
