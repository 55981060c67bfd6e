"""What a round asks of a product: each part answers for itself, and 1/D adds up.

The sketch is a chain with a link for each part: its sketch and room for its own arms. The verbs
below go from link to link, so that products of any parts, also of products, compile.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.bound import total_divergence
from stopwise.core.arrays import Floats, Ints, assign, fill
from stopwise.core.data import Data
from stopwise.core.verbs import jitable, verb
from stopwise.families.verbs import of_group, regroup
from stopwise.problems import rounds, verbs
from stopwise.problems.product.problem import Product
from stopwise.problems.rounds import Refutation, Search
from stopwise.problems.verbs import Code

HARDEST = 1e-300  # a part with D = 0 takes all the weight


class End(NamedTuple):
    """After the last link."""


class Link(NamedTuple):
    """One part of a product, with its arms' data."""

    part: Any
    family: Any
    group: Ints
    data: Data
    sketch: Any
    weights: Floats
    model: Floats
    search: Search
    found: Refutation
    tail: Any


@rounds.sketch.register(Product)
def _sketch(problem: Product, family: Any) -> Any:
    chain: Any = End()
    for part, group in reversed(list(zip(problem.parts, problem.groups, strict=True))):
        own = of_group(family, group)
        a, b, c, d, e, f = (np.zeros(group.size) for _ in range(6))
        code = np.zeros(verbs.code_size(part), dtype=np.int64)
        forced = rounds.nothing_known(part, own)
        search = Search(rounds.listed_answers(part), code, e, f, -1.0, forced)
        found = rounds.refutation(group.size)
        kept = rounds.sketch(part, own)
        chain = Link(part, own, group, Data(a, b), kept, c, d, search, found, chain)
    return chain


@rounds.rebuild.register(Product)
def _rebuild(problem: Product, family: Any, data: Data, sketch: Any) -> None:
    rebuild_links(sketch, family, data)


@verb
def rebuild_links(link: Any, family: Any, data: Data) -> None:
    """Each part's data and sketch; nothing at the end."""


@rebuild_links.register(Link)
def _rebuild_link(link: Link, family: Any, data: Data) -> None:
    regroup(link.family, family, link.group)
    for k in range(link.group.size):
        link.data.counts[k] = data.counts[link.group[k]]
        link.data.means[k] = data.means[link.group[k]]
    rounds.rebuild(link.part, link.family, link.data, link.sketch)
    rebuild_links(link.tail, family, data)


@rounds.absorb.register(Product)
def _absorb(
    problem: Product, family: Any, data: Data, sketch: Any, arm: int, before: float
) -> None:
    absorb_links(sketch, family, data, arm, before)


@verb
def absorb_links(link: Any, family: Any, data: Data, arm: int, before: float) -> None:
    """One more sample for the part that has the arm."""


@absorb_links.register(Link)
def _absorb_link(link: Link, family: Any, data: Data, arm: int, before: float) -> None:
    for k in range(link.group.size):
        if link.group[k] == arm:
            link.data.counts[k], link.data.means[k] = data.counts[arm], data.means[arm]
            regroup(link.family, family, link.group)
            rounds.absorb(link.part, link.family, link.data, link.sketch, k, before)
    absorb_links(link.tail, family, data, arm, before)


@rounds.first_oracle.register(Product)
def _first_oracle(
    problem: Product, family: Any, data: Data, sketch: Any, code: Code, weights: Floats
) -> None:
    share_links(sketch, 1.0 / solve_links(sketch, 0, code, True), weights)


@rounds.answer_weights.register(Product)
def _answer_weights(
    problem: Product, family: Any, data: Data, sketch: Any, code: Code, weights: Floats
) -> None:
    share_links(sketch, 1.0 / solve_links(sketch, 0, code, False), weights)


@verb
def solve_links(link: Any, start: int, code: Code, free: bool) -> float:
    """The sum of 1/D from this link on; each part's weights times its 1/D are left in the link.

    ``free``: the parts choose their answers, and write them to the code.
    """
    return 0.0


@solve_links.register(Link)
def _solve_link(link: Link, start: int, code: Code, free: bool) -> float:
    part, family, data, own = link.part, link.family, link.data, link.search.code
    share = code[start : start + own.size]
    if free:
        rounds.first_oracle(part, family, data, link.sketch, own, link.weights)
        assign(share, own)
    else:
        assign(own, share)
        rounds.answer_weights(part, family, data, link.sketch, own, link.weights)
    value = verbs.cost(part, family, Data(link.weights, data.means), own, link.model)
    hard = 1.0 / max(value, HARDEST)
    for k in range(link.weights.size):
        link.weights[k] *= hard
    return hard + solve_links(link.tail, start + own.size, code, free)


@verb
def share_links(link: Any, scale: float, weights: Floats) -> None:
    """Each part's share of the samples, D/D_part, to its arms."""


@share_links.register(Link)
def _share_link(link: Link, scale: float, weights: Floats) -> None:
    for k in range(link.group.size):
        weights[link.group[k]] = scale * link.weights[k]
    share_links(link.tail, scale, weights)


@rounds.best_evidence.register(Product)
def _best_evidence(
    problem: Product, family: Any, data: Data, sketch: Any, enough: float, code: Code
) -> float:
    return weigh_links(sketch, enough, 0, code)


@verb
def weigh_links(link: Any, enough: float, start: int, code: Code) -> float:
    """The least over the parts of the most evidence for an answer of theirs."""
    return math.inf


