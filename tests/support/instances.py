"""Families with sensible ranges of means, and problems on them, for all tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import stopwise as sw


@dataclass(frozen=True)
class Setting:
    """A family with the range from which tests draw its means."""

    family: Any
    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low


SETTINGS = [
    Setting(sw.Gaussian(), -2.0, 2.0),
    Setting(sw.Gaussian(0.25), -1.0, 1.0),
    Setting(sw.Bernoulli(), 0.05, 0.95),
    Setting(sw.Binomial(5), 0.3, 4.7),
    Setting(sw.Bounded(-1.0, 2.0), -0.9, 1.9),
    Setting(sw.Poisson(), 0.2, 6.0),
    Setting(sw.Exponential(), 0.2, 4.0),
    Setting(sw.Gamma(2.5), 0.2, 4.0),
    Setting(sw.Geometric(), 1.2, 6.0),
    Setting(sw.NegativeBinomial(3.0), 0.3, 6.0),
    Setting(sw.InverseGaussian(2.0), 0.3, 3.0),
]
CONVEX = [
    s
    for s in SETTINGS
    if type(s.family).__name__ in ["Gaussian", "Bernoulli", "Binomial", "Bounded", "Poisson"]
]
GAUSSIAN = SETTINGS[:2]
FEW = [SETTINGS[0], SETTINGS[2], SETTINGS[6]]  # for kinds that differ little from others

# name of a problem -> the settings in which it is defined
KINDS: dict[str, list[Setting]] = {
    "best_arm": SETTINGS,
    "epsilon_best_arm": SETTINGS,
    "lowest_arm": SETTINGS,
    "thresholding": SETTINGS,
    "minimum": SETTINGS,
    "epsilon_minimum": SETTINGS,
    "any_low": SETTINGS,
    "any_sign": SETTINGS,
    "top_arms": FEW,
    "epsilon_top_arms": SETTINGS,
    "lowest_arms": FEW,
    "better": FEW,
    "epsilon_better": SETTINGS,
    "any_better": SETTINGS,
    "any_half_space": CONVEX,
    "all_half_spaces": CONVEX,
    "positive_half_spaces": CONVEX,
    "lone_half_spaces": SETTINGS,
    "sphere": GAUSSIAN,
    "linear": GAUSSIAN,
    "product": SETTINGS,
    "cells_of_bounds": SETTINGS,
    "cells_of_planes": CONVEX,
    "cells_with_models": CONVEX,
    "cells_of_balls": GAUSSIAN,
}
PAIRS = [(kind, setting) for kind, settings in KINDS.items() for setting in settings]


def pair_id(value: Any) -> str:
    return value if isinstance(value, str) else repr(value.family)


def draw_instance(kind: str, setting: Setting, arms: int, seed: int) -> tuple[Any, np.ndarray]:
    """A random problem of a kind, with random means, from a seed."""
    rng = np.random.default_rng(seed)
    means = rng.uniform(setting.low, setting.high, arms)
    problem = BUILDERS[kind](setting, arms, rng)
    if kind == "linear":
        return problem, problem.means(
            rng.uniform(setting.low, setting.high, problem.features.shape[1])
        )
    while not problem.is_model(means):
        means = rng.uniform(setting.low, setting.high, arms)
    return problem, means


def _threshold(setting: Setting, rng: np.random.Generator) -> float:
    return float(setting.low + setting.width * rng.uniform(0.2, 0.8))


def _planes(
    setting: Setting, arms: int, rng: np.random.Generator, count: int = 3
) -> tuple[Any, Any]:
    normals = rng.uniform(0.2, 1.0, (count, arms)) * rng.choice([-1.0, 1.0], (count, arms))
    point = rng.uniform(setting.low, setting.high, arms)
    slack = rng.uniform(0.05, 0.3, count) * setting.width
    return normals, normals @ point - slack * 0.2


def _product(setting: Setting, arms: int, rng: np.random.Generator) -> Any:
    first = sw.Thresholding(1, _threshold(setting, rng))
    if arms == 2:
        return sw.Product([(first, [1]), (sw.AnySign(1, _threshold(setting, rng)), [0])])
    inner = sw.Product(
        [
            (sw.BestArm(arms - 1), list(range(1, arms))),
            (sw.AnyLowArm(1, _threshold(setting, rng)), [0]),
        ]
    )
    if arms < 4:
        return sw.Product([(inner, list(range(arms)))])
    rest = sw.Product(
        [
            (sw.BestArm(2), [0, 1]),
            (sw.AnyLowArm(arms - 3, _threshold(setting, rng)), list(range(2, arms - 1))),
        ]
    )
    return sw.Product([(first, [arms - 1]), (rest, list(range(arms - 1)))])


def _cells_of_bounds(setting: Setting, arms: int, rng: np.random.Generator) -> Any:
    """Best arm against the rest, and its complement: pairs and boxes."""
    eye = np.eye(arms)
    limit = _threshold(setting, rng)
    box = sw.Polyhedron(lower=[limit, *[-np.inf] * (arms - 1)])
    beaten = [sw.Polyhedron([eye[j] - eye[0]], [0.05 * setting.width]) for j in range(1, arms)]
    return sw.Cells(
        arms,
        {
            "first is low": box,
            "first is high": sw.Polyhedron(upper=[limit, *[np.inf] * (arms - 1)]),
            "first is best": beaten,
            "neither": [
                sw.Polyhedron(upper=[limit, *[np.inf] * (arms - 1)]),
                sw.Polyhedron([eye[0] - eye[1]]),
            ],
            "give up": sw.Polyhedron(lower=[limit] * arms),
        },
    )


def _cells_of_planes(setting: Setting, arms: int, rng: np.random.Generator) -> Any:
    normals, offsets = _planes(setting, arms, rng)
    return sw.Cells(
        arms,
        {
            "yes": [sw.Polyhedron([-n], [-o]) for n, o in zip(normals, offsets, strict=True)],
            "no": sw.Polyhedron(normals, offsets),
            "two": sw.Polyhedron(normals[:2], offsets[:2]),
        },
    )


def _cells_with_models(setting: Setting, arms: int, rng: np.random.Generator) -> Any:
    """Which of the first two arms is better, when the means are known to be ordered around the rest."""
    eye = np.eye(arms)
    known = sw.Polyhedron([np.ones(arms)], [arms * (setting.low + 0.1 * setting.width)])
    return sw.Cells(
        arms,
        {0: sw.Polyhedron([eye[1] - eye[0]]), 1: sw.Polyhedron([eye[0] - eye[1]])},
        models=known,
    )


def _cells_of_balls(setting: Setting, arms: int, rng: np.random.Generator) -> Any:
    center = rng.uniform(setting.low, setting.high, arms) * 0.3
    other = center + setting.width
    return sw.Cells(
        arms,
        {
            "in": sw.OutsideBall(center, 0.3 * setting.width),
            "out": sw.Ball(center, 0.3 * setting.width),
            "far": [sw.Ball(center, 0.2 * setting.width), sw.Ball(other, 0.2 * setting.width)],
        },
    )


def _control(setting: Setting, rng: np.random.Generator) -> dict[str, Any]:
    return {
        "epsilon": setting.width * float(rng.choice([0.1, 0.3])),
        "goal": str(rng.choice(["max", "min"])),
    }


BUILDERS: dict[str, Any] = {
    "best_arm": lambda _s, k, _rng: sw.BestArm(k),
    "epsilon_best_arm": lambda s, k, rng: sw.BestArm(
        k, s.width * float(rng.choice([0.02, 0.1, 0.3]))
    ),
    "lowest_arm": lambda s, k, rng: sw.BestArm(
        k, s.width * float(rng.choice([0.0, 0.1, 0.3])), goal="min"
    ),
    "thresholding": lambda s, k, rng: sw.Thresholding(k, _threshold(s, rng)),
    "minimum": lambda s, k, rng: sw.MinimumThreshold(k, _threshold(s, rng)),
    "epsilon_minimum": lambda s, k, rng: sw.MinimumThreshold(k, _threshold(s, rng), 0.15 * s.width),
    "any_low": lambda s, k, rng: sw.AnyLowArm(k, _threshold(s, rng)),
    "any_sign": lambda s, k, rng: sw.AnySign(k, _threshold(s, rng)),
    "top_arms": lambda _s, k, rng: sw.TopArms(k, int(rng.integers(1, k))),
    "epsilon_top_arms": lambda s, k, rng: sw.TopArms(
        k, int(rng.integers(1, k)), s.width * float(rng.choice([0.02, 0.1, 0.3]))
    ),
    "lowest_arms": lambda s, k, rng: sw.TopArms(
        k, int(rng.integers(1, k)), s.width * float(rng.choice([0.0, 0.1])), goal="min"
    ),
    "better": lambda _s, k, rng: sw.BetterThan(k, int(rng.integers(k))),
    "epsilon_better": lambda s, k, rng: sw.BetterThan(k, int(rng.integers(k)), **_control(s, rng)),
    "any_better": lambda s, k, rng: sw.AnyBetterThan(k, int(rng.integers(k)), **_control(s, rng)),
    "any_half_space": lambda s, k, rng: sw.AnyHalfSpace(*_planes(s, k, rng)),
    "all_half_spaces": lambda s, k, rng: sw.AllHalfSpaces(*_planes(s, k, rng)),
    "positive_half_spaces": lambda s, k, rng: sw.AllHalfSpaces(
        (normals := rng.uniform(0.1, 1.0, (3, k))), normals @ rng.uniform(s.low, s.high, k)
    ),
    "lone_half_spaces": lambda s, k, rng: sw.AllHalfSpaces(
        2.0 * np.eye(k)[:2], 2.0 * rng.uniform(s.low, s.high, 2)
    ),
    "sphere": lambda s, k, rng: sw.Sphere(k, 0.3 * s.width, rng.uniform(s.low, s.high, k) * 0.3),
    "linear": lambda _s, k, rng: sw.Linear(rng.normal(size=(k, int(rng.integers(2, k + 1))))),
    "product": _product,
    "cells_of_bounds": _cells_of_bounds,
    "cells_of_planes": _cells_of_planes,
    "cells_with_models": _cells_with_models,
    "cells_of_balls": _cells_of_balls,
}

seeds = st.integers(0, 2**32 - 1)
