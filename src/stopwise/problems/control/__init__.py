"""Which arms beat the control: all of them, or any one?"""

from stopwise.problems.control import close  # noqa: F401  (it registers verbs)
from stopwise.problems.control.all import BetterThan as BetterThan
from stopwise.problems.control.any import AnyBetterThan as AnyBetterThan
