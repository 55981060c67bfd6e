"""Looks ahead come where the record says, however events were grouped when they were stored."""

from __future__ import annotations

import pytest

import stopwise as sw

SPEC = {"question": "best-arm", "arms": ["a", "b", "c"], "family": "bernoulli", "delta": 1e-12}


@pytest.mark.parametrize("early", range(20, 40))
def test_a_lost_sample_that_lets_others_count(early: int) -> None:
    """Fewer wait then, so that it may be time to look ahead: alive, and when the record is replayed."""
    campaign = sw.Campaign.create(SPEC, "memory:", "one")
    tickets = campaign.ask(early + 14)
    for place, ticket in enumerate(tickets[: early + 13]):
        if place not in (0, early):  # the others wait for these
            campaign.tell(ticket.token, place % 2)
    campaign.release(tickets[0].token)
    campaign.tell(tickets[early + 13].token, 1)
    found = campaign.verify()
    assert found.agrees, found
