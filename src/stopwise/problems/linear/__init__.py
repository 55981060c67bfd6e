"""Which arm is best, if the means are linear in known features?"""

from stopwise.problems.linear import round  # noqa: A004, F401  (it registers verbs)
from stopwise.problems.linear.problem import Linear as Linear
