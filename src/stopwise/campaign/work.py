"""What workers do with a campaign: ask, tell, release, heartbeat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from stopwise import __version__
from stopwise.campaign.changes import Changes, changes
from stopwise.campaign.errors import (
    BudgetSpent,
    CampaignClosed,
    CampaignDecided,
    CampaignPaused,
    Conflict,
    NothingToAsk,
    TooManyWait,
    UnknownToken,
)
from stopwise.campaign.events import WAITS, Decision, Event, Receipt, Ticket, item_note
from stopwise.campaign.names import is_token, new_tokens, note_text, token_text
from stopwise.campaign.pairs import tie_words, why_nothing
from stopwise.campaign.replay import KINDS
from stopwise.campaign.replica import Replica
from stopwise.campaign.samples import Sample, attempt, sample_value
from stopwise.campaign.spec import AnySession, CampaignSpec
from stopwise.campaign.storage.store import Store
from stopwise.campaign.storage.transaction import Past, Transaction
from stopwise.core import checks
from stopwise.core.errors import BadArgument, StopwiseError

LEASE = 3600.0  # seconds that a sample may take, unless somebody says otherwise
# once one is back: so many times the longest so far, at least a minute and at most a day
TIMES, SHORTEST, LONGEST = 10.0, 60.0, 86_400.0
LONGEST_GIVEN = 1e9  # about 32 years
MOST = 10_000  # tickets of one ask
MOST_PENDING = 100_000  # samples in flight or waiting: the state that is stored has all of them
DECISION = "decision"  # the token of that event


class Work:
    """The part of a campaign that workers use."""

    def __init__(
        self,
        name: str,
        store: Store,
        spec: CampaignSpec,
        clock: Callable[[], float],
        changed: str | None = None,
    ) -> None:
        self._store, self._clock = store, clock
        self._replica = Replica(name, store, spec, changed)

    @property
    def name(self) -> str:
        """What the campaign is called."""
        return self._replica.name

    @property
    def spec(self) -> CampaignSpec:
        """What is asked, with all changes so far."""
        return self._replica.spec

    @property
    def labels(self) -> tuple[str, ...]:
        """The arms' names."""
        return self.spec.labels

    def now(self) -> float:
        """The campaign's clock, in seconds since 1970."""
        return self._clock()

    def together(self) -> AbstractContextManager[None]:
        """Everything that is done in this block is stored at its end, with one commit.

        A call that refuses its argument changes nothing, and the block may go on. Nothing is
        acknowledged before the block has ended well.
        """
        return self._replica.together()

    def ask(self, n: int = 1, lease: float | None = None) -> list[Ticket]:
        """Tickets for the next samples; each is expected back within ``lease`` seconds."""
        count = checks.whole("n", n, least=1, most=MOST)
        given = _given_lease(lease)
        tickets: list[Ticket] = []
        with self._replica.change() as (transaction, session):
            self._expire(transaction, session)
            now = changes(transaction.changes)
            if not (self._over(transaction) or now.paused or now.archived):
                until = self._lease(transaction, given)
                tickets = self._tickets(transaction, session, count, until)
        if not tickets:  # what has expired is stored, and may have decided
            self._refuse_if_decided()
            self._refuse_if_not_running(now)
            raise NothingToAsk(why_nothing(self.name, session))
        return tickets

    def _tickets(
        self, transaction: Transaction, session: AnySession, count: int, until: float
    ) -> list[Ticket]:
        self._refuse_if_crowded(session, count)
        count, now = self._affordable(session, count), self._clock()
        first, labels, tickets = transaction.last + 1, self.labels, []
        arms = session.asks(count, transaction.last)
        tokens = new_tokens(first, len(arms))
        for number, (token, arm) in enumerate(zip(tokens, arms, strict=True), first):
            item = session.item(number)
            note = "" if item is None else item_note(item)
            transaction.add("asked", token, arm, until, now, note=note)
            transaction.open_lease(token, arm, now + until)
            tickets.append(Ticket(token, arm, labels[arm], item))
        return tickets

    def _lease(self, transaction: Transaction, given: float | None) -> float:
        """As given; else an hour; else, once samples are back, much longer than any of them took."""
        if given is not None:
            return given
        if self.spec.order == "told" or transaction.slowest is None:
            return LEASE
        return min(max(SHORTEST, TIMES * transaction.slowest), LONGEST)

    def _affordable(self, session: AnySession, count: int) -> int:
        if self.spec.budget is None:
            return count
        left = self.spec.budget - session.sent
        if left <= 0:
            raise BudgetSpent(
                f"campaign {self.name!r}: its budget of {self.spec.budget:,} samples is taken or in "
                "flight, without a decision. ``status`` says what the data favour."
            )
        return min(count, left)

    def expire(self) -> int:
        """Release the samples whose lease is over, and count what waited for them; how many."""
        with self._replica.change() as (transaction, session):
            return self._expire(transaction, session)

    def _expire(self, transaction: Transaction, session: AnySession) -> int:
        found = 0
        if not self._over(transaction):
            for late in transaction.expired(self._clock()):
                self._give_up(transaction, session, late.token, "lease expired")
                found += 1
                if self._replica.decision is not None:
                    break
        return found

    def _give_up(self, transaction: Transaction, session: AnySession, token: str, why: str) -> None:
        """A sample will not come: what waited for it may count now, and decide."""
        asked = transaction.about(token).events["asked"]
        assert asked.arm is not None
        transaction.close_lease(token)
        late = self._over(transaction)
        transaction.add("released", token, asked.arm, None, self._clock(), late=late, note=why)
        if not late and session.give_up(asked.arm, asked.number) is not None:
            self._decide(transaction, session)

    def heartbeat(self, token: str, lease: float | None = None) -> bool:
        """More time for a sample; False if it is not in flight any more."""
        given = _given_lease(lease)
        with self._replica.change() as (transaction, session):
            self._expire_if_strict(transaction, session)
            _, waiting = self._asked(transaction, token)
            if waiting:
                until = self._lease(transaction, given)
                transaction.extend(token, self._clock() + until)
            return waiting

    def _expire_if_strict(self, transaction: Transaction, session: AnySession) -> None:
        """In the order asked a sample counts only if it comes within its lease, on every path."""
        if self.spec.order == "asked":
            self._expire(transaction, session)

    def tell(self, token: str, value: float) -> Receipt:
        """A ticket's sample. The same again gives the same receipt; another value is a conflict."""
        sample = sample_value(self.spec.design.family, value)
        (found,) = self.tell_all([(token, sample)])
        if isinstance(found, StopwiseError):
            raise found
        return found

    def tell_all(self, tells: Sequence[tuple[str, float]]) -> list[Receipt | StopwiseError]:
        """Many tickets' samples with one commit: the receipt of each, or why it is refused."""
        given = pairs_of("tells", tells, ("token", "value"))
        with self._replica.change() as (transaction, session):
            transaction.read_about([token for token, _ in given if is_token(token)])
            self._expire_if_strict(transaction, session)
            checked = [attempt(self._checked, transaction, *each) for each in given]
            new: dict[str, Sample] = {}
            for each in checked:
                if isinstance(each, Sample) and "told" not in transaction.about(each.token).events:
                    new.setdefault(each.token, each)
            self._take(transaction, session, "told", list(new.values()))
            return [
                attempt(self._receipt, transaction, "told", each.token, each.value)
                if isinstance(each, Sample)
                else each
                for each in checked
            ]

    def _checked(self, transaction: Transaction, token: str, value: float) -> Sample:
        sample = sample_value(self.spec.design.family, value)
        past, waiting = self._asked(transaction, token)
        asked = past["asked"]
        assert asked.arm is not None
        if waiting and "told" not in past:  # in time: a late one says how long nobody looked
            took = self._clock() - asked.time
            transaction.slowest = max(took, transaction.slowest or 0.0)
        return Sample(token, asked.arm, sample, waiting, asked.number)

    def release(self, token: str, reason: str = "") -> bool:
        """The sample will not come; False if it is not in flight."""
        why = note_text("reason", reason)
        with self._replica.change() as (transaction, session):
            _, waiting = self._asked(transaction, token)
            if waiting:
                self._give_up(transaction, session, token, why)
            return waiting

    def _take(
        self, transaction: Transaction, session: AnySession, kind: str, new: list[Sample]
    ) -> int:
        """New samples: each counts in its turn, unless the campaign was over before.

        Where losses are at random a sample whose lease was over before is left out, too. Returns
        how many count.
        """
        anyway = kind == "recorded" or self.spec.order == "told" or session.counts_late
        counts = [each for each in new if anyway or each.waiting]
        matter, now, place = 0, self._clock(), 0
        if counts and not self._over(transaction):
            _, arms, samples, waited, numbers = zip(*counts, strict=True)
            matter = session.take(KINDS[kind], arms, samples, waited, numbers)
        for each in new:
            if each.waiting:
                transaction.close_lease(each.token)
            place += anyway or each.waiting
            late = not (anyway or each.waiting) or place > matter
            note = WAITS if not late and each.number in session.queue else ""
            transaction.add(kind, each.token, each.arm, each.value, now, late=late, note=note)
            if place == matter and not late and session.decision is not None:
                self._decide(transaction, session)
        return matter

    def _decide(self, transaction: Transaction, session: AnySession) -> None:
        assert session.decision is not None
        crossing, number = session.decision, transaction.last + 1
        usual = self.spec.design.problem.answer_text(crossing.answer, self.labels)
        words = tie_words(session, self.labels) or usual
        decision = Decision(
            *(crossing.answer, words, crossing.evidence, crossing.threshold, crossing.samples),
            *(number, self.spec.key, __version__),
        )
        self._replica.decide(decision)
        text = decision.to_json()
        transaction.add("decided", DECISION, None, crossing.evidence, self._clock(), note=text)

    def _receipt(self, transaction: Transaction, kind: str, token: str, sample: float) -> Receipt:
        """For what is on record: the same, however often it is told."""
        event = transaction.about(token).events[kind]
        if event.value != sample:
            raise other_value(event, sample)
        assert event.arm is not None
        known = self._replica.decision
        decided = known is not None and known.number <= event.number + 1
        return Receipt(
            *(event.number, event.token, event.arm, sample, event.late, decided),
            waiting=event.note == WAITS,
        )

    def _refuse_if_decided(self) -> None:
        if self._replica.decision is not None:
            raise CampaignDecided(self.name, self._replica.decision)

    def _over(self, transaction: Transaction) -> bool:
        """Whether nothing counts any more."""
        return self._replica.decision is not None or changes(transaction.changes).closed

    def _refuse_if_not_running(self, now: Changes) -> None:
        why = f" ({now.reason})" if now.reason else ""
        if now.closed:
            raise CampaignClosed(f"campaign {self.name!r} was closed without an answer{why}.")
        if now.paused or now.archived:
            word, verb = ("paused", "resume") if now.paused else ("archived", "unarchive")
            raise CampaignPaused(f"campaign {self.name!r} is {word}{why}: {verb} it to go on.")

    def _refuse_if_crowded(self, session: AnySession, count: int) -> None:
        if len(session.queue) + count > MOST_PENDING:
            raise TooManyWait(
                f"campaign {self.name!r}: {len(session.queue):,} samples are in flight or wait for an "
                "earlier one. Try again when its lease is over, or release it."
            )

    def _asked(self, transaction: Transaction, token: str) -> Past:
        past = transaction.about(token_text(token))
        if "asked" not in past.events:
            raise UnknownToken(
                f"campaign {self.name!r}: no ask gave the token {token!r}. Samples that nobody asked "
                "for are recorded by their arm (record)."
            )
        return past


def _given_lease(lease: Any) -> float | None:
    if lease is None:
        return None
    seconds = checks.positive("lease", lease)
    if seconds > LONGEST_GIVEN:
        raise BadArgument("lease", lease, f"a number of seconds above 0, at most {LONGEST_GIVEN:g}")
    return seconds


def pairs_of(name: str, given: Any, parts: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """A list of tuples that have these parts."""
    shape = f"({', '.join(parts)})"
    found = checks.listed(name, given, f"a list of {shape}")
    for place, each in enumerate(found):
        if not isinstance(each, list | tuple) or len(each) != len(parts):
            raise BadArgument(f"{name}[{place}]", each, shape)
    return [tuple(each) for each in found]


def other_value(there: Event, sample: float) -> Conflict:
    """Another value was told under the token."""
    return Conflict(
        f"token {there.token!r}: {there.value!r} was told (event {there.number}); now {sample!r}. "
        "The first stands; samples are not corrected."
    )
