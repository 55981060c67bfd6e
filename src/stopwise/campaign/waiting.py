"""Wait until a campaign is over: for scripts."""

from __future__ import annotations

import time
from typing import Protocol

from stopwise.campaign.errors import StorageAway
from stopwise.campaign.status import GOES_ON, Status
from stopwise.core import checks

LONGEST = 3600.0  # seconds between two looks


class Campaign(Protocol):
    """One here, or behind a service."""

    def status(self) -> Status:
        """Where it stands."""

    def expire(self) -> int:
        """Release what is overdue."""


def wait(campaign: Campaign, timeout: float | None = None, every: float = 1.0) -> Status:
    """The status when there is nothing to wait for any more, or after ``timeout`` seconds."""
    pause = checks.positive("every", every)
    given = None if timeout is None else checks.not_negative("timeout", timeout)
    until = None if given is None else time.monotonic() + given
    while True:
        try:
            status = campaign.status()
            if status.waiting and campaign.expire():  # nobody else may be there to look
                continue
            if status.state not in GOES_ON:
                return status
        except StorageAway:
            if until is not None and time.monotonic() >= until:
                raise
        if until is not None and time.monotonic() >= until:
            return status
        left = LONGEST if until is None else until - time.monotonic()
        time.sleep(max(0.0, min(pause, left, LONGEST)))
