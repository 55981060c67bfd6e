"""``stopwise`` in the test's own process: what came of a command, and two specs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

PAGES = """
question = {kind = "best-arm", epsilon = 0.01}
arms = ["A", "B", "C"]
family = "bernoulli"
delta = 0.05
"""
QUICK = """
question = "best-arm"
arms = ["A", "B"]
family = {kind = "gaussian", variance = 0.01}
delta = 0.05
stopping = "mixture"
budget = 20
"""


class Ran(NamedTuple):
    """What came of a command."""

    code: int
    out: str
    err: str

    @property
    def table(self) -> Any:
        """The JSON that it printed."""
        return json.loads(self.out)


Shell = Callable[..., Ran]
