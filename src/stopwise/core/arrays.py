"""Small loops over arrays. In compiled code they cost a tenth of a slice assignment's compile time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stopwise.core.functions import jitable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Numbers = Floats | Ints
Rng = np.random.Generator


def arrays_in(value: Any) -> Iterator[Any]:
    """All arrays in nested tuples, in order."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from arrays_in(part)


def copied(value: Any) -> Any:
    """A copy of nested named tuples, with copies of their arrays."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if hasattr(value, "_make"):
        return value._make(map(copied, value))
    return tuple(map(copied, value)) if isinstance(value, tuple) else value


@jitable(inline=True)
def assign(out: Numbers, values: Numbers) -> None:
    """out[:] = values, for vectors of one size."""
    for k in range(out.size):
        out[k] = values[k]


@jitable(inline=True)
def replace(out: Numbers, values: Numbers) -> None:
    """out[:] = values, but without a write if the two are equal: later reads need not wait for one."""
    differ = False
    for k in range(out.size):
        differ |= out[k] != values[k]
    if differ:
        assign(out, values)


@jitable(inline=True)
def fill(out: Numbers, value: float) -> None:
    """out[:] = value."""
    for k in range(out.size):
        out[k] = value


@jitable
def divide(out: Numbers, by: float) -> None:
    """out /= by."""
    for k in range(out.size):
        out[k] /= by


@jitable
def add(out: Numbers, factor: float, values: Numbers) -> None:
    """out += factor * values."""
    for k in range(out.size):
        out[k] += factor * values[k]


@jitable(inline=True)
def total(values: Numbers) -> float:
    """The sum, in four parts at a time: additions that wait for each other are slow."""
    a = b = c = d = 0.0
    k = 0
    while k + 3 < values.size:
        a += values[k]
        b += values[k + 1]
        c += values[k + 2]
        d += values[k + 3]
        k += 4
    while k < values.size:
        a += values[k]
        k += 1
    return (a + b) + (c + d)


@jitable
def largest(values: Numbers) -> float:
    """The largest value."""
    most = values[0]
    for k in range(1, values.size):
        if values[k] > most:
            most = values[k]
    return most


@jitable
def largest_size(values: Numbers) -> float:
    """The largest absolute value."""
    most = 0.0
    for k in range(values.size):
        most = max(most, abs(values[k]))
    return most


@jitable(inline=True)
def smallest(values: Numbers) -> float:
    """The smallest value."""
    least = values[0]
    for k in range(1, values.size):
        if values[k] < least:
            least = values[k]
    return least


@jitable
def argmin(values: Numbers) -> int:
    """Where the smallest value is, the first of equals."""
    found = 0
    for k in range(1, values.size):
        if values[k] < values[found]:
            found = k
    return found


@jitable
def argmax(values: Numbers) -> int:
    """Where the largest value is, the first of equals."""
    place = 0
    for k in range(1, values.size):
        if values[k] > values[place]:
            place = k
    return place


@jitable
def argbest(values: Numbers, side: float) -> int:
    """Where the largest (side +1) or the smallest (-1) value is, the first of equals."""
    found = 0
    for k in range(1, values.size):
        if side * values[k] > side * values[found]:
            found = k
    return found


@jitable(inline=True)
def moments_with(count: float, mean: float, squares: float, x: float) -> tuple[float, float]:
    """The mean and the sum of squared deviations from it, with x as sample number ``count``.

    Welford's update, which loses no digits to a mean that is large beside the spread.
    """
    off = x - mean
    mean += off / count
    return mean, squares + off * (x - mean)


@jitable
def log_sum_exp(weights: Numbers, logs: Numbers) -> float:
    """log sum_q weights_q exp(logs_q), with the largest term taken out."""
    top = largest(logs)
    found = 0.0
    for q in range(weights.size):
        found += weights[q] * math.exp(logs[q] - top)
    return top + math.log(found)


@jitable
def add_gram(rows: Numbers, stiff: Numbers, out: Numbers) -> None:
    """out += rows.T @ diag(stiff) @ rows, a row at a time: the same sums compiled or not."""
    for m in range(stiff.size):
        for k in range(rows.shape[1]):
            factor = stiff[m] * rows[m, k]
            if factor != 0.0:
                add(out[k], factor, rows[m])


@jitable
def add_combination(rows: Numbers, factors: Numbers, out: Numbers) -> None:
    """out += factors @ rows."""
    for m in range(factors.size):
        if factors[m] != 0.0:
            add(out, factors[m], rows[m])


@jitable
def inner(left: Numbers, right: Numbers) -> float:
    """The inner product, in four parts at a time."""
    return total(left * right)


@jitable
def solve_linear(system: Numbers, right: Numbers) -> bool:
    """Overwrite ``right`` by the solution, by elimination with row pivots; whether there is one.

    The same operations in the same order, compiled or not: a library's solver would give other last
    digits in compiled code than in plain Python, and take seconds to compile.
    """
    size = right.size
    for c in range(size):
        best = c
        for r in range(c + 1, size):
            if abs(system[r, c]) > abs(system[best, c]):
                best = r
        if not abs(system[best, c]) > 0.0:
            return False
        if best != c:
            for k in range(size):
                system[c, k], system[best, k] = system[best, k], system[c, k]
            right[c], right[best] = right[best], right[c]
        for r in range(c + 1, size):
            factor = system[r, c] / system[c, c]
            if factor != 0.0:
                for k in range(c, size):
                    system[r, k] -= factor * system[c, k]
                right[r] -= factor * right[c]
    for c in range(size - 1, -1, -1):
        for k in range(c + 1, size):
            right[c] -= system[c, k] * right[k]
        right[c] /= system[c, c]
    return True
