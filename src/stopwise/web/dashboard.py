"""What the page shows of a campaign."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.explain import oracle_now
from stopwise.campaign.spec import AnySession, CampaignSpec
from stopwise.campaign.status import Status, words
from stopwise.oracles.values import Oracle

A_SECOND = 50  # pages that are loaded anew in a second, at most, however many are open
FRESH, OLDEST = (
    0.25,
    2.0,
)  # seconds for which a page is not made anew: longer if making it takes long
SHARE = 0.01  # of the time that may be spent on making one, with what it waits for others
LEDGER = 50  # events that the page lists


class Dashboard:
    """One campaign's page, made once for all who look on."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self._making, self._stale, self._text = threading.Lock(), 0.0, b""

    def fresh(self) -> bytes | None:
        """The page as JSON, if it was made just now."""
        return self._text if time.monotonic() < self._stale else None

    def text(self, listeners: int) -> bytes:
        """The page as JSON, as fresh as it can be made in a small share of the time.

        It says after how many seconds it may be asked for again: later, the more look on.
        """
        with self._making:
            if self.fresh() is None:
                start = time.monotonic()
                found = {**page(self.campaign), "again": max(1.0, listeners / A_SECOND)}
                self._text = json.dumps(found, allow_nan=False).encode()
                end = time.monotonic()
                self._stale = end + min(max(FRESH, (end - start) / SHARE), OLDEST)
            return self._text


def page(campaign: Campaign) -> dict[str, Any]:
    """Everything that the page shows."""
    with campaign.look() as (transaction, seen):
        spec = seen.spec
        leases = transaction.leases(LEDGER)
        newest = transaction.newest(0, LEDGER)
        leads = campaign.leads(transaction, seen)
    session = seen.session
    now = oracle_now(spec, session)
    samples, evidence, threshold = session.curve
    status, decision = Status.of(campaign.name, spec, seen, campaign.now()), seen.decision
    return {
        "asked": spec.design.problem.question_text(),
        "named": list(spec.design.problem.named_arms(decision.answer)) if decision else [],
        "sense": spec.design.problem.goal_sign(),
        "status": status.to_dict(),
        "spec": spec.table,
        "hash": spec.key,
        "series": {
            "samples": samples.tolist(),
            "evidence": evidence.round(6).tolist(),
            "threshold": threshold.round(6).tolist(),
        },
        "unit": status.unit,
        "losses": status.about_losses,
        "leads": [lead._asdict() for lead in leads],
        "arms": arms(status, now),
        "pursues": bool(spec.design.strategy.pursues()),
        "guarantee": spec.design.guarantee,
        "reason": spec.design.given.strategy.reason,
        "changes": changes(spec, session),
        "lost": session.lost.tolist(),  # of each arm: asks that came to nothing, all asks
        "leases": [lease._asdict() for lease in leases],
        "ledger": [event.to_dict() for event in reversed(newest)],
        "last": seen.last,
    }


def changes(spec: CampaignSpec, session: AnySession) -> list[dict[str, Any]]:
    """Every change of the pursued answer, in words, with the strategy's reason for it."""
    because, later = spec.design.given.strategy.because
    found: list[dict[str, Any]] = []
    for change in session.changes:
        answer = words(spec, change.answer)
        found.append({**change._asdict(), "answer": answer, "because": because})
        because = later.replace("{before}", str(answer))
    return found


def arms(status: Status, now: Oracle | None) -> list[dict[str, Any]]:
    """Means with intervals that hold at all times together, and proportions beside oracle weights."""
    weights = None if now is None else now.weights[0]  # of the first oracle answer
    total = max(sum(arm.samples for arm in status.arms), 1)
    return [
        {
            **{key: getattr(arm, key) for key in ("label", "samples", "mean", "low", "high")},
            "share": arm.samples / total,
            "weight": None if weights is None else float(weights[k]),
        }
        for k, arm in enumerate(status.arms)
    ]
