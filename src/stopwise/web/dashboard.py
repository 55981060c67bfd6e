"""What the page shows of a campaign."""

from __future__ import annotations

import json
import math
import threading
import time
from typing import Any

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.explain import oracle_now, samples_needed
from stopwise.campaign.session import Session
from stopwise.campaign.spec import CampaignSpec
from stopwise.campaign.status import Status, words
from stopwise.core.errors import NotDefined
from stopwise.families.verbs import interval, lower, of_arm, regret, upper
from stopwise.oracles.values import Oracle
from stopwise.sampling.verbs import pursues

A_SECOND = 50  # pages that are loaded anew in a second, at most, however many are open
FRESH, OLDEST = (
    0.25,
    2.0,
)  # seconds for which a page is not made anew: longer if making it takes long
SHARE = 0.05  # of the time that may be spent on making one
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
        spec = campaign.spec
        leases = transaction.leases(LEDGER)
        newest = transaction.newest(0, LEDGER)
    session = seen.session
    now = oracle_now(spec, session)
    samples, evidence, threshold = session.curve
    return {
        "status": Status.of(campaign.name, spec, seen, campaign.now()).to_dict(),
        "spec": spec.table,
        "hash": spec.key,
        "series": {
            "samples": samples.tolist(),
            "evidence": evidence.round(6).tolist(),
            "threshold": threshold.round(6).tolist(),
        },
        "arms": arms(spec, session, now),
        "pursues": bool(pursues(spec.design.strategy)),
        "changes": [
            {**change._asdict(), "answer": words(spec, change.answer)} for change in session.changes
        ],
        "lost": session.losses.tolist(),  # of each arm: asks that came to nothing, all asks
        "remaining": None if seen.decision else samples_needed(session, now),
        "leases": [lease._asdict() for lease in leases],
        "ledger": [event.to_dict() for event in reversed(newest)],
        "last": seen.last,
    }


def arms(spec: CampaignSpec, session: Session, now: Oracle | None) -> list[dict[str, Any]]:
    """Means with intervals that hold at all times together, and proportions beside oracle weights."""
    weights = None if now is None else now.weights[0]  # of the first oracle answer
    total = max(float(session.counts.sum()), 1.0)
    found = []
    for k, label in enumerate(spec.labels):
        count, mean = float(session.counts[k]), float(session.means[k])
        low, high = _interval(spec, k, count, mean) if count else (None, None)
        found.append(
            {
                "label": label,
                "samples": int(count),
                "mean": mean if count else None,
                "low": low,
                "high": high,
                "share": count / total,
                "weight": None if weights is None else float(weights[k]),
            }
        )
    return found


def _interval(
    spec: CampaignSpec, arm: int, count: float, mean: float
) -> tuple[float | None, float | None]:
    """All means that the arm's mixture does not rule out: for all arms and times together, 1 - delta."""
    family = of_arm(spec.design.family, arm)
    try:
        level = math.log(len(spec.labels) / spec.delta) + regret(family, count, mean, 0.0, 1.0)
    except NotDefined:
        return None, None
    ends = (lower(family, mean, level / count), upper(family, mean, level / count))
    first, last = interval(family)
    low, high = (min(max(float(end), first), last) for end in ends)
    return (low if math.isfinite(low) else None), (high if math.isfinite(high) else None)
