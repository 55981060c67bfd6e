"""What can go wrong with a campaign, each with its own name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stopwise.core.errors import StopwiseError

if TYPE_CHECKING:
    from stopwise.campaign.events import Decision


class CampaignDecided(StopwiseError):
    """There is an answer: nothing more needs to be asked. ``decision`` has it."""

    exit_code = 3
    http_status = 409

    def __init__(self, name: str, decision: Decision, message: str | None = None) -> None:
        self.decision = decision
        super().__init__(
            message
            or f"campaign {name!r} is decided: {decision.text} (evidence {decision.evidence:.3f}, "
            f"threshold {decision.threshold:.3f}, {decision.samples:,} samples). "
            "Nothing more needs to be asked."
        )


class BudgetSpent(StopwiseError):
    """As many samples as the budget allows were taken or are in flight."""

    exit_code = 4
    http_status = 409


class NothingToAsk(StopwiseError):
    """Every item of the pool is asked. If results are in flight: try again in a while."""

    http_status = 409


class CampaignPaused(StopwiseError):
    """Somebody paused or archived the campaign: nothing is asked until it is resumed."""

    exit_code = 6
    http_status = 409


class CampaignClosed(StopwiseError):
    """Somebody closed the campaign without an answer."""

    exit_code = 7
    http_status = 409


class NotPossible(StopwiseError):
    """The campaign is over, or its question does not allow this change."""

    http_status = 409


class UnknownCampaign(StopwiseError, LookupError):
    """There is no campaign of this name in the storage."""

    http_status = 404


class UnknownToken(StopwiseError, LookupError):
    """No ask of this campaign gave this token."""

    http_status = 404


class CampaignExists(StopwiseError):
    """Another campaign has this name."""

    http_status = 409


class Conflict(StopwiseError):
    """Something else was told under this token."""

    http_status = 409


class StorageError(StopwiseError):
    """The storage refused; nothing was written."""

    http_status = 503


class StorageAway(StorageError):
    """The storage does not answer, or is full or locked; nothing was acknowledged. Try again."""

    exit_code = 5


class TooManyWait(StorageAway):
    """Very many samples wait for an earlier one. Try again when its lease is over."""


class StorageDamaged(StorageError):
    """The storage's file is damaged: trying again does not help, a backup does."""

    http_status = 500


class CampaignUnreadable(StopwiseError):
    """What is stored of one campaign cannot be read. Others are not affected; it can be archived."""

    http_status = 409

    def __init__(self, message: str, archived: bool = False) -> None:
        self.archived = archived
        super().__init__(message)


class NewerSchema(StorageError):
    """The storage was made by a newer stopwise."""


class Refused(StopwiseError):
    """The service refused, for a reason that it names."""
