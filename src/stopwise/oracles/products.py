"""Products in a round: each part answers for itself, and 1/D adds up.

The sketch is a chain with a link for each part: its sketch and room for its own arms. The verbs
below go from link to link, so that products of any parts, also of products, compile.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.arrays import assign
from stopwise.checks import Floats
from stopwise.oracles.rounds import (
    absorb,
    answer_places,
    answer_weights,
    best_evidence,
    first_oracle,
    first_reachable,
    rebuild,
    sketch,
)
from stopwise.problems import Product
from stopwise.problems.base import Code, code_size, cost
from stopwise.shapes.bound import total_divergence
from stopwise.verbs import verb

HARDEST = 1e-300  # a part with D = 0 takes all the weight


class End(NamedTuple):
    """After the last link."""


class Link(NamedTuple):
    """One part of a product, with its arms' data."""

    part: Any
    group: Code
    sketch: Any
    counts: Floats
    means: Floats
    weights: Floats
    model: Floats
    point: Floats
    code: Code
    order: Code
    tail: Any


@sketch.register(Product)
def _chain(problem: Product, family: Any) -> Any:
    chain: Any = End()
    for part, group in reversed(list(zip(problem.parts, problem.groups, strict=True))):
        a, b, c, d, e = (np.zeros(group.size) for _ in range(5))
        code, order = np.zeros(code_size(part), dtype=np.int64), answer_places(part)
        chain = Link(part, group, sketch(part, family), a, b, c, d, e, code, order, chain)
    return chain


@rebuild.register(Product)
def _rebuild(problem: Product, family: Any, sketch: Any, counts: Floats, means: Floats) -> None:
    rebuild_links(sketch, family, counts, means)


@verb
def rebuild_links(link: Any, family: Any, counts: Floats, means: Floats) -> None:
    """Each part's data and sketch; nothing at the end."""


@rebuild_links.register(Link)
def _rebuild_link(link: Link, family: Any, counts: Floats, means: Floats) -> None:
    for k in range(link.group.size):
        link.counts[k] = counts[link.group[k]]
        link.means[k] = means[link.group[k]]
    rebuild(link.part, family, link.sketch, link.counts, link.means)
    rebuild_links(link.tail, family, counts, means)


@absorb.register(Product)
def _absorb(
    problem: Product,
    family: Any,
    sketch: Any,
    counts: Floats,
    means: Floats,
    arm: int,
    before: float,
) -> None:
    absorb_links(sketch, family, counts, means, arm, before)


@verb
def absorb_links(
    link: Any, family: Any, counts: Floats, means: Floats, arm: int, before: float
) -> None:
    """One more sample for the part that has the arm."""


@absorb_links.register(Link)
def _absorb_link(
    link: Link, family: Any, counts: Floats, means: Floats, arm: int, before: float
) -> None:
    for k in range(link.group.size):
        if link.group[k] == arm:
            link.counts[k], link.means[k] = counts[arm], means[arm]
            absorb(link.part, family, link.sketch, link.counts, link.means, k, before)
    absorb_links(link.tail, family, counts, means, arm, before)


@first_oracle.register(Product)
def _first_oracle(
    problem: Product, family: Any, sketch: Any, means: Floats, code: Code, weights: Floats
) -> None:
    share_links(sketch, 1.0 / solve_links(sketch, family, 0, code, True), weights)


@answer_weights.register(Product)
def _answer_weights(
    problem: Product, family: Any, sketch: Any, means: Floats, code: Code, weights: Floats
) -> None:
    share_links(sketch, 1.0 / solve_links(sketch, family, 0, code, False), weights)


@verb
def solve_links(link: Any, family: Any, start: int, code: Code, free: bool) -> float:
    """The sum of 1/D from this link on; each part's weights times its 1/D are left in the link.

    ``free``: the parts choose their answers, and write them to the code.
    """
    return 0.0


@solve_links.register(Link)
def _solve_link(link: Link, family: Any, start: int, code: Code, free: bool) -> float:
    share = code[start : start + link.code.size]
    if free:
        first_oracle(link.part, family, link.sketch, link.means, link.code, link.weights)
        assign(share, link.code)
    else:
        assign(link.code, share)
        answer_weights(link.part, family, link.sketch, link.means, link.code, link.weights)
    value = cost(link.part, family, link.weights, link.means, link.code, link.model)
    hard = 1.0 / max(value, HARDEST)
    for k in range(link.weights.size):
        link.weights[k] *= hard
    return hard + solve_links(link.tail, family, start + link.code.size, code, free)


@verb
def share_links(link: Any, scale: float, weights: Floats) -> None:
    """Each part's share of the samples, D/D_part, to its arms."""


@share_links.register(Link)
def _share_link(link: Link, scale: float, weights: Floats) -> None:
    for k in range(link.group.size):
        weights[link.group[k]] = scale * link.weights[k]
    share_links(link.tail, scale, weights)


@best_evidence.register(Product)
def _best_evidence(
    problem: Product,
    family: Any,
    sketch: Any,
    counts: Floats,
    means: Floats,
    enough: float,
    code: Code,
) -> float:
    return weigh_links(sketch, family, enough, 0, code)


@verb
def weigh_links(link: Any, family: Any, enough: float, start: int, code: Code) -> float:
    """The least over the parts of the most evidence for an answer of theirs."""
    return math.inf


@weigh_links.register(Link)
def _weigh_link(link: Link, family: Any, enough: float, start: int, code: Code) -> float:
    value = best_evidence(
        link.part, family, link.sketch, link.counts, link.means, enough, link.code
    )
    assign(code[start : start + link.code.size], link.code)
    if value < enough:
        return value
    rest = weigh_links(link.tail, family, enough, start + link.code.size, code)
    return value if not value >= rest else rest


@first_reachable.register(Product)
def _first_reachable(
    problem: Product,
    family: Any,
    sketch: Any,
    counts: Floats,
    means: Floats,
    level: float,
    order: Code,
    held: bool,
    code: Code,
    point: Floats,
    trial: Floats,
) -> float:
    return reach_links(sketch, family, level, 0.0, 0, code, point)


@verb
def reach_links(
    link: Any, family: Any, level: float, spent: float, start: int, code: Code, point: Floats
) -> float:
    """Part by part, the first answer that what is left of the level pays for."""
    return math.inf


@reach_links.register(Link)
def _reach_link(
    link: Link, family: Any, level: float, spent: float, start: int, code: Code, point: Floats
) -> float:
    barrier = spent + first_reachable(
        link.part,
        family,
        link.sketch,
        link.counts,
        link.means,
        level - spent,
        link.order,
        False,
        link.code,
        link.point,
        link.model,
    )
    assign(code[start : start + link.code.size], link.code)
    for k in range(link.group.size):
        point[link.group[k]] = link.point[k]
    price = total_divergence(family, link.counts, link.means, link.point)
    if not math.isfinite(link.point[0]):  # only a bound is known: nothing is certain to be spent
        price = 0.0
    after = start + link.code.size
    return min(barrier, reach_links(link.tail, family, level, spent + price, after, code, point))
