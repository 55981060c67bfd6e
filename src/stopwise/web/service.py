"""What the service keeps while it runs: a store, its writer, and a dashboard and feed a campaign."""

from __future__ import annotations

import threading
from collections import OrderedDict

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.storage.store import Store
from stopwise.web import forms
from stopwise.web.dashboard import Dashboard
from stopwise.web.feed import Feed
from stopwise.web.writer import Writer

KEPT = 200  # dashboards that are kept at once


class Service:
    """One store, and who writes to it and looks at it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.writer = Writer(store)
        self._feeds: OrderedDict[str, Feed] = OrderedDict()
        self._lock = threading.Lock()

    def feed(self, name: str) -> Feed:
        """A campaign's feed; made when it is first asked for."""
        with self._lock:
            found = self._feeds.get(name)
        if found is None:
            made = Feed(Dashboard(name, self.store))
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
        return None if found is None else found.dashboard.fresh()

    def page(self, name: str) -> bytes:
        """Everything that the page shows of a campaign, as JSON."""
        feed = self.feed(name)
        return feed.dashboard.text(feed.listeners)

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
                    in_flight=status.in_flight,
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
        self.writer.close()
        self.store.close()
