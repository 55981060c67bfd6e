"""Several independent questions about disjoint groups of arms, answered together."""

from stopwise.problems.product import chain as _chain  # noqa: F401  (registers its verbs)
from stopwise.problems.product.problem import Product as Product
