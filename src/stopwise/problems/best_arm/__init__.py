"""Which arm is best, up to epsilon?"""

from stopwise.problems.best_arm import round as _round  # noqa: F401  (registers its verbs)
from stopwise.problems.best_arm.problem import BestArm as BestArm