@weigh_links.register(Link)
def _weigh_link(link: Link, enough: float, start: int, code: Code) -> float:
    own = link.search.code
    value = rounds.best_evidence(link.part, link.family, link.data, link.sketch, enough, own)
    assign(code[start : start + own.size], own)
    if value < enough:
        return value
    rest = weigh_links(link.tail, enough, start + own.size, code)
    return value if not value >= rest else rest


@rounds.front_runner.register(Product)
def _front_runner(problem: Product, family: Any, data: Data, sketch: Any, code: Code) -> bool:
    return lead_links(sketch, 0, code)


@verb
def lead_links(link: Any, start: int, code: Code) -> bool:
    """Each part's own front runner, and whether all have evidence."""
    return True


@lead_links.register(Link)
def _lead_link(link: Link, start: int, code: Code) -> bool:
    own = link.search.code
    clear = rounds.front_runner(link.part, link.family, link.data, link.sketch, own)
    assign(code[start : start + own.size], own)
    rest = lead_links(link.tail, start + own.size, code)
    return clear and rest


@rounds.answer_at.register(Product)
def _answer_at(problem: Product, family: Any, data: Data, sketch: Any, code: Code) -> None:
    answer_links(sketch, data, 0, code)


@verb
def answer_links(link: Any, data: Data, start: int, code: Code) -> None:
    """Each part's answer at its share of the means."""


@answer_links.register(Link)
def _answer_link(link: Link, data: Data, start: int, code: Code) -> None:
    own, mine = link.search.code, _share_of(link, data)
    rounds.answer_at(link.part, link.family, mine, link.sketch, own)
    assign(code[start : start + own.size], own)
    answer_links(link.tail, data, start + own.size, code)


@jitable
def _share_of(link: Link, data: Data) -> Data:
    """The data of a part's arms, in the link's scratch space."""
    for k in range(link.group.size):
        link.weights[k] = data.counts[link.group[k]]
        link.model[k] = data.means[link.group[k]]
    return Data(link.weights, link.model)


@rounds.refute.register(Product)
def _refute(
    problem: Product,
    family: Any,
    data: Data,
    sketch: Any,
    code: Code,
    penalty: float,
    found: Refutation,
) -> float:
    """The part that is the cheapest to refute; the penalty chooses within the parts."""
    return refute_links(sketch, data, 0, code, penalty, math.inf, found)


@verb
def refute_links(
    link: Any,
    data: Data,
    start: int,
    code: Code,
    penalty: float,
    least: float,
    found: Refutation,
) -> float:
    """The least cost so far, and its model."""
    return least


@refute_links.register(Link)
def _refute_link(
    link: Link,
    data: Data,
    start: int,
    code: Code,
    penalty: float,
    least: float,
    found: Refutation,
) -> float:
    own, mine = link.search.code, _share_of(link, data)
    assign(own, code[start : start + own.size])
    value = rounds.refute(link.part, link.family, mine, link.sketch, own, penalty, link.found)
    if value < least:
        least = value
        assign(found.model, data.means)
        fill(found.arms, 0.0)
        for k in range(link.group.size):
            found.model[link.group[k]] = link.found.model[k]
            found.arms[link.group[k]] = link.found.arms[k]
    return refute_links(link.tail, data, start + own.size, code, penalty, least, found)


@rounds.weakest_cell.register(Product)
def _weakest_cell(
    problem: Product, family: Any, data: Data, sketch: Any, code: Code, judge: Any, enough: float
) -> float:
    return judge_links(sketch, judge, enough, 0, code)


@verb
def judge_links(link: Any, judge: Any, enough: float, start: int, code: Code) -> float:
    """The least over the parts of what is judged of their answers' alternatives."""
    return math.inf


@judge_links.register(Link)
def _judge_link(link: Link, judge: Any, enough: float, start: int, code: Code) -> float:
    own = link.search.code
    assign(own, code[start : start + own.size])
    value = rounds.weakest_cell(link.part, link.family, link.data, link.sketch, own, judge, enough)
    if value < enough:
        return value
    rest = judge_links(link.tail, judge, enough, start + own.size, code)
    return value if not value >= rest else rest


@rounds.first_reachable.register(Product)
def _first_reachable(
    problem: Product,
    family: Any,
    data: Data,
    sketch: Any,
    level: float,
    held: bool,
    search: Search,
) -> float:
    return reach_links(sketch, level, 0.0, 0, search)


@verb
def reach_links(link: Any, level: float, spent: float, start: int, search: Search) -> float:
    """Part by part, the first answer that what is left of the level pays for."""
    return math.inf


@reach_links.register(Link)
def _reach_link(link: Link, level: float, spent: float, start: int, search: Search) -> float:
    part, family, data, own = link.part, link.family, link.data, link.search
    assign(own.code, search.code[start : start + own.code.size])  # a close answer may be kept
    forced = search.forced or own.forced
    own = Search(own.order, own.code, own.point, own.trial, search.slack, forced)
    barrier = spent + rounds.first_reachable(
        part, family, data, link.sketch, level - spent, False, own
    )
    assign(search.code[start : start + own.code.size], own.code)
    for k in range(link.group.size):
        search.point[link.group[k]] = own.point[k]
    price = total_divergence(family, data, own.point)
    if not math.isfinite(own.point[0]):  # only a bound is known: nothing is certain to be spent
        price = 0.0
    after = start + own.code.size
    return min(barrier, reach_links(link.tail, level, spent + price, after, search))
