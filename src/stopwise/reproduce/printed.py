"""What Table 1 and Figure 3 draw: the polygons of the paper's source, point by point.

A colour there stands for an answer (the table's caption). Arms are 0 and 1 here, 1 and 2 there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stopwise.core.arrays import Floats
from stopwise.problems.problem import Answer

EPSILON, GAMMA = 0.2, 0.6  # \\eps and \\gam of the source
BOUNDARY_EPSILON = 1.0 / 6.0  # at which the printed boundary of the epsilon minimum holds

Polygon = tuple[tuple[float, float], ...]
Drawing = tuple[tuple[Answer, Polygon], ...]

_HALF = (
    (0.603601, 1.0),
    (0.6061, 0.868323),
    (0.6086, 0.799213),
    (0.611099, 0.754821),
    (0.613599, 0.723129),
    (0.616098, 0.698967),
    (0.618598, 0.679694),
    (0.621097, 0.663804),
    (0.623597, 0.650366),
    (0.626096, 0.638769),
    (0.628595, 0.628595),
)
BOUNDARY: Polygon = (*_HALF, *((y, x) for x, y in reversed(_HALF)))


def _rectangle(left: float, bottom: float, right: float, top: float) -> Polygon:
    return (left, bottom), (right, bottom), (right, top), (left, top)


_E, _G = EPSILON, GAMMA
_THRESHOLDING: Drawing = (
    ((0, 1), _rectangle(0, 0, _G, _G)),
    ((1,), _rectangle(_G, 0, 1, _G)),
    ((0,), _rectangle(0, _G, _G, 1)),
    ((), _rectangle(_G, _G, 1, 1)),
)
_NONE: tuple[Answer, Polygon] = ("none", _rectangle(_G, _G, 1, 1))
DRAWINGS: dict[str, dict[str, Drawing]] = {
    "best arm": {
        "correct": (
            (0, ((0, 0), (1, 0), (1, 1), (1 - _E, 1), (0, _E))),
            (1, ((0, 0), (0, 1), (1, 1), (1, 1 - _E), (_E, 0))),
        ),
        "oracle": ((0, ((0, 0), (1, 1), (1, 0))), (1, ((0, 0), (1, 1), (0, 1)))),
    },
    "thresholding": {"correct": _THRESHOLDING, "oracle": _THRESHOLDING},
    "minimum threshold": {
        "correct": (
            (
                "low",
                ((0, 0), (1, 0), (1, _G + _E), (_G + _E, _G + _E), (_G + _E, 1), (0, 1)),
            ),
            ("high", _rectangle(_G - _E, _G - _E, 1, 1)),
        ),
        "oracle": (
            ("low", ((0, 0), (0, 1), *BOUNDARY, (1, 0))),
            ("high", ((1, 1), (0, 1), *BOUNDARY, (1, 0))),
        ),
    },
    "any low arm": {
        "correct": ((0, _rectangle(0, 0, 1, _G)), (1, _rectangle(0, 0, _G, 1)), _NONE),
        "oracle": (
            (0, ((0, 0), (1, 0), (1, _G), (_G, _G))),
            (1, ((0, 0), (0, 1), (_G, 1), (_G, _G))),
            _NONE,
        ),
    },
    "any sign": {
        "correct": (
            ((0, "low"), _rectangle(0, 0, 1, _G)),
            ((0, "high"), _rectangle(0, _G, 1, 1)),
            ((1, "low"), _rectangle(0, 0, _G, 1)),
            ((1, "high"), _rectangle(_G, 0, 1, 1)),
        ),
        "oracle": (
            ((1, "low"), ((0, 0), (1, 0), (1, 2 * _G - 1), (_G, _G))),
            ((0, "high"), ((1, 1), (1, 2 * _G - 1), (_G, _G))),
            ((1, "high"), ((1, 1), (_G, _G), (2 * _G - 1, 1))),
            ((0, "low"), ((0, 0), (_G, _G), (2 * _G - 1, 1), (0, 1))),
        ),
    },
}

# the pairs of colours that the caption explains, and what the single colours say that they are
PAIRS: tuple[tuple[str, frozenset[Answer], frozenset[Answer]], ...] = (
    (
        "OliveGreen and RubineRed",
        frozenset({(0, "low"), (1, "high")}),
        frozenset({(0, "high"), (1, "low")}),
    ),
    (
        "Melon and ProcessBlue",
        frozenset({(0, "high"), (1, "low")}),
        frozenset({(0, "low"), (1, "high")}),
    ),
)

# Figure 3: the two cones, the planes as drawn from end to end, and the two points
CONES: Drawing = (
    ((0, -1), ((0, 0), (-2, -2), (-2, 1))),
    ((1, -1), ((0, 0), (-2, -2), (1, -2))),
)
PLANES: tuple[Polygon, Polygon] = (((-0.5, 1), (1, -2)), ((1, -0.5), (-2, 1)))
TRUTH, ESTIMATE = (-1.0, -1.0), (-0.7, -1.4)


def inside(polygon: Polygon, x: Floats, y: Floats) -> NDArray[np.bool_]:
    """Whether each point lies in the polygon (even-odd rule)."""
    found = np.zeros(np.shape(x), dtype=bool)
    for (x0, y0), (x1, y1) in zip(polygon, (*polygon[1:], polygon[0]), strict=True):
        if y0 != y1:
            crosses = (y0 > y) != (y1 > y)
            found ^= crosses & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
    return found
