"""HDoC (Kano, Honda, Sakamaki, Matsuura, Nakamura & Sugiyama 2019, Algorithm 1): any good arm."""

from __future__ import annotations

import math

from stopwise.core.values import Empty, Value
from stopwise.sampling.rejecting import Rejecting, index_width, rejecting
from stopwise.sampling.verbs import Direct, Question, bind


class HDOC(Empty, Direct):
    """The arm with the best index mean + sqrt(2 s^2 log t/N), of those that are not rejected.

    s^2 = 1/4 for samples in [0, 1]. Its stopping rule is ``BeyondLimit``.
    """

    __slots__ = ()
    title = "any arm beyond a limit: the arm that looks most promising"
    reason = (
        "HDoC samples the arm with the most promising index until its confidence interval is clear of "
        "the limit; arms on the wrong side are rejected."
    )
    looks_at_delta = True


class UCB1(Empty, Value):
    """The index of HDoC."""

    __slots__ = ()


@index_width.register(UCB1)
def _width(index: UCB1, spread: float, count: float, rounds: float, base: float) -> float:
    return math.sqrt(2.0 * spread * math.log(rounds) / count)


@bind.register(HDOC)
def _bind(strategy: HDOC, question: Question) -> Rejecting:
    return rejecting(strategy, UCB1(), question)
