"""Root finding, the same in plain Python and in compiled code.

Compiled code cannot take functions as arguments cheaply: it would be compiled anew in every process. It
can take values with methods. So an equation is a value whose method ``at`` gives a function and its slope,
a condition one whose method ``holds`` says yes or no, and a solver is compiled for each type of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

from stopwise.core.errors import MissingMethod
from stopwise.core.functions import jitable
from stopwise.core.values import Value

TURNS = 400  # more than any start inside the range of floats takes


class Equation(Value):
    """f(x) = 0 for one unknown number x, where f rises through its root.

    Examples
    --------
    >>> class SquareRoot(Equation):
    ...     square: float
    ...
    ...     def at(self, x):
    ...         return x * x - self.square, 2.0 * x
    >>> bracketed_newton(SquareRoot(2.0), 1.0, 0.0, math.inf)
    1.414213562373095
    """

    def at(self, x: float) -> tuple[float, float]:
        """f(x) and its slope. A slope that is not positive and finite leads to a bisection."""
        raise MissingMethod("at", self)

    def beyond(self, x: float) -> float:
        """Where to look next if x is too small (or too large) and the bracket is open on that side."""
        return 2.0 * x


class Condition(Protocol):
    """What is true up to some number and false beyond. For compiled code it must be a ``Value``."""

    def holds(self, x: float) -> bool:
        """Whether it is true of x."""


class When(NamedTuple):
    """A condition that a function decides: in plain Python only."""

    holds: Callable[[float], bool]


@jitable
def inside(new: float, low: float, high: float, beyond: float) -> float:
    """The next point of a bracketed search: ``new`` if it lies strictly between the ends, else their middle.

    Parameters
    ----------
    new
        A proposal, such as Newton's; nan for none.
    low, high
        The bracket; an end may be infinite.
    beyond
        The next point if there is no middle, because an end is infinite.

    Examples
    --------
    >>> inside(0.3, 0.0, 1.0, 2.0), inside(1.3, 0.0, 1.0, 2.0), inside(-1.0, 0.0, math.inf, 2.0)
    (0.3, 0.5, 2.0)
    """
    if low < new < high:
        return new
    middle = 0.5 * (low + high)
    return middle if math.isfinite(middle) else beyond


@jitable
def bracketed_newton(equation: Equation, x: float, low: float, high: float) -> float:
    """The root of a function that rises, to the last digit or nearly: Newton's method in a bracket.

    Newton's point is taken where it lies inside the bracket, which each value narrows; otherwise the middle.

    Parameters
    ----------
    equation
        Its method ``at(x)`` gives the function and its slope. The slope may be wrong, the sign may not.
    x
        Where to start, inside the bracket.
    low, high
        The function is negative at ``low`` and positive at ``high``, neither of which is looked at. An end
        may be infinite: ``equation.beyond(x)`` then says how the search leaves x.

    Returns
    -------
    The root; without convergence after ``TURNS`` steps the last point.
    """
    for _ in range(TURNS):
        value, slope = equation.at(x)
        if value == 0.0:
            return x
        if value > 0.0:
            high = x
        else:
            low = x
        new = x - value / slope if 0.0 < slope < math.inf else math.nan
        if new == x:  # an end of the bracket by now, and the root but for rounding
            return x
        new = inside(new, low, high, equation.beyond(x))
        if abs(new - x) <= 1e-16 * abs(x) or new == low or new == high or not math.isfinite(new):
            return new
        x = new
    return x


@jitable
def newton(equation: Equation, x: float, least: float, tolerance: float) -> float:
    """The root of a function that is convex or concave, by Newton's method from its far side.

    Such a search passes the root at most once and then approaches it from one side: it needs no bracket.

    Parameters
    ----------
    equation
        Its method ``at(x)`` gives the function and its slope, which is not 0.
    x
        Where to start.
    least
        The search does not go below this number, where the function may not be defined.
    tolerance
        The search ends with a step that is smaller than this part of x.

    Examples
    --------
    >>> class LambertW(Equation):
    ...     y: float
    ...
    ...     def at(self, x):
    ...         return x + math.log(x) - self.y, 1.0 + 1.0 / x
    >>> newton(LambertW(1.0), 1.0, 0.0, 1e-14)
    1.0
    """
    for _ in range(TURNS):
        value, slope = equation.at(x)
        step = value / slope
        x = max(x - step, least)
        if abs(step) <= tolerance * x:
            break
    return x


@jitable
def bisection(
    condition: Condition, low: float, high: float, halvings: int = TURNS
) -> tuple[float, float]:
    """Neighbours between which a condition changes: it is true of the first, and not of the second.

    Parameters
    ----------
    condition
        Its method ``holds(x)``; true at ``low`` and false at ``high``, which are not looked at.
    low, high
        Finite numbers, not necessarily in this order.
    halvings
        The most that are done; fewer, if no other number lies between.

    Examples
    --------
    >>> class Below(Value):
    ...     limit: float
    ...
    ...     def holds(self, x):
    ...         return x < self.limit
    >>> bisection(Below(0.7), 0.0, 1.0, 3)
    (0.625, 0.75)
    """
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        if middle == low or middle == high:
            break
        if condition.holds(middle):
            low = middle
        else:
            high = middle
    return low, high
