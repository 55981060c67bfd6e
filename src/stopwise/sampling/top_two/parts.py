"""The three parts of a Top-Two strategy: who leads, who challenges, and who of the two is sampled."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.cells.bound import arm_cost, arm_floor
from stopwise.cells.gap import pair_cost, pair_floor
from stopwise.core.arrays import Floats, Rng, argbest, fill
from stopwise.core.data import Data, State
from stopwise.core.errors import MissingMethod
from stopwise.core.functions import inline, jitable
from stopwise.core.values import Value
from stopwise.families.bets import half_normal
from stopwise.families.family import Family
from stopwise.problems.instance import Instance
from stopwise.problems.problem import Problem, Refutation, refutation


class TopTwoPart(Value):
    """A part of a Top-Two strategy."""

    def needs_contest(self) -> bool:
        """Whether a part is for questions in which arms compete for the highest (or lowest) mean."""
        return False


class Leader(TopTwoPart):
    """Who leads."""

    @inline
    def lead(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        """Write the leading answer to the plan."""
        raise MissingMethod("lead", self)

    def steady(self) -> bool:
        """Whether the leader is the same as long as the data are: then it is an answer that is pursued."""
        return True


class Challenger(TopTwoPart):
    """Who challenges the leader."""

    @inline
    def challenge(self, instance: Instance, state: State, rng: Rng) -> None:
        """Write to the duel how the leader is to be refuted: the closest model, and its cell's arms."""
        raise MissingMethod("challenge", self)


class Share(TopTwoPart):
    """Who of the two is sampled."""

    @inline
    def split(self, instance: Instance, state: State, rng: Rng) -> int:
        """The arm to sample, of those that have to move if the leader is to be refuted."""
        raise MissingMethod("split", self)


class Duel(NamedTuple):
    """The state of a Top-Two strategy: what is kept between rounds, and room for one round."""

    problem: Problem  # whose costs are compared: the question, with the slack
    draw: Floats  # a model drawn from the posterior; then the arms' parts of the next sample
    means: Floats  # where the leader is refuted: the estimate, or the draw
    found: Refutation  # how the leader is refuted
    led: Floats  # how often each arm led
    own: Floats  # and how often it was sampled then
    spreads: Floats  # each arm's deviation, its count and mean then, and its logarithm: 4 x arm


def new_duel(problem: Problem) -> Duel:
    """Before the first sample."""
    arms = problem.arms
    draw, means, led, own = np.zeros((4, arms))
    return Duel(problem, draw, means, refutation(arms), led, own, np.zeros((4, arms)))


@jitable(inline=True)
def with_those_in_flight(state: State) -> Data:
    """The data as if every sample in flight had come with its arm's mean."""
    return Data(state.taken, state.strategy_state.means)


@jitable
def draw_model(family: Family, data: Data, draw: Floats, rng: Rng) -> None:
    """Every arm's mean, drawn from its posterior."""
    for k in range(draw.size):
        draw[k] = family.of_arm(k).posterior_draw(data.counts[k], data.means[k], rng)


@jitable
def confidence_bound(family: Family, data: Data, arm: int, side: float, level: float) -> float:
    """Where N d(m, .) reaches the level, on this side of the mean."""
    own, share = family.of_arm(arm), level / data.counts[arm]
    return own.upper(data.means[arm], share) if side > 0.0 else own.lower(data.means[arm], share)


# --------------------------------------------------------------------------------------- who leads


