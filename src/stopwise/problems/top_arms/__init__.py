"""Which m arms have the highest means, up to epsilon?"""

from stopwise.problems.top_arms import round  # noqa: A004, F401  (it registers verbs)
from stopwise.problems.top_arms.problem import TopArms as TopArms
