"""The game behind every question: weights against models. Strategies that play it.

D(mu, not i) = max over weights w of min over models lambda of sum_k w_k d(mu_k, lambda_k). A learner
proposes weights, the other side answers with the closest model, and each arm's gain is what it tells
the two apart (Degenne, Koolen & Menard 2019). The arms follow the sum of the weights.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import (
    Floats,
    Ints,
    Rng,
    argmax,
    argmin,
    assign,
    divide,
    fill,
    largest,
)
from stopwise.core.data import Data, Plan, State
from stopwise.core.errors import NotDefined
from stopwise.core.functions import jitable
from stopwise.core.values import overrides
from stopwise.families.family import Family
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Problem, Refutation, refutation
from stopwise.sampling.matrix_game import Tableau, new_tableau, play
from stopwise.sampling.strategy import BY_THE_MEANS, CTracking, Strategy, Tracker, add_and_choose

ROOM = 4_000_000  # numbers that learners of AdaHedge may take: with more answers one serves all
PIECES = 64  # that a matrix game of FrankWolfe may have: of more the first


class SumTracking(CTracking):
    """C-tracking as it is: the learner explores, so that no floor is needed."""

    def follow(self, target: Floats, counts: Floats, totals: Floats, rounds: int) -> int:
        return add_and_choose(target, 0.0, 0.0, counts, totals)


class Learner(Strategy, listed=False):
    """Strategies that pursue the leading answer and track the sum of a learner's weights."""

    tracker: Tracker
    because = BY_THE_MEANS

    def __init__(self) -> None:
        self.tracker = SumTracking()


@jitable
def best_response(instance: Instance, plan: Plan, means: Floats, found: Refutation) -> None:
    """The estimated means, and the closest model that refutes the pursued answer, at the weights."""
    problem, family, data, cache = instance
    problem.fitted(family, data, means)
    problem.refute(family, Data(plan.weights, means), cache, plan.pursued, 0.0, found)


@jitable
def gains(family: Family, means: Floats, model: Floats, out: Floats) -> None:
    """d(mu_k, lambda_k) of each arm: the gradient of D in the weights."""
    for k in range(out.size):
        out[k] = 0.0
        if model[k] != means[k]:
            out[k] = family.of_arm(k).divergence(means[k], model[k])


# ------------------------------------------------------------------------------------- AdaHedge


