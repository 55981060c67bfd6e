"""Live campaigns: ask, tell, and an answer that can be audited."""

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.client import Client, RemoteCampaign
from stopwise.campaign.errors import (
    BudgetSpent,
    CampaignDecided,
    CampaignExists,
    Conflict,
    NewerSchema,
    StorageAway,
    StorageError,
    UnknownCampaign,
    UnknownToken,
)
from stopwise.campaign.events import Decision, Event, Receipt, Ticket
from stopwise.campaign.session import Session

__all__ = [
    "BudgetSpent",
    "Campaign",
    "CampaignDecided",
    "CampaignExists",
    "Client",
    "Conflict",
    "Decision",
    "Event",
    "NewerSchema",
    "Receipt",
    "RemoteCampaign",
    "Session",
    "StorageAway",
    "StorageError",
    "Ticket",
    "UnknownCampaign",
    "UnknownToken",
]
