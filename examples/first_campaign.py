"""A first campaign: which of three pages sells best? Visitors are made up; the record is a file.

    python examples/first_campaign.py [FOLDER]

Interrupt it and start it again: it goes on where it was.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from stopwise import Campaign, CampaignDecided

SPEC = {
    "question": {"kind": "best-arm", "epsilon": 0.01},  # within one point of the best is fine
    "arms": ["A", "B", "C"],
    "family": "bernoulli",
    "delta": 0.05,  # the answer may be wrong one time in twenty
}
RATES = {"A": 0.10, "B": 0.30, "C": 0.12}  # nobody knows them in real life


def buys(page: str) -> int:
    """Show the page to the next visitor: 1 if they buy."""
    return int(random.random() < RATES[page])


def main(folder: Path) -> Campaign:
    folder.mkdir(parents=True, exist_ok=True)
    campaign = Campaign.create(SPEC, folder / "first_campaign.db", name="pages")
    try:
        while True:
            (ticket,) = campaign.ask()
            receipt = campaign.tell(ticket.token, buys(ticket.label))
            if receipt.number % 200 == 0:
                print(campaign.status().lines()[1])
    except CampaignDecided as end:
        print(end.decision.text, "\n")
    print(campaign.explain(), "\n")
    print(campaign.status(), "\n")
    print(campaign.verify())
    print("record:", campaign.export(folder / "first_campaign.csv"))
    return campaign


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out"))
