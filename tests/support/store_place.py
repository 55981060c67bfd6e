"""A storage under test, and what all checks of it share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

from stopwise.campaign.campaign import Campaign
from stopwise.campaign.events import Event, Ticket
from stopwise.campaign.replay import replay
from stopwise.campaign.storage.hashes import opened_state
from stopwise.campaign.storage.store import Store

LABELS = ("old page", "neue Seite: größer", "新しいページ 🎯")
COINS = {"question": "best-arm", "arms": list(LABELS), "family": "bernoulli", "delta": 0.05}
NORMAL = {**COINS, "family": {"kind": "gaussian", "variance": 1}, "delta": 0.1}


class Place:
    """A storage, campaigns in it, and a clock that stands still unless told otherwise."""

    def __init__(self, where: str | Callable[[], Store]) -> None:
        self._opened: list[Store] = []
        self._where = where
        self.now = 1_000_000.25

    def store(self) -> Store:
        """Another way in; in memory there is only one."""
        if callable(self._where):
            return self._where()
        if self._where != "memory:" or not self._opened:
            self._opened.append(Store(self._where))
        return self._opened[-1]

    def create(self, spec: Mapping[str, Any], name: str | None = None) -> Campaign:
        """A campaign that there was not."""
        called = f"check {token_hex(6)}" if name is None else name
        return Campaign.create(spec, self.store(), called, clock=lambda: self.now)

    def open(self, name: str) -> Campaign:
        """Another hand on a campaign."""
        return Campaign.open(name, self.store(), clock=lambda: self.now)

    def close(self) -> None:
        """Let go of connections."""
        for store in self._opened:
            store.close()


@contextmanager
def refused(kind: type[Exception], *parts: str) -> Iterator[list[Any]]:
    """The block raises this, with these words."""
    caught: list[Any] = []
    try:
        yield caught
    except kind as error:
        caught.append(error)
    assert caught, f"{kind.__name__} was not raised"
    missing = [part for part in parts if part not in str(caught[0])]
    assert not missing, f"{kind.__name__} does not say {missing}: {caught[0]}"


@contextmanager
def untouched(campaign: Campaign) -> Iterator[None]:
    """The block writes nothing."""
    before = campaign.events(), campaign.status()
    yield
    after = campaign.events(), campaign.status()
    assert after == before, f"something was written: {before} became {after}"


def one(campaign: Campaign, lease: float | None = None) -> Ticket:
    """The next ticket."""
    (ticket,) = campaign.ask(lease=lease)
    return ticket


def agree(*hands: Campaign) -> list[Event]:
    """Every hand sees the same record, which gives the state that is stored."""
    record = hands[0].events()
    created = hands[0]._replica.base  # the record has all changes since
    session = created.session()
    replay(session, [record], spec=created)
    for hand in hands:
        assert hand.events() == record, "two hands see different records"
        found = hand.status()
        assert tuple(arm.samples for arm in found.arms) == tuple(map(int, session.counts))
        assert found.events == len(record)
        assert hand.verify().agrees, hand.verify()
    with hands[0]._store.look(hands[0].name) as transaction:
        state = transaction.state()
        last, content = (0, b"") if state is None else opened_state(state) or (-1, b"")
        assert last >= 0, "the stored state was changed"
        other = last == len(record) > 0 and content != session.dump()
        assert not other, "the stored state is another one"
    return record
