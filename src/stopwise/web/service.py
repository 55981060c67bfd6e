"""What the service keeps while it runs: a store, its writer, and the campaigns that are in use."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.errors import CampaignUnreadable, StorageError
from stopwise.campaign.replica import unreadable
from stopwise.campaign.status import Status
from stopwise.campaign.storage.store import Store
from stopwise.web import forms
from stopwise.web.feed import Feed
from stopwise.web.middleware.encoded_slash import whole_name
from stopwise.web.reading import Reading
from stopwise.web.writer import Writer

KEPT = 200  # campaigns that are held at once, but for those with open pages
ARMS = 200_000  # that they may have in all
BRIEF = ("name", "state", "samples", "in_flight", "evidence", "threshold", "leading", "archived")


class Service:
    """One store, and each campaign of it once, for whoever writes and whoever reads."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.writer = Writer(self.campaign)
        self.long_reads = asyncio.Semaphore(1)  # what takes long is done for one at a time
        self.reading = Reading(self.writer)
        self.previews = asyncio.Semaphore(1)
        self._feeds: OrderedDict[str, Feed] = OrderedDict()
        self._briefs: dict[str, tuple[int, forms.Brief]] = {}  # after which event
        self._lock = threading.Lock()

    def campaign(self, name: str) -> Campaign:
        """The one open campaign of this name."""
        return self.feed(name).campaign

    def feed(self, name: str) -> Feed:
        """A campaign with its feed; opened when it is first asked for."""
        name = whole_name(name)
        with self._lock:
            found = self._feeds.get(name)
        if found is None:
            made = Feed(Campaign.open(name, self.store))
            name = made.campaign.name  # however it was spelled
            with self._lock:
                found = self._feeds.setdefault(name, made)
                self._put_away(name)
        with self._lock:
            if name in self._feeds:
                self._feeds.move_to_end(name)
        return found

    def _put_away(self, newest: str) -> None:
        """Of the campaigns without an open page those that were not used for longest."""
        arms = sum(len(feed.campaign.labels) for feed in self._feeds.values())
        for name, feed in list(self._feeds.items()):
            if len(self._feeds) <= KEPT and arms <= ARMS:
                return
            if not feed.listeners and name != newest:
                arms -= len(feed.campaign.labels)
                del self._feeds[name]

    def fresh_page(self, name: str) -> bytes | None:
        """The page, if it was made for somebody else just now."""
        with self._lock:
            found = self._feeds.get(whole_name(name))
        return None if found is None else found.dashboard.fresh()

    def page(self, name: str) -> bytes:
        """Everything that the page shows of a campaign, as JSON."""
        feed = self.feed(name)
        return feed.dashboard.text(feed.listeners)

    def glance(self) -> list[forms.Brief]:
        """All campaigns, newest first."""
        there = self.store.last_events()
        for gone in self._briefs.keys() - there.keys():  # renamed, or of a store that was restored
            self._briefs.pop(gone, None)
        return [self._brief(name, last) for name, last in reversed(there.items())]

    def _brief(self, name: str, last: int) -> forms.Brief:
        """Made anew only if the campaign has new events."""
        known = self._briefs.get(name)
        if known is None or known[0] != last:
            try:
                known = self._made_brief(name)
            except StorageError:
                raise
            except Exception as error:  # one campaign that cannot be shown hides no other
                known = last, self._unreadable(name, error)
            self._briefs[name] = known
        return known[1]

    def _made_brief(self, name: str) -> tuple[int, forms.Brief]:
        campaign = self.campaign(name)
        with campaign.look() as (transaction, seen):
            created, newest = transaction.head.created, transaction.newest(0, 1)
        status = Status.of(campaign.name, seen.spec, seen, campaign.now(), intervals=False)
        fields = {key: getattr(status, key) for key in BRIEF}
        decision = None if status.decision is None else status.decision.text
        active = newest[-1].time if newest else None
        brief = forms.Brief(**fields, decision=decision, created=created, active=active)
        return status.events, brief

    def _unreadable(self, name: str, error: Exception) -> forms.Brief:
        """A campaign that cannot be opened, and why."""
        with self.store.look(name) as transaction:
            head, newest = transaction.head, transaction.newest(0, 1)
        found = error if isinstance(error, CampaignUnreadable) else unreadable(head, error)
        return forms.Brief(
            name=name,
            state="cannot be opened",
            samples=0,
            in_flight=0,
            evidence=None,
            threshold=None,
            leading=None,
            archived=found.archived,
            decision=None,
            created=head.created,
            active=newest[-1].time if newest else None,
            problem=str(found),
        )

    @property
    def listeners(self) -> int:
        """Open pages."""
        with self._lock:
            return sum(feed.listeners for feed in self._feeds.values())

    def end_streams(self) -> None:
        """Let go of all who listen."""
        with self._lock:
            for feed in self._feeds.values():
                feed.end()

    def close(self) -> None:
        """Finish what waits."""
        self.writer.close()
        self.store.close()
