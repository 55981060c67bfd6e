"""Conformance kits: what a family or a problem must satisfy, to be run on your own.

    from stopwise.testing import check_family, check_problem

Each raises AssertionError with the values that disagree.
"""

from stopwise.testing.families import check_family
from stopwise.testing.problems import check_problem

__all__ = ["check_family", "check_problem"]
