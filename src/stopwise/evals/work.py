"""Which calls to make next, and what they brought: in memory, or by a durable campaign."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.errors import CampaignDecided, CampaignExists, NothingToAsk
from stopwise.campaign.events import Event, Ticket, item_of
from stopwise.campaign.pairs import next_item
from stopwise.core.errors import BadArgument, StopwiseError
from stopwise.evals.order import order_of, recorded_order
from stopwise.evals.report import EvalReport
from stopwise.evals.score import Scored
from stopwise.paired.session import PairedSession, same

LEASE, BEAT = 600.0, 60.0  # seconds: a lease, and how often this process renews it while it works
CHECKED = 5  # scores of each option that are made twice, if they are said to be deterministic


class EvalFailed(StopwiseError):
    """A score could not be had; ``report`` says what was known by then."""

    def __init__(
        self, label: str, place: int, error: BaseException, report: EvalReport, advice: str = ""
    ) -> None:
        self.report = report
        super().__init__(f"{label} on items[{place}]: {type(error).__name__}: {error}{advice}")


class NotDeterministic(StopwiseError):
    """A score that was made again is another number: nothing is claimed about just these items."""


class Call(NamedTuple):
    """An option on an item: by its place in the list, and in the order of the comparison."""

    place: int
    arm: int
    item: int
    token: str = ""
    twice: bool = False  # whether it is made again, to see that it is the same


class Work:
    """Calls in memory. Items are in a random order of their own."""

    advice = (
        ". Nothing is kept: with a storage and a name the same call could go on from here. A question "
        "that an option cannot answer needs a score, such as 0: return one."
    )
    beat: float | None = None  # seconds between two calls of ``keep``

    def __init__(
        self, options: Any, items: Sequence[Any], session: PairedSession, workers: int, seed: int
    ) -> None:
        named = options if isinstance(options, Mapping) else {str(each): each for each in options}
        self.labels, self.options = list(named), list(named.values())
        self.items, self.session, self.workers = items, session, workers
        self.order = order_of(seed, [len(items)])
        self.calls = [0] * len(self.labels)
        self.warnings: list[str] = []
        self._retried: Counter[str] = Counter()
        self._begun: Counter[int] = Counter()  # calls of each arm in this process
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
                return self._begin(call)
        return None

    def _begin(self, call: Call) -> Call:
        """The first calls of each option are made twice, if scores are said to be deterministic."""
        self._begun[call.arm] += 1
        early = self._begun[call.arm] <= CHECKED
        return call._replace(twice=self.session.deterministic and early)

    def arguments(self, call: Call) -> tuple[Any, Any]:
        """Of the function that scores."""
        return self.options[call.arm], self.items[call.place]

    def told(self, call: Call, found: Scored) -> None:
        """A score has come."""
        self._retried[self.labels[call.arm]] += found.failures
        try:
            if isinstance(found.value, complex):
                raise TypeError(f"a score is a real number, not {found.value!r}")
            value = float(found.value)
            if call.twice and not same(value, float(found.again)):
                raise NotDeterministic(
                    f"scored {value:g}, then {float(found.again):g}: the scores are random, and an "
                    "answer about just these items would be about luck. Say deterministic=False (the "
                    "default): the answer is then about items like these"
                )
            self._tell(call, value)
        except NotDeterministic as error:
            self.refute(error)
            raise self.failed(call, error) from error
        except (TypeError, ValueError) as error:
            raise self.failed(call, error) from error

    def refute(self, error: NotDeterministic) -> None:
        """Scores are not deterministic: this comparison is over."""

    def _tell(self, call: Call, value: float) -> None:
        self.session.tell(call.item, call.arm, value)

    def failed(self, call: Call, error: BaseException) -> EvalFailed:
        """The error for a score that could not be had."""
        self.give_up([call])
        advice = "." if isinstance(error, NotDeterministic) else self.advice
        place = self.labels[call.arm], call.place
        return EvalFailed(*place, error, self.report("failed"), advice)

    def give_up(self, calls: Sequence[Call]) -> None:
        """These will not come."""

    def keep(self, calls: Iterable[Call]) -> None:
        """These are still being made."""

    def others_work(self) -> bool:
        """Whether results that are missing here are being made elsewhere."""
        return False

    def progress(self) -> tuple[int, str]:
        """Items so far, and who leads."""
        now = self.session.verdict()
        share = max(0.0, min(1.0, now.evidence / now.level))
        return now.items, f"{self.labels[now.leader]} leads, {share:.0%} of the evidence"

    def report(self, ended: str = "") -> EvalReport:
        """What is known."""
        usual = "decided" if self.decided else "items"
        warnings = [*self.warnings, *self._about_retries()]
        about = ended or usual, self.calls, len(self.items), warnings
        return EvalReport(self.labels, self.session, *about)

    def _about_retries(self) -> list[str]:
        found = +self._retried
        if not found or self.session.deterministic:
            return []
        return [
            f"Scores were made again after a failure ({_counts(found)}). That is sound only if failures "
            "have nothing to do with the answers."
        ]


class StoredWork(Work):
    """Calls by the tickets of a paired campaign: it outlives this process, and others may join.

    Without a ``lease`` a score may take any time: this process renews the leases of its calls.
    """

    advice = (
        ". What was scored is kept: the same call goes on from here. A question that an option cannot "
        "answer needs a score, such as 0: return one."
    )

    def __init__(
        self,
        options: Any,
        items: Sequence[Any],
        session: PairedSession,
        workers: int,
        seed: int,
        campaign: Campaign,
        lease: float | None,
    ) -> None:
        super().__init__(options, items, session, workers, seed)
        self.campaign, self._over = campaign, campaign.decision is not None
        self._lease = LEASE if lease is None else lease
        self.beat, self._kept = BEAT if lease is None else None, time.monotonic()
        grows = not session.what.pool
        self.order, self.warnings = recorded_order(campaign, items, seed, grows)

    @property
    def decided(self) -> bool:
        return self._over

    def next(self) -> Call | None:
        if self._over:
            return None
        try:
            with self.campaign.together():  # nobody else asks between the look and the ask
                with self.campaign.look() as (_, seen):
                    if self._is_past_the_end(seen.session):
                        return None
                (ticket,) = self.campaign.ask(lease=self._lease)
        except CampaignDecided:
            self._over = True
            return None
        except NothingToAsk:
            return None
        return self._begin(self._call(ticket))

    def _is_past_the_end(self, session: Any) -> bool:
        """Whether the next item is none of this list: a sample of a population may end undecided."""
        open_end = session.decision is None and not session.items.what.pool
        return open_end and next_item(session) >= len(self.items)

    def _call(self, ticket: Ticket) -> Call:
        item = ticket.item or 0
        place = item if self.session.what.pool else int(self.order[item])
        return Call(place, ticket.arm, item, ticket.token)

    def _tell(self, call: Call, value: float) -> None:
        self._over = self.campaign.tell(call.token, value).decided

    def refute(self, error: NotDeterministic) -> None:
        self.campaign.close(f"not deterministic: {error}"[:1000])

    def give_up(self, calls: Sequence[Call]) -> None:
        for call in calls:
            self.campaign.release(call.token, "interrupted")

    def keep(self, calls: Iterable[Call]) -> None:
        if self.beat is not None and time.monotonic() >= self._kept + self.beat:
            self._kept = time.monotonic()
            with self.campaign.together():
                for call in calls:
                    self.campaign.heartbeat(call.token, self._lease)

    def others_work(self) -> bool:
        status = self.campaign.status()
        self._over = status.decision is not None
        return not self._over and status.in_flight > 0

    def progress(self) -> tuple[int, str]:
        status = self.campaign.status()
        assert status.pairs is not None
        share = max(0.0, min(1.0, (status.evidence or 0.0) / (status.threshold or 1.0)))
        return status.pairs.items, f"{status.leading}? {share:.0%} of the evidence"

    def report(self, ended: str = "") -> EvalReport:
        """With all results on record, whoever told them."""
        record = self.campaign.events()
        self._read(record)
        self._over = self.campaign.decision is not None
        found = super().report(ended)
        found.warnings = (*self._about_losses(record), *found.warnings)
        return found

    def _read(self, record: Sequence[Event]) -> None:
        """The comparison in memory, from the record; who is settled is as the campaign has it."""
        asked = {event.token: event for event in record if event.kind == "asked"}
        order: dict[int, int] = {}  # items in the order asked
        for event in asked.values():
            order.setdefault(item_of(event) or 0, len(order))
        while self.session.asked < len(order) and not self.session.exhausted:
            self.session.begin()
        self.calls = [0] * len(self.labels)
        with self.campaign.look() as (_, seen):
            items: Any = seen.session
        for event in record:
            ask = asked.get(event.token, event)
            item, arm = order.get(item_of(ask) or 0, 0), ask.arm or 0
            if event.kind == "told" and event.value is not None:
                self.calls[arm] += 1
                if not event.late:
                    self.session.enter(item, arm, event.value)
            elif event.kind == "released" and items.counts_late:
                self.session.release(item, arm)
        self.session.state, self.session.decided = items.items.state, items.items.decided

    def _about_losses(self, record: Sequence[Event]) -> list[str]:
        """Losses are no accident where slow or failed calls have other scores than the rest."""
        late = {event.token for event in record if event.kind == "told"}
        lost = [event for event in record if event.kind == "released" and not event.late]
        found = Counter(self.labels[each.arm or 0] for each in lost if each.token not in late)
        if not found:
            return []
        then = "Each counts as the worst that it could be."
        if self.session.deterministic:
            then = "They were asked again."
        return [
            f"Scores did not come ({_counts(found)}): they failed, were interrupted or took longer than "
            f"their lease. {then}"
        ]


def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{label}: {number:,}" for label, number in found.items())


def open_campaign(
    spec: Mapping[str, Any], storage: str | PathLike[str], name: str | None
) -> Campaign:
    """The campaign of this name; a new one, or the one that an earlier call began."""
    if name is None:
        raise BadArgument("name", name, "a name for the campaign that the storage keeps")
    try:
        return Campaign.create(spec, storage, name)
    except CampaignExists as error:
        if "items" in spec or "items" not in Campaign.open(name, storage).spec.table:
            raise
        raise CampaignExists(
            f"{error} What is on record is about just its items, which takes scores that are the same "
            "whenever they are made: say deterministic=True if they are."
        ) from None
