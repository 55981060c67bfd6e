"""The alternatives of every problem spelled out again from the definitions, for the naive solver.

Independent of the library's own projections: plain half-spaces, bounds and balls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import stopwise as sw
from naive import Cell
from stopwise.problems.lowest import Lowest


def cells(problem: Any, answer: Any) -> list[Cell]:
    """The models on which the answer is wrong (closed), as cells for the naive solver."""
    return RULES[type(problem)](problem, answer)


def _plane(normal: Any, offset: float) -> Cell:
    return Cell(np.array([normal], dtype=float), np.array([offset], dtype=float))


def _bound(arms: int, arm: int, side: float, limit: float) -> Cell:
    return _plane(side * np.eye(arms)[arm], side * limit)


def _best_arm(p: sw.BestArm, answer: int) -> list[Cell]:
    eye = np.eye(p.arms)
    return [_plane(eye[j] - eye[answer], p.epsilon) for j in range(p.arms) if j != answer]


def _top_arms(p: sw.TopArms, answer: tuple[int, ...]) -> list[Cell]:
    eye, others = np.eye(p.arms), set(range(p.arms)) - set(answer)
    return [_plane(eye[j] - eye[i], p.epsilon) for i in answer for j in others]


def _better(p: sw.BetterThan, answer: tuple[int, ...]) -> list[Cell]:
    return [_claim(p, k, k in answer) for k in range(p.arms) if k != p.control]


def _any_better(p: sw.AnyBetterThan, answer: Any) -> list[Cell]:
    if answer == "none":
        return [_claim(p, k, False) for k in range(p.arms) if k != p.control]
    return [_claim(p, answer, True)]


def _claim(p: Any, arm: int, better: bool) -> Cell:
    """Where it is wrong that an arm is better than the control, or is not by more than epsilon."""
    eye = np.eye(p.arms)
    away = eye[arm] - eye[p.control]
    return _plane(-away, 0.0) if better else _plane(away, p.epsilon)


def _lowest(p: Lowest, answer: Any) -> list[Cell]:
    return [Cell(-cell.normals, cell.offsets) for cell in cells(p.problem, answer)]


def _thresholding(p: sw.Thresholding, answer: tuple[int, ...]) -> list[Cell]:
    return [_bound(p.arms, k, 1.0 if k in answer else -1.0, p.threshold) for k in range(p.arms)]


def _minimum(p: sw.MinimumThreshold, answer: str) -> list[Cell]:
    if answer == "high":
        return [_bound(p.arms, k, -1.0, p.threshold - p.epsilon) for k in range(p.arms)]
    return [Cell(np.eye(p.arms), np.full(p.arms, p.threshold + p.epsilon))]


def _any_low(p: sw.AnyLowArm, answer: Any) -> list[Cell]:
    if answer == "none":
        return [_bound(p.arms, k, -1.0, p.threshold) for k in range(p.arms)]
    return [_bound(p.arms, answer, 1.0, p.threshold)]


def _any_sign(p: sw.AnySign, answer: tuple[int, str]) -> list[Cell]:
    return [_bound(p.arms, answer[0], 1.0 if answer[1] == "low" else -1.0, p.threshold)]


def _any_half_space(p: sw.AnyHalfSpace, answer: tuple[int, int]) -> list[Cell]:
    m, side = answer
    return [_plane(-side * p.normals[m], -side * p.offsets[m])]


def _all_half_spaces(p: sw.AllHalfSpaces, answer: str) -> list[Cell]:
    if answer == "yes":
        return [_plane(-n, -o) for n, o in zip(p.normals, p.offsets, strict=True)]
    return [Cell(p.normals, p.offsets)]


def _sphere(p: sw.Sphere, answer: str) -> list[Cell]:
    none = np.zeros((0, p.arms))
    return [Cell(none, np.zeros(0), center=p.center, radius=p.radius, outside=answer == "inside")]


def _linear(p: sw.Linear, answer: int) -> list[Cell]:
    """Pairs, within the space of the features: what is orthogonal to it is 0, by two inequalities."""
    eye, size = np.eye(p.arms), p.features.shape[1]
    across = np.linalg.qr(p.features, mode="complete")[0][:, size:].T
    rest = np.vstack([across, -across])
    return [
        Cell(np.vstack([eye[j] - eye[answer], rest]), np.zeros(1 + len(rest)))
        for j in range(p.arms)
        if j != answer
    ]


def _product(p: sw.Product, answer: tuple[Any, ...]) -> list[Cell]:
    lifted = []
    arms = sum(group.size for group in p.groups)
    for part, group, each in zip(p.parts, p.groups, answer, strict=True):
        for cell in cells(part, each):
            normals = np.zeros((len(cell.normals), arms))
            normals[:, group] = cell.normals
            lifted.append(Cell(normals, cell.offsets))
    return lifted


def _cells(p: sw.Cells, answer: Any) -> list[Cell]:
    place = p.labels.index(answer)
    return [
        Cell(
            p.normals[c],
            p.offsets[c],
            p.lower[c],
            p.upper[c],
            p.centers[c] if np.isfinite(p.radii[c]) else None,
            p.radii[c] if np.isfinite(p.radii[c]) else 0.0,
            bool(p.kinds[c] == 4),
        )
        for c in range(p.first[place], p.first[place + 1])
    ]


RULES: dict[type, Any] = {
    sw.BestArm: _best_arm,
    Lowest: _lowest,
    sw.TopArms: _top_arms,
    sw.BetterThan: _better,
    sw.AnyBetterThan: _any_better,
    sw.Thresholding: _thresholding,
    sw.MinimumThreshold: _minimum,
    sw.AnyLowArm: _any_low,
    sw.AnySign: _any_sign,
    sw.AnyHalfSpace: _any_half_space,
    sw.AllHalfSpaces: _all_half_spaces,
    sw.Sphere: _sphere,
    sw.Linear: _linear,
    sw.Product: _product,
    sw.Cells: _cells,
}
