"""What people do with a campaign beside the work: pause, close, archive, rename, note, change."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

from stopwise.campaign import spec as specs
from stopwise.campaign.changes import all_changes, changes, myself
from stopwise.campaign.errors import CampaignExists, NotPossible
from stopwise.campaign.names import LONGEST_NAME, new_name, note_text
from stopwise.campaign.storage.store import Store
from stopwise.campaign.storage.transaction import Transaction
from stopwise.campaign.work import Work
from stopwise.core.errors import BadArgument

UNCHANGED: Any = object()  # the budget may become None


class Lifecycle(Work):
    """The part of a campaign that people use. ``actor`` is who does it: user@host, unless given.

    Each method is an event of the record, and says whether anything had to be changed.
    """

    def pause(self, reason: str = "", actor: str | None = None) -> bool:
        """No new asks until ``resume``; samples in flight are still told, and count."""
        why = note_text("reason", reason)
        with self._replica.change() as (transaction, _):
            self._refuse_if_over(transaction, "pause")
            now = changes(transaction.changes)
            return not now.paused and self._add(transaction, "paused", why, actor)

    def resume(self, actor: str | None = None) -> bool:
        """Asks are answered again."""
        with self._replica.change() as (transaction, _):
            self._refuse_if_over(transaction, "resume")
            now = changes(transaction.changes)
            return now.paused and self._add(transaction, "resumed", "", actor)

    def close(self, reason: str, actor: str | None = None) -> bool:
        """The end without an answer, for good: what is told later is kept, and does not count."""
        if not note_text("reason", reason).strip():
            raise BadArgument("reason", reason, "a text that says why there will be no answer")
        with self._replica.change() as (transaction, _):
            if changes(transaction.changes).closed:
                return False
            self._refuse_if_over(transaction, "close")
            return self._add(transaction, "closed", reason, actor)

    def archive(self, actor: str | None = None) -> bool:
        """Out of the lists, and no new asks; everything is kept."""
        with self._replica.change() as (transaction, _):
            now = changes(transaction.changes)
            return not now.archived and self._add(transaction, "archived", "", actor)

    def unarchive(self, actor: str | None = None) -> bool:
        """Back into the lists."""
        with self._replica.change() as (transaction, _):
            now = changes(transaction.changes)
            return now.archived and self._add(transaction, "unarchived", "", actor)

    def note(self, text: str, actor: str | None = None) -> bool:
        """A remark for the record."""
        if not note_text("text", text).strip():
            raise BadArgument("text", text, "a text")
        with self._replica.change() as (transaction, _):
            return self._add(transaction, "noted", text, actor)

    def rename(self, name: str, actor: str | None = None) -> bool:
        """Another name; workers that know the old one still reach the campaign by it."""
        new, who = new_name(name), _who(actor)
        with self._replica.change() as (transaction, _):
            old = transaction.head.name
            if new == old:
                return False
            if not transaction.rename(new):
                raise CampaignExists(
                    f"{new!r} is, was, or looks like the name of another campaign. Choose another."
                )
            return self._add(transaction, "renamed", json.dumps({"from": old, "to": new}), who)

    def change(
        self,
        budget: int | None = UNCHANGED,
        minimum: int = UNCHANGED,
        labels: Mapping[str, str] | None = None,
        actor: str | None = None,
        losses: str = UNCHANGED,
    ) -> bool:
        """Another budget (None: no limit), minimum of samples an arm, or label for some arms.

        ``losses="at random"`` leaves out values that have not come, where the spec counts them as the
        worst that they could be: say so only if their losses have nothing to do with the values.
        """
        if labels is not None and not isinstance(labels, Mapping):
            raise BadArgument("labels", labels, "a dict from labels to new labels")
        with self._replica.change() as (transaction, session):
            self._refuse_if_over(transaction, "change")
            given: dict[str, Any] = {"budget": budget, "minimum": minimum, "losses": losses}
            wanted = {key: value for key, value in given.items() if value is not UNCHANGED}
            if labels:
                wanted["arms"] = _relabelled(self.labels, labels)
            new = specs.changed(self.spec, wanted)
            if new == self.spec:
                return False
            self._add(transaction, "changed", json.dumps(specs.difference(self.spec, new)), actor)
            if new.losses != session.losses:
                session.assume_random()
            session.require(new.minimum)
            if session.decision is not None and self._replica.decision is None:
                self._decide(transaction, session)
            return True

    def add_arm(self, label: str, actor: str | None = None) -> int:
        """One arm more, and its number: in a campaign whose spec has ``room`` for it."""
        with self._replica.change() as (transaction, _):
            self._refuse_if_over(transaction, "add")
            room, arms = self.spec.table.get("room"), len(self.labels)
            if self.spec.pairs is not None:
                raise NotPossible(
                    f"campaign {self.name!r} is paired: earlier items have no result of a new arm."
                )
            if room is None or arms >= room:
                raise NotPossible(
                    f"campaign {self.name!r} has room for {room or arms} arms, and {arms} of them. The "
                    "evidence that it asks for was computed before the first sample for so many ways to "
                    "be wrong; with one more the guarantee would be lost. Say room = ... in a new spec."
                )
            specs.check_label("label", label, self.labels)
            new = specs.changed(self.spec, {"arms": [*self.labels, label]})
            self._add(transaction, "changed", json.dumps({"arms": list(new.labels)}), actor)
            self._replica.derive(transaction)
            return arms

    def _add(self, transaction: Transaction, kind: str, note: str, actor: str | None) -> bool:
        """The event, and what it changes."""
        who = _who(actor)
        token = secrets.token_hex(16)
        event = transaction.add(kind, token, None, None, self._clock(), note=note, actor=who)
        transaction.changes = changes(transaction.changes).after(event).to_json()
        self._replica.update(transaction)
        return True

    def _refuse_if_over(self, transaction: Transaction, what: str) -> None:
        decision, now = self._replica.decision, changes(transaction.changes)
        if decision is not None or now.closed:
            why = f"closed ({now.reason})" if decision is None else f"decided ({decision.text})"
            raise NotPossible(f"campaign {self.name!r} is {why}: there is nothing to {what}.")


def _who(actor: str | None) -> str:
    """Who changes something: user@host, unless said."""
    return myself() if actor is None else note_text("actor", actor, LONGEST_NAME)


def _relabelled(old: tuple[str, ...], new: Mapping[str, str]) -> list[str]:
    unknown = [label for label in new if label not in old]
    if unknown:
        shown = ", ".join(map(repr, old[:20]))
        raise BadArgument("labels", unknown[0], f"labels of arms that there are: {shown}")
    return [new.get(label, label) for label in old]


def archive_unreadable(
    name: str, store: Store, actor: str, clock: Callable[[], float] = time.time, back: bool = False
) -> bool:
    """Take a campaign that cannot be opened out of the lists, or ``back``: its spec is not needed."""
    with store.change(name) as transaction:
        now = all_changes(event for part in transaction.parts() for event in part)
        if now.archived != back:
            return False
        kind = "unarchived" if back else "archived"
        event = transaction.add(kind, secrets.token_hex(16), None, None, clock(), actor=actor)
        transaction.changes = now.after(event).to_json()
        transaction.save(transaction.head.decision)
        return True