class AdaHedge(Learner):
    """A learner for each answer proposes weights, and gains what the closest model concedes.

    AdaHedge against best response (Degenne, Koolen & Menard 2019, Section 3.1). The gains are
    optimistic: the most that they are at a mean within N d(mu-hat, .) <= log t.
    """

    title = "a learner against the closest model"
    reason = (
        "AdaHedge pursues the answer that the means favour at the moment, and learns which arms tell it "
        "best from its closest alternative."
    )

    def init(self, question: Question) -> Learners:
        arms, answers = question.problem.arms, question.problem.answer_count()
        rows = answers if 0 < answers * arms <= ROOM else 1
        step, means = np.zeros((2, arms))
        return Learners(np.zeros((rows, arms)), np.zeros(rows), step, means, refutation(arms))

    def target(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        learners: Learners = state.strategy_state
        (problem, family, data, cache), weights = instance, state.plan.weights
        problem.leading_answer(family, data, cache, state.plan.pursued)
        who = state.plan.pursued[0] if learners.gaps.size > 1 else 0
        hedge(learners.gains[who], learners.gaps[who], weights)
        best_response(instance, state.plan, learners.means, learners.found)
        fitted = Data(data.counts, learners.means)
        optimistic_gains(family, fitted, math.log(rounds), learners.found.model, learners.step)
        learners.gaps[who] += learn(learners.gains[who], learners.gaps[who], weights, learners.step)


class Learners(NamedTuple):
    """Of each answer, or of all: the arms' gains so far, and the sum of the mixability gaps."""

    gains: Floats
    gaps: Floats
    step: Floats  # the last gains
    means: Floats
    found: Refutation


@jitable
def hedge(gains: Floats, gap: float, weights: Floats) -> None:
    """w_k in proportion to exp(eta G_k), eta = log K/gap: the leaders alone while there is no gap."""
    top, whole = largest(gains), 0.0
    eta = math.log(gains.size) / gap if gap > 0.0 else math.inf
    for k in range(gains.size):
        weights[k] = 1.0 if gains[k] == top else math.exp(eta * (gains[k] - top))
        whole += weights[k]
    divide(weights, whole)


@jitable
def learn(gains: Floats, gap: float, weights: Floats, step: Floats) -> float:
    """Enter one round's gains; returns its mixability gap (de Rooij et al. 2014, equation 5)."""
    before, most, mean = largest(gains), largest(step), 0.0
    for k in range(gains.size):
        mean += weights[k] * step[k]
        gains[k] += step[k]
    if gap == 0.0 or gains.size == 1:
        return max(largest(gains) - before - mean, 0.0)
    eta, mixed = math.log(gains.size) / gap, 0.0
    for k in range(gains.size):
        mixed += weights[k] * math.exp(eta * (step[k] - most))
    return max(most + math.log(mixed) / eta - mean, 0.0)


@jitable
def optimistic_gains(family: Family, data: Data, level: float, model: Floats, out: Floats) -> None:
    """The most of d(xi, lambda_k) over xi with N d(mu-hat, xi) <= level, and level/N at least.

    An arm that the model leaves alone gains level/N, as does one for which the most is infinite.
    """
    counts, means = data
    for k in range(out.size):
        out[k] = share = level / counts[k]
        if model[k] != means[k]:
            out[k] = max(share, _most_gain(family.of_arm(k), means[k], share, model[k]))


@jitable
def _most_gain(family: Family, mean: float, share: float, lam: float) -> float:
    """The larger d(xi, lambda) at the two ends; 0 if both are infinite.

    If lambda is not between them, the end that is further away has more: d grows with the distance.
    """
    far = _gain(family, mean, share, lam < mean, lam)
    if far > 0.0 and family.divergence(mean, lam) >= share:
        return far
    return max(far, _gain(family, mean, share, lam >= mean, lam))


@jitable
def _gain(family: Family, mean: float, share: float, up: bool, lam: float) -> float:
    """d(xi, lambda) at the upper or lower end; 0 if that is infinite."""
    end = family.upper(mean, share) if up else family.lower(mean, share)
    found = family.divergence(end, lam) if math.isfinite(end) else math.inf
    return found if found < math.inf else 0.0


# ------------------------------------------------------------------------------------- mirror ascent


class LazyMirrorAscent(Learner):
    """Exponential weights that climb D(w, mu-hat) by its gradient, mixed with uniform ones (Menard 2019).

    After t steps the rate is sqrt(log K/t)/S and 1/(4 sqrt t) of the weight is uniform. S, the scale of
    the gradient, is the mean of D at the weights so far, where published comparisons take the true D.
    """

    title = "a gradient step towards the oracle weights in each round"
    reason = (
        "Mirror ascent pursues the answer that the means favour at the moment, and moves the shares of "
        "the arms in each round to where its evidence grows faster."
    )

    def init(self, question: Question) -> Slope:
        arms = question.problem.arms
        step, means = np.zeros((2, arms))
        return Slope(np.full(arms, 1.0 / arms), step, means, np.zeros(2), refutation(arms))

    def target(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        slope: Slope = state.strategy_state
        problem, family, data, cache = instance
        problem.leading_answer(family, data, cache, state.plan.pursued)
        assign(state.plan.weights, slope.weights)
        best_response(instance, state.plan, slope.means, slope.found)
        gains(family, slope.means, slope.found.model, slope.step)
        climb(slope)


class Slope(NamedTuple):
    """The weights of the next round, its gradient, and how far the ascent has come."""

    weights: Floats
    step: Floats
    means: Floats
    past: Floats  # steps, and the sum of D at their weights
    found: Refutation


@jitable
def climb(slope: Slope) -> None:
    """One step; none where the gradient is 0 or not finite."""
    weights, step, _, past, _ = slope
    arms, most, value = weights.size, largest(step), 0.0
    for k in range(arms):
        value += weights[k] * step[k]
    past[0] += 1.0
    if not 0.0 < value < math.inf or most == math.inf:
        return
    past[1] += value
    rate = math.sqrt(math.log(arms) / past[0]) * past[0] / past[1]
    whole = 0.0
    for k in range(arms):
        weights[k] *= math.exp(rate * (step[k] - most))
        whole += weights[k]
    mixed = 0.25 / math.sqrt(past[0])
    for k in range(arms):
        weights[k] = (1.0 - mixed) * weights[k] / whole + mixed / arms


# ---------------------------------------------------------------------------------- Frank-Wolfe


class FrankWolfe(Learner):
    """A step in each round towards the weights that gain the most on all pieces that are about least.

    FWS (Wang, Tzeng & Proutiere 2021). D(x, not i) is the least of smooth pieces, one for each cell. A
    Frank-Wolfe step goes towards the weights z that gain the most on the worst piece among those within r
    of the least, a matrix game. Each arm is sampled that lags behind the average x of the z the most.
    """

    title = "Frank-Wolfe steps towards the oracle weights"
    reason = (
        "Frank-Wolfe sampling pursues the answer that the means favour at the moment, and samples the "
        "arms that raise the evidence against all of its closest alternatives."
    )

    def __init__(self) -> None:
        self.tracker = RatioTracking()

    def init(self, question: Question) -> Pieces:
        if overrides(question.problem, "weakest_cell"):
            raise NotDefined(
                f"strategy: FrankWolfe needs the cells of an answer one by one, which {question.problem!r} "
                "does not list; allowed: questions in one part, or another strategy, such as AdaHedge()."
            )
        arms, cells = question.problem.arms, most_cells(question.problem)
        rows = min(cells, PIECES)
        average, costs, slopes = np.full(arms, 1.0 / arms), np.zeros(cells), np.zeros((rows, arms))
        goal, means, model, closest = np.zeros((4, arms))
        tableau = new_tableau(rows, arms)
        return Pieces(average, goal, means, costs, slopes, model, closest, tableau)

    def target(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        pieces: Pieces = state.strategy_state
        (problem, family, data, cache), arms = instance, state.data.means.size
        problem.leading_answer(family, data, cache, state.plan.pursued)
        found = 0
        if not is_square(rounds // arms):
            radius = rounds**-0.9 / arms
            problem.fitted(family, data, pieces.means)
            found = nearly_least(problem, family, state.plan.pursued, radius, pieces)
        if found == 0:
            fill(pieces.goal, 1.0 / arms)
        elif found == 1:
            fill(pieces.goal, 0.0)
            pieces.goal[argmax(pieces.slopes[0])] = 1.0
        else:
            play(pieces.slopes, found, pieces.tableau, pieces.goal)
        for k in range(arms):
            pieces.average[k] += (pieces.goal[k] - pieces.average[k]) / rounds
        assign(state.plan.weights, pieces.average)


class RatioTracking(Tracker):
    """The arm whose share of the samples is the smallest part of its weight."""

    def follow(self, target: Floats, counts: Floats, totals: Floats, rounds: int) -> int:
        arm = 0
        for k in range(1, counts.size):
            if target[k] * counts[arm] > target[arm] * counts[k]:
                arm = k
        return arm


class Pieces(NamedTuple):
    """The average x, the costs of all cells, and the gradients of those that are nearly least."""

    average: Floats
    goal: Floats  # z
    means: Floats
    costs: Floats
    slopes: Floats  # piece x arm
    model: Floats
    closest: Floats  # of the cell that was the cheapest before
    tableau: Tableau


def most_cells(problem: Problem) -> int:
    """The most cells that any answer's alternative has."""
    codes = [np.array([place]) for place in range(problem.answer_count())]
    if not codes:
        codes = [np.zeros(problem.code_size(), dtype=np.int64)]
    return int(max(problem.cell_count(code) for code in codes))


@jitable
def is_square(number: int) -> bool:
    """Whether it is the square of a whole number."""
    root = int(math.sqrt(number) + 0.5)
    return root * root == number


@jitable
def nearly_least(
    problem: Problem, family: Family, code: Ints, radius: float, pieces: Pieces
) -> int:
    """How many cells are within the radius of the cheapest; none if that costs nothing.

    Their slopes at x, less their cost: what a step towards each arm gains (A of the matrix game).
    """
    means = pieces.means
    data, cells = Data(pieces.average, means), problem.cell_count(code)
    first = argmin(pieces.costs[:cells])  # the cheapest before
    least = problem.project(family, data, code, first, pieces.closest)
    pieces.costs[first], most = least, least + radius
    for cell in range(cells):
        if cell != first:
            pieces.costs[cell] = math.inf
            if not problem.cell(code, cell).cost_floor(family, data) > most:
                pieces.costs[cell] = problem.project(family, data, code, cell, pieces.model)
                least = min(least, pieces.costs[cell])
    if not 0.0 < least < math.inf:
        return 0
    found = 0
    for cell in range(cells):
        if pieces.costs[cell] < least + radius and found < pieces.slopes.shape[0]:
            model = pieces.closest
            if cell != first:
                model = pieces.model
                problem.project(family, data, code, cell, model)
            gains(family, means, model, pieces.slopes[found])
            for k in range(means.size):
                pieces.slopes[found, k] -= pieces.costs[cell]
            found += 1
    return found
