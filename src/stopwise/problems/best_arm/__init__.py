"""Which arm is best, up to epsilon?"""

from stopwise.problems.best_arm import logarithmic, round  # noqa: A004, F401  (they register verbs)
from stopwise.problems.best_arm.problem import BestArm as BestArm
