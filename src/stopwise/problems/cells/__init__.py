"""The user's own problem: answers whose alternatives are unions of convex cells."""

from stopwise.problems.cells import reach as _reach  # noqa: F401  (registers its verbs)
from stopwise.problems.cells.problem import Cells as Cells