class EmpiricalBest(Leader):
    """EB: the answer that looks best at the estimate (Jourdan et al. 2022); at a tie a draw decides."""

    def lead(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        problem, family, data, cache = instance
        if not problem.leading_answer(family, data, cache, state.plan.pursued):
            lead_by_draw(instance, state, rng)


class ThompsonDraw(Leader):
    """TS: the answer that is correct at a model drawn from the posterior (Russo 2016).

    Where arms do not compete it is refuted at the draw, too: the arms that make it right there.
    """

    def steady(self) -> bool:
        return False

    def lead(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        lead_by_draw(instance, state, rng)


@jitable
def lead_by_draw(instance: Instance, state: State, rng: Rng) -> None:
    """The answer that is correct at a model drawn from the posterior."""
    duel: Duel = state.strategy_state
    problem, family, data, cache = instance
    draw_model(family, data, duel.draw, rng)
    drawn = Data(data.counts, duel.draw)
    problem.answer_at(family, drawn, cache, state.plan.pursued)
    if problem.best_arm_sign() == 0.0:  # it may be right for other arms than at the estimate
        problem.fitted(family, drawn, duel.means)


class UpperBound(Leader):
    """UCB: the arm with the highest upper confidence bound (Jourdan & Degenne 2023).

    N d(m, bound) = g(t)/2 with g(t) = W(2 a c log t + 2 log(2 + c log t) + 2), W(y) - log W(y) = y: for
    unit-variance Gaussian arms the bound is m + sqrt(g/N). Both a and c are above 1.
    """

    power: float = 1.2
    spare: float = 1.2

    def needs_contest(self) -> bool:
        return True

    def lead(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        family, data = instance.family, with_those_in_flight(state)
        side, level = instance.problem.best_arm_sign(), 0.5 * bonus(self, rounds)
        best = state.plan.pursued[0]  # the last leader: most often it still is
        bound = confidence_bound(family, data, best, side, level)
        for k in range(data.means.size):
            # an arm's own bound is solved for only where it is beyond the best one so far
            beyond = side * (data.means[k] - bound) > 0.0
            if k == best or (not beyond and arm_floor(family, data, k, bound) > level):
                continue
            if beyond or arm_cost(family, data, k, bound) < level:
                found = confidence_bound(family, data, k, side, level)
                if side * (found - bound) > 0.0:
                    best, bound = k, found
        state.plan.pursued[0] = best


@jitable
def bonus(leader: UpperBound, rounds: int) -> float:
    """g(t), by Newton's method on x - log x = y from the right of its larger root."""
    grown = leader.spare * math.log(rounds)
    y = 2.0 * leader.power * grown + 2.0 * math.log(2.0 + grown) + 2.0
    x = y + 2.0 * math.log(y)
    for _ in range(4):
        x -= (x - math.log(x) - y) * x / (x - 1.0)
    return x


# ---------------------------------------------------------------------------------- who challenges


class TransportCost(Challenger):
    """TC: the cheapest refutation (Shang et al. 2020); TCI: with log N added (Jourdan et al. 2022)."""

    penalty: float

    def challenge(self, instance: Instance, state: State, rng: Rng) -> None:
        duel: Duel = state.strategy_state
        (problem, family, _, cache), data = instance, with_those_in_flight(state)
        problem.refute(family, data, cache, state.plan.pursued, self.penalty, duel.found)


HOPELESS = 40.0  # W: another arm wins a draw with a chance of about e^-W


class Resampling(Challenger):
    """RS: the first other arm that wins a new draw (Russo 2016); after ``most`` draws in vain as TC.

    As TC at once where the cheapest challenger is too dear for draws to find one.
    """

    most: int = 100

    def needs_contest(self) -> bool:
        return True

    def challenge(self, instance: Instance, state: State, rng: Rng) -> None:
        duel: Duel = state.strategy_state
        (problem, family, _, cache), code = instance, state.plan.pursued
        data = with_those_in_flight(state)
        draws = 0 if _hopeless(family, data, code[0], problem.best_arm_sign()) else self.most
        for _ in range(draws):
            draw_model(family, state.data, duel.draw, rng)
            other = argbest(duel.draw, problem.best_arm_sign())
            if other != code[0]:
                face(instance, state, other)
                return
        problem.refute(family, data, cache, code, 0.0, duel.found)


@jitable
def _hopeless(family: Family, data: Data, arm: int, side: float) -> bool:
    """Whether every other arm is so dear that no draw will have it win."""
    for k in range(data.means.size):
        if k != arm:
            loser, winner = (arm, k) if side > 0.0 else (k, arm)
            if pair_floor(family, data, loser, winner) > HOPELESS:
                continue
            if not pair_cost(family, data, loser, winner, 0.0) > HOPELESS:
                return False
    return True


@jitable
def face(instance: Instance, state: State, other: int) -> None:
    """Let this arm overtake the leader."""
    code, found, data = state.plan.pursued, state.strategy_state.found, with_those_in_flight(state)
    cell = other if other < code[0] else other - 1
    instance.problem.project(instance.family, data, code, cell, found.model)
    fill(found.arms, 0.0)
    found.arms[code[0]] = found.arms[other] = 1.0


@jitable
def last_rival(arm: int, marks: Floats) -> int:
    """Who was compared with the leader before: who is expected to improve less is not looked at."""
    for k in range(marks.size):
        if k != arm and marks[k] > 0.0:
            return k
    return 1 if arm == 0 else 0


# ------------------------------------------- expected improvement, as a leader and as a challenger


class ExpectedImprovement(Leader, Challenger):
    """EI, as leader and as challenger (Qin, Klabjan & Russo 2017).

    v f(z), f(z) = z Phi(z) + phi(z), is what an arm is expected to improve on the best mean (leader) or
    on the leader's (challenger). v is the deviation, N d(m, m + v) = 1/2, and z the distance in units of
    it: -sqrt(2 N d(m, best)) for the leader, -sqrt(2 W) for the pair. For Gaussian arms that is the
    paper's rule; for others the tails are the family's own: an unlucky start is not the end.
    """

    def lead(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        duel: Duel = state.strategy_state
        family, side = instance.family, instance.problem.best_arm_sign()
        data, spreads = with_those_in_flight(state), duel.spreads
        update_spreads(family, data, side, spreads)
        arm = argbest(data.means, side)
        best, most = data.means[arm], spreads[LOG, arm] - FLAT
        for k in range(data.means.size):
            if spreads[LOG, k] - FLAT - arm_floor(family, data, k, best) <= most:
                continue  # f(z) <= phi(z) where z is not above 0
            value = log_improvement(arm_cost(family, data, k, best), spreads[0, k], most)
            if value > most:
                arm, most = k, value
        state.plan.pursued[0] = arm

    def challenge(self, instance: Instance, state: State, rng: Rng) -> None:
        duel: Duel = state.strategy_state
        family, side = instance.family, instance.problem.best_arm_sign()
        arm, spreads, data = state.plan.pursued[0], duel.spreads, with_those_in_flight(state)
        update_spreads(family, data, side, spreads)
        last = last_rival(arm, duel.found.arms)
        least = _pair_improvement(instance, state, last, -math.inf)
        best, other = -math.inf, 1 if arm == 0 else 0
        for k in range(data.means.size):
            if k == arm:
                continue
            value = least
            if k != last:
                loser, winner = (arm, k) if side > 0.0 else (k, arm)
                floor = pair_floor(family, data, loser, winner)
                spread = (spreads[0, arm] ** 2 + spreads[0, k] ** 2) / (1.0 + 2.0 * floor) ** 2
                if floor > 0.0 and spread > 0.0 and 0.5 * math.log(spread) - FLAT - floor < least:
                    continue  # f(z) <= phi(z)/(1 + z^2)
                value = _pair_improvement(instance, state, k, best)
            if value > best:
                best, other = value, k
        face(instance, state, other)

    def needs_contest(self) -> bool:
        return True


@jitable
def update_spreads(family: Family, data: Data, side: float, spreads: Floats) -> None:
    """Each arm's deviation towards the better side, computed anew where its data have changed."""
    for k in range(data.means.size):
        if spreads[1, k] != data.counts[k] or spreads[2, k] != data.means[k]:
            end = confidence_bound(family, data, k, side, 0.5)
            spreads[0, k] = min(side * (end - data.means[k]), 1e150)
            spreads[1, k], spreads[2, k] = data.counts[k], data.means[k]
            spreads[LOG, k] = math.log(spreads[0, k]) if spreads[0, k] > 0.0 else -math.inf


FLAT = 0.5 * math.log(2.0 * math.pi)  # -log f(0)
LOG = 3  # the row of the logarithms


@jitable
def log_improvement(cost: float, spread: float, enough: float) -> float:
    """log of v f(z) for z = -sqrt(2 cost): far below 0 the improvement itself would be 0.

    Below ``enough`` an upper bound will do: f(z) <= phi(z) where z is not above 0.
    """
    most = math.log(spread) - cost - FLAT if spread > 0.0 else -math.inf
    if cost == 0.0 or most <= enough:
        return most
    z = -math.sqrt(2.0 * cost)
    made, slope = half_normal(z)  # z^2/2 + log 2 Phi(z), and z + phi(z)/Phi(z)
    if z < -50.0:  # phi/Phi = |z| + 1/|z| - 2/|z|^3 + ...
        slope = (1.0 - 2.0 / (z * z)) / -z
    return math.log(spread) + made - cost - math.log(2.0) + math.log(slope)


@jitable
def _pair_improvement(instance: Instance, state: State, other: int, enough: float) -> float:
    """log of what another arm is expected to improve on the leader; see ``log_improvement``."""
    arm, spreads = state.plan.pursued[0], state.strategy_state.spreads
    loser, winner = (arm, other) if instance.problem.best_arm_sign() > 0.0 else (other, arm)
    cost = pair_cost(instance.family, with_those_in_flight(state), loser, winner, 0.0)
    return log_improvement(cost, math.sqrt(spreads[0, arm] ** 2 + spreads[0, other] ** 2), enough)


# ---------------------------------------------------------------------------------- who is sampled


class Fixed(Share):
    """The leader with probability beta; with 1/2 every arm that has to move is as likely as another."""

    beta: float

    def needs_contest(self) -> bool:
        return self.beta != 0.5

    def split(self, instance: Instance, state: State, rng: Rng) -> int:
        duel: Duel = state.strategy_state
        alike(duel.found, duel.means, duel.draw)
        if self.beta != 0.5:
            duel.draw[state.plan.pursued[0]] = self.beta / (1.0 - self.beta)
        return drawn(duel.draw, rng)


class Tracked(Share):
    """The leader if it was sampled at most beta of the times that it led (Jourdan & Degenne 2023)."""

    beta: float

    def needs_contest(self) -> bool:
        return True

    def split(self, instance: Instance, state: State, rng: Rng) -> int:
        duel: Duel = state.strategy_state
        arm = state.plan.pursued[0]
        duel.led[arm] += 1.0
        if duel.own[arm] <= self.beta * duel.led[arm]:
            duel.own[arm] += 1.0
            return int(arm)
        for k in range(duel.led.size):
            if k != arm and duel.found.arms[k] > 0.0:
                return k
        return int(arm)


class Information(Share):
    """IDS: arm k in proportion to N_k d(m_k, lambda_k), lambda the closest model (Qin & You 2023)."""

    def split(self, instance: Instance, state: State, rng: Rng) -> int:
        duel: Duel = state.strategy_state
        found, means, parts, whole = duel.found, duel.means, duel.draw, 0.0
        for k in range(parts.size):
            parts[k] = 0.0
            if found.model[k] != means[k]:
                own = instance.family.of_arm(k)
                parts[k] = state.taken[k] * own.divergence(means[k], found.model[k])
                whole += parts[k]
        if not 0.0 < whole < math.inf:
            alike(found, means, parts)
        return drawn(parts, rng)


@jitable
def alike(found: Refutation, means: Floats, parts: Floats) -> None:
    """1 for every arm that moves; if none has to, for those that the cell constrains."""
    moved = False
    for k in range(parts.size):
        moved |= found.model[k] != means[k]
    for k in range(parts.size):
        here = found.model[k] != means[k] if moved else found.arms[k] > 0.0
        parts[k] = 1.0 if here else 0.0


@jitable
def drawn(parts: Floats, rng: Rng) -> int:
    """An arm drawn in proportion to its part."""
    whole, last = 0.0, 0
    for k in range(parts.size):
        whole += parts[k]
    left = whole * rng.random()
    for k in range(parts.size):
        if parts[k] > 0.0:
            last = k
            left -= parts[k]
            if left < 0.0:
                return k
    return last
