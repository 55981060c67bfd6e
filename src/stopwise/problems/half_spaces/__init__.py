"""On which side of given planes do the means lie? Any one plane, or all of them."""

from stopwise.problems.half_spaces import planes as _planes  # noqa: F401  (registers its verbs)
from stopwise.problems.half_spaces.all import AllHalfSpaces as AllHalfSpaces
from stopwise.problems.half_spaces.any import AnyHalfSpace as AnyHalfSpace
