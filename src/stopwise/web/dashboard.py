"""What the page shows of a campaign, kept up to date from its events."""

from __future__ import annotations

import json
import math
import threading
import time
from typing import Any

import numpy as np

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.events import Event
from stopwise.campaign.explain import samples_needed
from stopwise.campaign.replay import Reader
from stopwise.campaign.session import Session
from stopwise.campaign.spec import CampaignSpec
from stopwise.campaign.status import Status
from stopwise.campaign.storage.store import Store
from stopwise.core.errors import NotDefined, StopwiseError
from stopwise.families.verbs import interval, lower, of_arm, regret, upper
from stopwise.oracles.quantities import oracle
from stopwise.problems.verbs import decode, in_words
from stopwise.sampling.verbs import pursues

POINTS = 500  # of a series, at most
A_SECOND = 50  # pages that are loaded anew in a second, at most, however many are open
FRESH = 0.25  # seconds for which a page is not made anew
LEDGER = 50  # events that the page lists
CHANGES = 100  # changes of the pursued answer that it lists


class Dashboard:
    """One campaign's curves: the very statistic that stops, sample by sample, thinned out."""

    def __init__(self, name: str, store: Store) -> None:
        self.campaign = Campaign.open(name, store)
        self._store, self._lock = store, threading.Lock()
        self._reader = Reader(self.campaign.spec.session())
        self.last = 0
        self._points: list[tuple[int, float, float]] = []  # samples, evidence, threshold
        self._step = 1  # every so many samples have a point
        self._samples = 0
        self._changes: list[tuple[int, int, str]] = []  # event, samples, pursued answer
        self._code: bytes | None = None
        self._tail: list[Event] = []
        self._lost = np.zeros((2, len(self.campaign.labels)), dtype=np.int64)  # lost, asked
        self._making, self._stale, self._text = threading.Lock(), 0.0, b""
        self._gone: set[str] = set()  # tokens of asks that came to nothing so far

    def update(self) -> list[Event]:
        """Read what is new."""
        with self._lock:
            with self._store.look(self.campaign.name) as transaction:
                fresh = transaction.since(self.last)
            if fresh:
                self._read(fresh)
            return fresh

    def _read(self, fresh: list[Event]) -> None:
        seen = self._reader.read(fresh, remember=True)
        spec = self.campaign.spec
        for place in range(seen.used):
            event, evidence = seen.counted[place], float(seen.past.evidence[place])
            if event.kind in ("told", "recorded"):
                self._samples += 1
                if not math.isnan(evidence):
                    allowance = float(seen.past.allowance[place])
                    self._point(evidence, float(spec.design.levels[0]) + allowance)
            elif event.kind == "asked" and not math.isnan(evidence):
                self._pursue(spec, event, seen.past.pursued[place])
        for event in fresh:
            self._count_losses(event)
        self._tail = [*self._tail, *fresh][-LEDGER:]
        self.last = fresh[-1].number

    def _count_losses(self, event: Event) -> None:
        """A released ask is lost, unless its value comes after all."""
        if event.kind == "asked":
            self._lost[1, event.arm] += 1
        elif event.kind == "released":
            self._lost[0, event.arm] += 1
            self._gone.add(event.token)
        elif event.kind == "told" and event.token in self._gone:
            self._lost[0, event.arm] -= 1
            self._gone.remove(event.token)

    def _point(self, evidence: float, threshold: float) -> None:
        if self._points and self._samples % self._step:
            self._newest = (self._samples, evidence, threshold)
            return
        self._newest = (self._samples, evidence, threshold)
        self._points.append(self._newest)
        if len(self._points) >= POINTS:
            self._points = self._points[::2]
            self._step *= 2

    def _pursue(self, spec: CampaignSpec, event: Event, code: Any) -> None:
        if pursues(spec.design.strategy) and code.tobytes() != self._code:
            self._code, problem = code.tobytes(), spec.design.problem
            words = in_words(problem, decode(problem, code), spec.labels)
            self._changes = [*self._changes, (event.number, self._samples, words)][-CHANGES:]

    def series(self) -> dict[str, list[float]]:
        """Evidence against threshold over the samples."""
        points = list(self._points)
        if points and self._newest != points[-1]:
            points = [*points, self._newest]
        columns = list(zip(*points, strict=True)) or [(), (), ()]
        return {
            "samples": list(columns[0]),
            "evidence": [round(each, 6) for each in columns[1]],
            "threshold": [round(each, 6) for each in columns[2]],
        }

    def fresh(self) -> bytes | None:
        """The page as JSON, if it was made just now."""
        return self._text if time.monotonic() < self._stale else None

    def text(self, listeners: int) -> bytes:
        """The page as JSON: made once for all who look on, and not more often than every ``FRESH``.

        It says after how many seconds it may be asked for again: later, the more look on.
        """
        with self._making:
            if self.fresh() is None:
                found = {**self.page(), "again": max(1.0, listeners / A_SECOND)}
                self._text = json.dumps(found, allow_nan=False).encode()
                self._stale = time.monotonic() + FRESH
            return self._text

    def page(self) -> dict[str, Any]:
        """Everything that the page shows."""
        self.update()
        with self._lock:
            campaign, spec = self.campaign, self.campaign.spec
            session = self._reader.session
            with self._store.look(campaign.name) as transaction:
                leases = transaction.leases()
                decision = campaign.decision
                status = Status.of(campaign.name, spec, session, decision, transaction)
            return {
                "status": status.to_dict(),
                "spec": spec.table,
                "hash": spec.key,
                "series": self.series(),
                "arms": arms(spec, session),
                "pursues": bool(pursues(spec.design.strategy)),
                "changes": [
                    {"event": number, "samples": samples, "answer": words}
                    for number, samples, words in self._changes
                ],
                "lost": self._lost.T.tolist(),  # of each arm: asks that came to nothing, all asks
                "remaining": None if decision else samples_needed(spec, session),
                "leases": [lease._asdict() for lease in leases[:LEDGER]],
                "ledger": [event.to_dict() for event in reversed(self._tail)],
                "last": self.last,
            }


def arms(spec: CampaignSpec, session: Session) -> list[dict[str, Any]]:
    """Means with intervals that hold at all times together, and proportions beside oracle weights."""
    weights = _oracle_weights(spec, session)
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


def _oracle_weights(spec: CampaignSpec, session: Session) -> Any:
    """Of the first oracle answer at the estimate; None where there is none."""
    if not session.started:
        return None
    try:
        problem, family = spec.design.problem, spec.design.family
        return oracle(problem, session.means, family=family).weights[0]
    except StopwiseError:
        return None
