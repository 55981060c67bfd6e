"""Cells on one side of a plane: normal . lambda >= offset. Convex families (or a single arm)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.cells.bound import Bound, total_divergence
from stopwise.cells.cell import Cell, CellEvidence
from stopwise.core.arrays import Floats, assign, divide, fill, inner, solve_linear
from stopwise.core.data import Curve, Data
from stopwise.core.functions import jitable
from stopwise.families.family import Family


@jitable
def only_arm(normal: Floats) -> int:
    """The arm that alone appears in the normal, or -1."""
    found = -1
    for k in range(normal.size):
        if normal[k] != 0.0:
            if found >= 0:
                return -1
            found = k
    return found


@jitable
def missing(normal: Floats, offset: float, model: Floats) -> float:
    """How much normal . model lacks to reach the offset."""
    total = offset
    for k in range(normal.size):
        total -= normal[k] * model[k]
    return total


@jitable
def _move_free_arms(
    family: Family, data: Data, normal: Floats, need: float, closest: Floats
) -> float:
    """Arms without weight move first, as far as the family allows; returns what is still missing."""
    low, high = family.interval()
    for k in range(normal.size):
        if data.counts[k] == 0.0 and normal[k] != 0.0 and need > 0.0:
            end = high if normal[k] > 0.0 else low
            room = normal[k] * (end - closest[k])
            closest[k] = closest[k] + need / normal[k] if need < room else end
            need -= room
    return need


@jitable
def _tilt_to_plane(
    family: Family, data: Data, normal: Floats, need: float, closest: Floats
) -> None:
    """Solve for the multiplier theta: w_k d'(mu_k, lambda_k) = theta a_k, lambda on the plane."""
    weights, means = data
    spread, reach = 0.0, 0.0
    for k in range(means.size):
        if normal[k] != 0.0 and weights[k] > 0.0:
            spread += normal[k] * normal[k] * family.of_arm(k).variance_at(means[k]) / weights[k]
            reach = max(reach, weights[k] / abs(normal[k]))
    theta = need / spread if spread > 0.0 else reach
    left, right, lack = 0.0, math.inf, need
    for _ in range(200):
        lack, slope = need, 0.0
        for k in range(means.size):
            if normal[k] != 0.0 and weights[k] > 0.0:
                own = family.of_arm(k)
                closest[k] = own.tilt(means[k], theta * normal[k] / weights[k])
                lack -= normal[k] * (closest[k] - means[k])
                bend = weights[k] * own.divergence_curvature(means[k], closest[k])
                slope += normal[k] * normal[k] / bend if bend > 0.0 else 0.0
        if lack == 0.0:
            return
        if lack > 0.0:
            left = theta
        else:
            right = theta
        new = theta + lack / slope if slope > 0.0 and math.isfinite(lack) else right
        if not left < new < right:
            new = 0.5 * (left + right) if right < math.inf else 2.0 * theta
        if abs(new - theta) <= 1e-16 * theta or new == left or new == right:
            break
        theta = new
    if abs(lack) > 1e-12 * need:
        _jump(family, data, normal, need, left, closest)


@jitable
def _jump(
    family: Family, data: Data, normal: Floats, need: float, theta: float, closest: Floats
) -> None:
    """Where d is linear (a Poisson mean of 0) an arm jumps at the critical theta: it takes the rest."""
    weights, means = data
    lack, best, jumper = need, math.inf, -1
    for k in range(means.size):
        if normal[k] != 0.0 and weights[k] > 0.0:
            own = family.of_arm(k)
            closest[k] = own.tilt(means[k], theta * normal[k] / weights[k])
            lack -= normal[k] * (closest[k] - means[k])
            if own.variance_at(means[k]) <= 0.0 and weights[k] / abs(normal[k]) < best:
                best, jumper = weights[k] / abs(normal[k]), k
    if jumper >= 0:
        closest[jumper] += lack / normal[jumper]


@jitable
def half_space_optimum(
    family: Family, means: Floats, normal: Floats, offset: float, weights: Floats
) -> float:
    """max over w of the cost, and the maximiser in ``weights``.

    The cell is convex and so is d in lambda, so max and min trade places (Lemma 2 with one model):
    the value is the least c at which the models with d(mu_k, lambda_k) <= c reach the plane. There
    every d is c, and w_k d'(mu_k, lambda_k) is proportional to a_k. For Gaussian arms this is the
    appendix's ((offset - a.mu)/||a||_1)^2/2 with w = |a|/||a||_1.
    """
    need = missing(normal, offset, means)
    if need <= 0.0:
        fill(weights, 1.0 / means.size)
        return 0.0
    fill(weights, 0.0)
    arm = only_arm(normal)
    if arm >= 0:
        weights[arm] = 1.0
        return family.of_arm(arm).divergence(means[arm], offset / normal[arm])
    reach = 0.0
    for k in range(means.size):
        reach += abs(normal[k]) * math.sqrt(2.0 * family.of_arm(k).variance_at(means[k]))
    root = need / reach if reach > 0.0 else 1.0  # the square root of the value
    left, right = 0.0, math.inf
    for _ in range(200):
        lack, total = need, 0.0
        for k in range(means.size):
            if normal[k] == 0.0:
                continue
            own = family.of_arm(k)
            if normal[k] > 0.0:
                lam = own.upper(means[k], root * root)
            else:
                lam = own.lower(means[k], root * root)
            lack -= normal[k] * (lam - means[k])
            steep = own.divergence_slope(means[k], lam)
            weights[k] = normal[k] / steep if steep != 0.0 else 0.0
            total += weights[k]
        if lack > 0.0:
            left = root
        else:
            right = root
        new = root + lack / (2.0 * root * total) if total > 0.0 and math.isfinite(lack) else right
        if not left < new < right:
            new = 0.5 * (left + right) if right < math.inf else 2.0 * root
        if lack == 0.0 or abs(new - root) <= 1e-15 * root or new == left or new == right:
            break
        root = new
    if not total > 0.0:  # the means are on the plane, but for rounding
        fill(weights, 1.0 / means.size)
        return 0.0
    divide(weights, total)
    return root * root


