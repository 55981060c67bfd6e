"""Identification problems, one file each."""

from stopwise.problems.any_low import AnyLowArm
from stopwise.problems.any_sign import AnySign
from stopwise.problems.best_arm import BestArm
from stopwise.problems.cells import Cells
from stopwise.problems.half_spaces import AllHalfSpaces, AnyHalfSpace
from stopwise.problems.minimum import MinimumThreshold
from stopwise.problems.polyhedra import Ball, OutsideBall, Polyhedron
from stopwise.problems.product import Product
from stopwise.problems.sphere import Sphere
from stopwise.problems.thresholding import Thresholding

__all__ = [
    "AllHalfSpaces",
    "AnyHalfSpace",
    "AnyLowArm",
    "AnySign",
    "Ball",
    "BestArm",
    "Cells",
    "MinimumThreshold",
    "OutsideBall",
    "Polyhedron",
    "Product",
    "Sphere",
    "Thresholding",
]
