"""What the service keeps while it runs: the store, the desk, and a watch and feed for each campaign."""

from __future__ import annotations

import threading
from collections import OrderedDict

from stopwise.campaign import Campaign
from stopwise.campaign.store import Store
from stopwise.web import forms
from stopwise.web.desk import Desk
from stopwise.web.feed import Feed
from stopwise.web.watch import Watch

KEPT = 200  # campaigns that are watched at once


class House:
    """One store, open for business."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.desk = Desk(store)
        self._feeds: OrderedDict[str, Feed] = OrderedDict()
        self._lock = threading.Lock()

    def feed(self, name: str) -> Feed:
        """A campaign's feed; made when it is first asked for."""
        with self._lock:
            found = self._feeds.get(name)
        if found is None:
            made = Feed(Watch(name, self.store))
            with self._lock:
                found = self._feeds.setdefault(name, made)
        with self._lock:
            self._feeds.move_to_end(name)
            idle = [key for key, feed in self._feeds.items() if not feed.listeners]
            for key in idle[: max(0, len(self._feeds) - KEPT)]:
                del self._feeds[key]
        return found

    def fresh_page(self, name: str) -> bytes | None:
        """The page, if it was made for somebody else just now."""
        with self._lock:
            found = self._feeds.get(name)
        return None if found is None else found.watch.fresh()

    def page(self, name: str) -> bytes:
        """Everything that the page shows of a campaign, as JSON."""
        feed = self.feed(name)
        return feed.watch.text(feed.listeners)

    def glance(self) -> list[forms.Brief]:
        """All campaigns, newest first."""
        found = []
        for name in reversed(self.store.names()):
            status = Campaign.open(name, self.store).status()
            found.append(
                forms.Brief(
                    name=name,
                    state=status.state,
                    samples=status.samples,
                    pending=status.pending,
                    evidence=status.evidence,
                    threshold=status.threshold,
                    leading=status.leading,
                    decision=None if status.decision is None else status.decision.text,
                )
            )
        return found

    @property
    def listeners(self) -> int:
        """Open pages."""
        return sum(feed.listeners for feed in self._feeds.values())

    def close(self) -> None:
        """Finish what waits."""
        self.desk.close()
        self.store.close()