class Face(NamedTuple):
    """The constraints that are active at a closest model."""

    free: Floats  # 1.0 for arms that no bound holds
    normals: Floats  # a row for the gradient of each constraint
    bend: float  # what a ball's multiplier adds to the second derivative


@jitable
def add_curved_hessian(
    family: Family, data: Data, closest: Floats, face: Face, curve: Curve
) -> None:
    """-scale * S P S: S the slopes of d, P the inverse of the bend along the active faces."""
    free, faces, bend = face
    scale, hessian = curve
    count = closest.size
    soft = np.zeros(count)  # the inverse of the Lagrangian's diagonal second derivative
    steep = np.zeros(count)
    for k in range(count):
        if free[k] > 0.0:
            own, mu = family.of_arm(k), data.means[k]
            stiff = data.counts[k] * own.divergence_curvature(mu, closest[k]) + bend
            soft[k] = 1.0 / stiff if stiff > 0.0 else 0.0
            steep[k] = own.divergence_slope(mu, closest[k])
    held, share = face_products(faces, soft), np.zeros(faces.shape[0])
    system = np.zeros((share.size, share.size))
    for k in range(count):
        hessian[k, k] -= scale * steep[k] * steep[k] * soft[k]
        for m in range(share.size):
            share[m] = faces[m, k] * soft[k] * steep[k]
            assign(system[m], held[m])
        if solve_linear(system, share):
            for m in range(share.size):
                for j in range(count):
                    hessian[k, j] += scale * share[m] * faces[m, j] * soft[j] * steep[j]


@jitable
def face_products(faces: Floats, soft: Floats) -> Floats:
    """faces @ diag(soft) @ faces.T, with a sliver more on its diagonal."""
    held = np.zeros((faces.shape[0], faces.shape[0]))
    trace = 0.0
    for m in range(faces.shape[0]):
        for j in range(m + 1):
            held[m, j] = held[j, m] = inner(faces[m] * soft, faces[j])
        trace += held[m, m]
    for m in range(faces.shape[0]):
        held[m, m] += 1e-14 * (1e-300 + trace)
    return held


class HalfSpace(Cell):
    """side * normal . lambda >= side * offset, with side +1 or -1."""

    normal: Floats
    offset: float
    side: float

    def project(self, family: Family, data: Data, closest: Floats) -> float:
        normal, offset = self.side * self.normal, self.side * self.offset
        assign(closest, data.means)
        need = missing(normal, offset, data.means)
        if need <= 0.0:
            return 0.0
        arm = only_arm(normal)
        if arm >= 0:
            closest[arm] = offset / normal[arm]
            return total_divergence(family, data, closest)
        need = _move_free_arms(family, data, normal, need, closest)
        if need <= 0.0:
            return 0.0
        _tilt_to_plane(family, data, normal, need, closest)
        return total_divergence(family, data, closest)

    def add_hessian(self, family: Family, data: Data, closest: Floats, curve: Curve) -> None:
        """Zero for one arm (the cost is linear in its weight); else one active face."""
        normal = self.normal
        if only_arm(normal) >= 0:
            return
        free, faces = np.zeros(normal.size), np.zeros((1, normal.size))
        for k in range(normal.size):
            free[k] = 1.0 if normal[k] != 0.0 else 0.0
        assign(faces[0], normal)
        add_curved_hessian(family, data, closest, Face(free, faces, 0.0), curve)

    def constrains(self, arm: int) -> bool:
        alone = only_arm(self.normal)
        return alone < 0 or alone == arm

    def evidence(self, family: Family, data: Data, rule: CellEvidence, enough: float) -> float:
        if only_arm(self.normal) >= 0:
            return rule.bound_evidence(family, data, self.bound(), enough)
        return rule.other_evidence(family, data, self, enough)

    def bound(self) -> Bound:
        """The same set, where there is one arm in it."""
        arm = only_arm(self.normal)
        sign = self.side if self.normal[arm] > 0.0 else -self.side
        return Bound(arm, sign, self.offset / self.normal[arm])

    def simplest(self) -> Cell:
        return self.bound() if only_arm(self.normal) >= 0 else self
