"""Families of reward distributions, one file each."""

from stopwise.families.bernoulli import Bernoulli
from stopwise.families.binomial import Binomial
from stopwise.families.bounded import Bounded
from stopwise.families.exponential import Exponential
from stopwise.families.gamma import Gamma
from stopwise.families.gaussian import Gaussian
from stopwise.families.geometric import Geometric
from stopwise.families.inverse_gaussian import InverseGaussian
from stopwise.families.negative_binomial import NegativeBinomial
from stopwise.families.poisson import Poisson

FAMILIES = (
    Gaussian,
    Bernoulli,
    Binomial,
    Bounded,
    Poisson,
    Exponential,
    Gamma,
    Geometric,
    NegativeBinomial,
    InverseGaussian,
)

__all__ = [
    "FAMILIES",
    "Bernoulli",
    "Binomial",
    "Bounded",
    "Exponential",
    "Gamma",
    "Gaussian",
    "Geometric",
    "InverseGaussian",
    "NegativeBinomial",
    "Poisson",
]
