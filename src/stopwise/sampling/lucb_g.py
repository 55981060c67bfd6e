"""LUCB-G (Kano et al. 2019, Algorithm 2; LUCB for good arms)."""

from __future__ import annotations

import math

from stopwise.core.values import Empty, Value
from stopwise.sampling.rejecting import Rejecting, index_width, rejecting
from stopwise.sampling.verbs import Direct, Question, bind


class LUCBG(Empty, Direct):
    """The arm whose confidence bound sqrt(2 s^2 log(4 K N^2/delta)/N) reaches furthest, if not rejected.

    Its stopping rule is ``BeyondLimit``.
    """

    __slots__ = ()
    title = "any arm beyond a limit: the arm with the best confidence bound"
    reason = (
        "LUCB-G samples the arm whose confidence bound reaches furthest beyond the limit; arms on the "
        "wrong side are rejected."
    )
    looks_at_delta = True


class Widest(Empty, Value):
    """The index of LUCB-G: the end of the confidence interval."""

    __slots__ = ()


@index_width.register(Widest)
def _width(index: Widest, spread: float, count: float, rounds: float, base: float) -> float:
    return math.sqrt(2.0 * spread * (base + 2.0 * math.log(count)) / count)


@bind.register(LUCBG)
def _bind(strategy: LUCBG, question: Question) -> Rejecting:
    return rejecting(strategy, Widest(), question)
