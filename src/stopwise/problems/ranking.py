"""Questions that comparisons of two arms answer: a problem says so if its own is one."""

from __future__ import annotations

from typing import Any, NamedTuple

from stopwise.core.verbs import verb


class Ranking(NamedTuple):
    """A question that comparisons of two arms answer: the ``m`` best arms, or those above a control."""

    sense: int  # 1: higher is better; -1: lower
    epsilon: float
    m: int = 1
    control: int = -1  # none
    one: bool = False  # one arm that beats the control is enough


@verb
def ranking(problem: Any) -> Ranking | None:
    """The question as one about who beats whom; None if it is another."""
    return None
