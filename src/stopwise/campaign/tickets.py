"""Tickets of a paired campaign: which result is asked for next, and which are in flight."""

from __future__ import annotations

from bisect import insort
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from stopwise.campaign.order import AT_RANDOM
from stopwise.core.arrays import Ints
from stopwise.engine.design import generator
from stopwise.paired.items import Items


class Place(NamedTuple):
    """One result: of this arm on this item, by its number in the order asked."""

    item: int
    arm: int


@lru_cache(maxsize=64)
def shuffled(seed: int, size: int) -> tuple[Ints, Ints]:
    """The pool's items in the order asked; and when each comes."""
    order = generator(seed, 0).permutation(size)
    return order, np.argsort(order)


class Tickets:
    """Asked in turn: arm by arm the newest item, then the next item.

    The order of arms within an item is random, each item's from a generator of its own. A result that is
    lost is asked for again, before all others, if it is sure to be the same or ``losses`` are at random;
    else it is missing, until it comes.
    """

    def __init__(self, items: Items, seed: int, losses: str = AT_RANDOM) -> None:
        self._items, self._seed = items, seed
        self.asks_again = losses == AT_RANDOM or items.what.deterministic
        self.missing: dict[int, Place] = {}  # lost and not asked for again, by the ask's number
        self.open: dict[int, Place] = {}  # in flight, by the ask's number
        self.told: dict[int, Place] = {}  # the last to come
        self.lost: list[Place] = []  # to be asked again
        self.turn: list[int] = []  # arms that the newest item is still to be asked of

    def __contains__(self, number: int) -> bool:
        """Whether a result that has just come waits for others."""
        return number in self.told and self.wanted(self.told[number])

    def __len__(self) -> int:
        """In flight or waiting, at most: an item under way has no more results than arms."""
        return len(self.open) + self._items.what.arms * len(self._items.open)

    @property
    def waiting(self) -> int:
        """Results that are here, and do not count yet."""
        return sum(int(np.isfinite(row[self._inside]).sum()) for row in self._items.open.values())

    @property
    def _inside(self) -> list[int]:
        return [arm for arm in range(self._items.what.arms) if self._items.is_in(arm)]

    @property
    def first(self) -> int | None:
        """The number of the oldest ask that the next item waits for."""
        awaited = (
            number
            for number, place in self.open.items()
            if place.item == self._items.counted and self.wanted(place)
        )
        return min(awaited, default=None)

    def shown(self, item: int) -> int:
        """The item's number as people know it: in a pool the place before it was shuffled."""
        pool = self._items.what.pool
        return int(shuffled(self._seed, pool)[0][item]) if pool else item

    def hidden(self, shown: int) -> int:
        """The item by its number in the order asked."""
        pool = self._items.what.pool
        return int(shuffled(self._seed, pool)[1][shown]) if pool else shown

    def next(self) -> Place | None:
        """What to ask for now; None if a pool has nothing left."""
        while self.lost:
            place = self.lost.pop(0)
            if self.wanted(place):
                return place
        while True:
            while self.turn:
                place = Place(self._items.asked - 1, self.turn.pop(0))
                if self.wanted(place):
                    return place
            if self._items.exhausted:
                return None
            self._begin()

    def _begin(self) -> None:
        item = self._items.begin()
        arms = generator(self._seed, 1, item).permutation(self._items.what.arms)
        self.turn = [int(arm) for arm in arms if self._items.is_in(int(arm))]

    def wanted(self, place: Place) -> bool:
        """Whether a result would count."""
        return place.item in self._items.open and self._items.is_in(place.arm)

    def send(self, number: int, place: Place) -> None:
        """A result is asked for."""
        self.open[number] = place

    def send_as(self, number: int, asked: Place) -> Place | None:
        """The same as the record has it; what would have been asked for instead, if it is not that."""
        found = self.next()
        if found != asked:
            if found is not None:
                insort(self.lost, found)
            while asked.item >= self._items.asked:
                left = [Place(self._items.asked - 1, arm) for arm in self.turn]
                self.lost = sorted([*self.lost, *left])
                self._begin()
            self.lost = [place for place in self.lost if place != asked]
            if asked.item == self._items.asked - 1:
                self.turn = [arm for arm in self.turn if arm != asked.arm]
        self.send(number, asked)
        return found

    def lose(self, number: int) -> Place | None:
        """A result will not come: it is asked for again, or missing, if it would count."""
        place = self.open.pop(number, None)
        if place is not None and self.wanted(place):
            if self.asks_again:
                insort(self.lost, place)
            else:
                self.missing[number] = place
                self._items.release(*place)
        return place

    def assume_random(self) -> None:
        """Losses have nothing to do with results: what is missing, and would count, is asked again."""
        self.asks_again = True
        for place in self.missing.values():
            if self.wanted(place):
                self._items.lost.discard(place)
                insort(self.lost, place)
        self.missing = {}

    def come(self, number: int) -> Place | None:
        """A result has come; None if it was neither in flight nor missing."""
        place = self.open.pop(number, None) or self.missing.pop(number, None)
        if place is not None:
            self.told[number] = place
        return place
