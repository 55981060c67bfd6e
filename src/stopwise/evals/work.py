"""Which calls to make next, and what they brought: in memory, or by a durable campaign."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.errors import CampaignDecided, NothingToAsk
from stopwise.campaign.events import Ticket, item_of
from stopwise.core.errors import BadArgument, StopwiseError
from stopwise.evals.report import EvalReport
from stopwise.paired.session import PairedSession

PAUSE = 1.0  # seconds between two looks for results that somebody else has in flight


class EvalFailed(StopwiseError):
    """A score could not be had; ``report`` says what was known by then."""

    def __init__(self, label: str, place: int, error: BaseException, report: EvalReport) -> None:
        self.report = report
        super().__init__(f"{label} on items[{place}]: {type(error).__name__}: {error}")


class Call(NamedTuple):
    """An option on an item: by its place in the list, and in the order of the comparison."""

    place: int
    arm: int
    item: int
    token: str = ""


class Work:
    """Calls in memory. Items are in a random order of their own."""

    def __init__(
        self, options: Any, items: Sequence[Any], session: PairedSession, workers: int, seed: int
    ) -> None:
        named = options if isinstance(options, Mapping) else {str(each): each for each in options}
        self.labels, self.options = list(named), list(named.values())
        self.items, self.session, self.workers = items, session, workers
        self.order = np.random.default_rng(seed).permutation(len(items))
        self.calls = [0] * len(self.labels)
        self._waiting: deque[Call] = deque()

    @property
    def decided(self) -> bool:
        """Whether there is an answer."""
        return self.session.decided

    def next(self) -> Call | None:
        """A call for an arm that is in; None if there is nothing to do, now or at all."""
        while not self.decided:
            if not self._waiting:
                ahead = self.session.in_flight >= self.workers  # a slow call holds the others up
                if ahead or self.session.asked >= len(self.items):
                    return None
                item, arms = self.session.ask()
                place = int(self.order[item])
                self._waiting.extend(Call(place, arm, item) for arm in arms)
            call = self._waiting.popleft()
            if self.session.is_in(call.arm):
                self.calls[call.arm] += 1
                return call
        return None

    def arguments(self, call: Call) -> tuple[Any, Any]:
        """Of the function that scores."""
        return self.options[call.arm], self.items[call.place]

    def told(self, call: Call, value: Any) -> None:
        """A score has come."""
        try:
            self._tell(call, float(value))
        except (TypeError, ValueError) as error:
            raise self.failed(call, error) from error

    def _tell(self, call: Call, value: float) -> None:
        self.session.tell(call.item, call.arm, value)

    def failed(self, call: Call, error: BaseException) -> EvalFailed:
        """The error for a score that could not be had."""
        self.give_up([call])
        return EvalFailed(self.labels[call.arm], call.place, error, self.report("failed"))

    def give_up(self, calls: Sequence[Call]) -> None:
        """These will not come."""

    def wait(self) -> bool:
        """Nothing runs here: wait for what runs elsewhere; False if nothing does."""
        return False

    def progress(self) -> tuple[int, str]:
        """Items so far, and who leads."""
        now = self.session.verdict()
        share = max(0.0, min(1.0, now.evidence / now.level))
        return now.items, f"{self.labels[now.leader]} leads, {share:.0%} of the evidence"

    def report(self, ended: str = "") -> EvalReport:
        """What is known."""
        usual = "decided" if self.decided else "items"
        return EvalReport(self.labels, self.session, ended or usual, self.calls)


class StoredWork(Work):
    """Calls by the tickets of a paired campaign: it outlives this process, and others may join."""

    def __init__(
        self,
        options: Any,
        items: Sequence[Any],
        session: PairedSession,
        workers: int,
        seed: int,
        campaign: Campaign,
        lease: float,
    ) -> None:
        super().__init__(options, items, session, workers, seed)
        self.campaign, self._lease = campaign, lease
        self._over = campaign.decision is not None

    @property
    def decided(self) -> bool:
        return self._over

    def next(self) -> Call | None:
        if self._over:
            return None
        try:
            (ticket,) = self.campaign.ask(lease=self._lease)
        except CampaignDecided:
            self._over = True
            return None
        except NothingToAsk:
            return None
        call = self._call(ticket)
        if call is None:  # a sample of a population ends before the answer
            self.campaign.release(ticket.token, "there are no more items")
        return call

    def _call(self, ticket: Ticket) -> Call | None:
        item = ticket.item or 0
        if self.session.what.pool:
            return Call(item, ticket.arm, item, ticket.token)
        if item >= len(self.items):
            return None
        return Call(int(self.order[item]), ticket.arm, item, ticket.token)

    def _tell(self, call: Call, value: float) -> None:
        self._over = self.campaign.tell(call.token, value).decided

    def give_up(self, calls: Sequence[Call]) -> None:
        for call in calls:
            self.campaign.release(call.token, "interrupted")

    def wait(self) -> bool:
        status = self.campaign.status()
        self._over = status.decision is not None
        if self._over or not status.in_flight:
            return False
        time.sleep(PAUSE)
        return True

    def progress(self) -> tuple[int, str]:
        status = self.campaign.status()
        assert status.pairs is not None
        share = max(0.0, min(1.0, (status.evidence or 0.0) / (status.threshold or 1.0)))
        return status.pairs.items, f"{status.leading}? {share:.0%} of the evidence"

    def report(self, ended: str = "") -> EvalReport:
        """With all results on record, whoever told them."""
        self._read()
        self._over = self.campaign.decision is not None
        return super().report(ended)

    def _read(self) -> None:
        """The comparison in memory, from the record."""
        record = self.campaign.events()
        asked = {event.token: event for event in record if event.kind == "asked"}
        order: dict[int, int] = {}  # items in the order asked
        for event in asked.values():
            order.setdefault(item_of(event) or 0, len(order))
        while self.session.asked < len(order) and not self.session.exhausted:
            self.session.begin()
        self.calls = [0] * len(self.labels)
        for event in record:
            if event.kind == "told" and event.value is not None:
                ask = asked[event.token]
                self.calls[ask.arm or 0] += 1
                if not event.late:
                    self.session.enter(order[item_of(ask) or 0], ask.arm or 0, event.value)


def open_campaign(
    spec: Mapping[str, Any], storage: str | PathLike[str], name: str | None
) -> Campaign:
    """The campaign of this name; a new one, or the one that an earlier call began."""
    if name is None:
        raise BadArgument("name", name, "a name for the campaign that the storage keeps")
    return Campaign.create(spec, storage, name)
