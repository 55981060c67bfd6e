"""The campaign contract over HTTP, for workers: time-outs, retries, and an outbox for tells."""

from __future__ import annotations

import http.client
import json
import math
import os
import random
import re
import time
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import SplitResult, quote, urlsplit

from stopwise.campaign import errors
from stopwise.campaign.events import Decision, Event, Receipt, Ticket
from stopwise.campaign.explain import Explanation
from stopwise.campaign.imports.result import Import
from stopwise.campaign.imports.rows import Columns, check_columns, check_options, file_cells
from stopwise.campaign.names import campaign_name, note_text, token_text
from stopwise.campaign.spool import Spool
from stopwise.campaign.status import Recommendation, Status
from stopwise.campaign.verify import Verification
from stopwise.campaign.waiting import wait
from stopwise.core import checks
from stopwise.core.errors import BadArgument, StopwiseError

AGAIN = (408, 429, 502, 503, 504)  # answers after which trying again helps
NAMED = (404, 409, 422, 500)  # with these the service names one of our errors
NOT_OURS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
LONGEST_WAIT = 1e6  # seconds that a socket waits, at most
MOST_REFUSALS = 10  # of one campaign's tells: then a flush leaves the rest of them for the next
PAGE = 10_000  # events in one answer
BAD_TELL = re.compile(r"BadArgument: (body\.)?(token|value)\b")
Found = TypeVar("Found")


class Client:
    """A service's campaigns, as if they were here; several threads may share a client.

    ``timeout`` is for one request, ``patience`` for a call with its retries, both in seconds. Tells are
    kept in an outbox, the file ``spool``, until the service has acknowledged them: a tell that has
    returned is never lost.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        timeout: float = 10.0,
        patience: float = 30.0,
        spool: str | os.PathLike[str] | None = None,
    ) -> None:
        self._parts = _address(url)
        self.url, self._token = url.rstrip("/"), _bearer(token)
        self._timeout = checks.positive("timeout", timeout)
        if self._timeout > LONGEST_WAIT:
            raise BadArgument("timeout", timeout, f"at most {LONGEST_WAIT:,.0f} seconds")
        for_ever = isinstance(patience, float) and patience == math.inf
        self._patience = patience if for_ever else checks.not_negative("patience", patience)
        self._idle: list[http.client.HTTPConnection] = []
        self.spool = Spool(_default_spool() if spool is None else checks.path("spool", spool))
        _all.add(self)

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def names(self) -> list[str]:
        """All campaigns, newest first."""
        return self.call(
            "GET", "/api/campaigns", read=lambda found: [str(each["name"]) for each in found]
        )

    def create(self, spec: Mapping[str, Any], name: str) -> RemoteCampaign:
        """A new campaign; the same one if it is there already, with the same spec."""
        if not isinstance(spec, Mapping):
            raise BadArgument("spec", spec, "a dict")
        body = {"name": campaign_name(name), "spec": dict(spec)}
        made = self.call("POST", "/api/campaigns", body, read=lambda found: found["name"])
        return RemoteCampaign(self, made)

    def open(self, name: str) -> RemoteCampaign:
        """A campaign that is there."""
        found = RemoteCampaign(self, name)
        found.status()
        return found

    def flush(self) -> int:
        """Send the tells that wait in the outbox; how many still wait.

        A tell is deleted once there is a receipt for it, and set aside (``spool.refused``) once the
        service has refused the ticket or the value itself. After any other refusal it still waits.
        Warnings say how many tells were refused, and why, and how many samples came after their lease.
        """
        late, final, kept = 0, list[str](), list[str]()
        refusals: Counter[str] = Counter()
        for held in self.spool.all_waiting(self.url):
            if refusals[held.campaign] >= MOST_REFUSALS:
                continue
            try:
                told = self._send_tell(*held[1:])
            except errors.StorageError as error:  # away, or damaged
                if not isinstance(error, errors.StorageAway):
                    kept.append(str(error))
                break
            except StopwiseError as error:
                if _is_final(error):
                    self.spool.refuse(self.url, *held[1:], str(error))
                    final.append(str(error))
                else:
                    refusals[held.campaign] += 1
                    kept.append(f"campaign {held.campaign!r}: {error}")
                continue
            late += told.late and not told.decided
        waiting = self.spool.count(self.url)
        self._warn(late, final, kept, waiting)
        return waiting

    def _warn(self, late: int, final: list[str], kept: list[str], waiting: int) -> None:
        if late:
            warnings.warn(
                f"{late:,} samples were told after their lease: they are on record, and do not count. "
                "Where the service may be away for long, ask with a longer lease.",
                stacklevel=3,
            )
        if final:
            warnings.warn(
                f"{len(final):,} tells were refused for good, the first because: {final[0]} The outbox "
                f"{self.spool.path} keeps them: Client.spool.refused({self.url!r}) lists them.",
                stacklevel=3,
            )
        if kept:
            warnings.warn(
                f"{waiting:,} tells wait in the outbox {self.spool.path}. The service did not take the "
                f"first of them: {kept[0]} They are sent again with the next ask or flush.",
                stacklevel=3,
            )

    def _send_tell(self, campaign: str, token: str, value: float) -> Receipt:
        """Send a tell of the outbox, and delete it there once there is a receipt for it."""

        def receipt(found: Any) -> Receipt:
            made = _receipt(found)
            if (made.token, made.value) != (token, value):
                raise ValueError("a receipt of another tell")
            return made

        path = f"/api/campaigns/{quote(campaign, safe='')}/tell"
        found = self.call("POST", path, {"token": token, "value": value}, read=receipt)
        self.spool.drop(self.url, campaign, token, value)
        return found

    def close(self) -> None:
        """Disconnect; what waits in the outbox stays there."""
        self._disconnect()
        self.spool.close()

    def call(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        patience: float | None = None,
        read: Callable[[Any], Found] = lambda found: found,
    ) -> Found:
        """What ``read`` makes of the answer; tried again with growing pauses while there is none.

        Success is an answer that ``read`` understands: a proxy's page with status 200 is none.
        """
        until = time.monotonic() + (self._patience if patience is None else patience)
        content, pause = _content(body), 0.05
        while True:
            try:
                status, answer = self._send(method, path, content)
            except (OSError, http.client.HTTPException) as error:
                self._disconnect()
                reason = str(error) or type(error).__name__
            else:
                if status < 300:
                    try:
                        return read(json.loads(answer))
                    except NOT_OURS:
                        self._disconnect()
                        reason = (
                            f"status {status}, which is no answer of stopwise: {_start(answer)}"
                        )
                elif status in AGAIN:
                    reason = _message(status, answer)
                else:
                    raise _refusal(status, answer)
            if time.monotonic() + pause > until:
                raise errors.StorageAway(f"{self.url}: does not answer ({reason}). Try again.")
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2.0 * pause, 2.0)

    def _send(self, method: str, path: str, content: str | None) -> tuple[int, bytes]:
        """Status and content of the answer, over a connection that nobody else uses meanwhile."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        headers = {"content-type": "application/json", "accept": "application/json"}
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        try:
            connection.request(method, self._parts.path.rstrip("/") + path, content, headers)
            response = connection.getresponse()
            status, answer = response.status, response.read()
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        if 300 <= status < 400:
            place = response.getheader("location", "another address")
            hint = f"Give the service's own address as url, not {self.url}."
            raise errors.Refused(f"status {status}: the service redirects to {place}. {hint}")
        return status, answer

    def _connect(self) -> http.client.HTTPConnection:
        secure = self._parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        assert self._parts.hostname is not None
        return kind(self._parts.hostname, self._parts.port, timeout=self._timeout)

    def _disconnect(self) -> None:
        """Close the connections that nobody uses."""
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread took the last one
                return
            connection.close()


_all: weakref.WeakSet[Client] = weakref.WeakSet()


def _after_fork() -> None:
    """In the child: connections are the parent's; closing them here leaves them open there."""
    for each in list(_all):
        each._disconnect()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class RemoteCampaign:
    """A campaign behind a service."""

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self._called(campaign_name(name))

    def _called(self, name: str) -> None:
        self.name, self._path = name, f"/api/campaigns/{quote(name, safe='')}"

    def __repr__(self) -> str:
        return f"RemoteCampaign({self.name!r}, {self.client.url!r})"

    def _get(self, what: str, read: Callable[[Any], Found]) -> Found:
        return self.client.call("GET", self._path + what, read=read)

    def _post(self, what: str, body: dict[str, Any], read: Callable[[Any], Found]) -> Found:
        return self.client.call("POST", f"{self._path}/{what}", body, read=read)

    def ask(self, n: int = 1, lease: float | None = None) -> list[Ticket]:
        """Tickets for the next samples. (An ask that is repeated may leave tickets to their lease.)"""
        self.client.flush()
        body = {"n": n, "lease": lease}
        return self._post("ask", body, lambda found: [Ticket(**ticket) for ticket in found])

    def tell(self, token: str, value: float) -> Receipt | None:
        """A ticket's sample. None: the service is away, and the outbox keeps the tell until it is back.

        If the service refuses the ticket or the value, the tell is over. After any other error it still
        waits in the outbox.
        """
        client, told = self.client, (self.name, token_text(token), _number(value))
        new, failure = False, None
        try:
            new = client.spool.put(client.url, *told)
        except errors.StorageError as error:  # such as a full disk: the service may have room
            failure = error
        try:
            return client._send_tell(*told)
        except StopwiseError as error:
            if _is_final(error):
                self._end(told, new, str(error))
                raise
            if failure is not None:
                text = (
                    f"{failure} Nor has the service acknowledged the tell: {error} Tell it again."
                )
                raise errors.StorageError(text) from error
            if isinstance(error, errors.StorageAway):
                return None
            error.args = (f"{error} The tell waits in the outbox {client.spool.path}.",)
            raise

    def _end(self, told: tuple[str, str, float], new: bool, why: str) -> None:
        """A tell is refused for good; one that has returned before is set aside, not deleted."""
        if new:
            self.client.spool.drop(self.client.url, *told)
        else:
            self.client.spool.refuse(self.client.url, *told, why)

    def record(self, arm: int | str, value: float, token: str | None = None) -> Receipt:
        """A sample that nobody asked for; with a token it is safe to repeat."""
        import secrets

        used = secrets.token_hex(16) if token is None else token_text(token)
        body = {"arm": arm, "value": _number(value), "token": used}
        return self._post("record", body, _receipt)

    def release(self, token: str, reason: str = "") -> bool:
        """The sample will not come."""
        body = {"token": token, "reason": reason}
        return self._post("release", body, lambda found: bool(found["done"]))

    def heartbeat(self, token: str, lease: float | None = None) -> bool:
        """More time for a sample."""
        body = {"token": token, "lease": lease}
        return self._post("heartbeat", body, lambda found: bool(found["done"]))

    def expire(self) -> int:
        """Release the samples whose lease is over, and count what waited for them; how many."""
        return self._post("expire", {}, lambda found: int(found["expired"]))

    def _change(self, verb: str, **body: Any) -> bool:
        return self._post(verb, body, lambda found: bool(found["changed"]))

    def pause(self, reason: str = "") -> bool:
        """No new asks until ``resume``; samples in flight still count."""
        return self._change("pause", reason=reason)

    def resume(self) -> bool:
        """Asks are answered again."""
        return self._change("resume")

    def close(self, reason: str) -> bool:
        """The end without an answer, for good."""
        return self._change("close", reason=reason)

    def archive(self) -> bool:
        """Out of the lists; everything is kept."""
        return self._change("archive")

    def unarchive(self) -> bool:
        """Back into the lists."""
        return self._change("unarchive")

    def rename(self, name: str) -> bool:
        """Another name; the old one still leads to the campaign."""
        changed = self._change("rename", name=name)
        self._called(name)
        return changed

    def note(self, text: str) -> bool:
        """A remark for the record."""
        return self._change("note", text=text)

    def add_arm(self, label: str) -> int:
        """One arm more, and its number: in a campaign whose spec has ``room`` for it."""
        return self._post("add", {"label": label}, lambda found: int(found["arm"]))

    def change(self, **wanted: Any) -> bool:
        """Another ``budget`` (None: no limit), ``minimum`` of samples, ``labels``, or ``losses``."""
        return self._change("change", **wanted)

    def wait(self, timeout: float | None = None, every: float = 1.0) -> Status:
        """The status once it is decided, closed or out of budget, or after ``timeout`` seconds."""
        return wait(self, timeout, every)

    def import_results(
        self,
        path: str | os.PathLike[str],
        arm: str = "arm",
        value: str = "value",
        source: str | None = None,
        *,
        id: str | None = None,  # noqa: A002
        time: str | None = None,
        in_order: bool = False,
        new: bool = False,
    ) -> Import:
        """As ``Campaign.import_results``; a file of more than 1 MB goes in where the storage is."""
        columns, file = Columns(arm, value, id, time), checks.path("path", path)
        check_columns(columns)
        check_options(time, in_order)
        name = note_text("source", file.name if source is None else source)
        rows = [
            [cell if cell is None else str(cell) for cell in row]
            for row in file_cells(file, columns)
        ]
        body = {"source": name, "rows": rows, "id": id is not None, "time": time is not None}
        body |= {"in_order": in_order, "new": checks.truth("new", new)}
        return self._post("import", body, Import.from_dict)

    def status(self) -> Status:
        """Where the campaign stands."""
        return self._get("", Status.from_dict)

    @property
    def decision(self) -> Decision | None:
        """The answer, once there is one."""
        return self.status().decision

    def recommend(self) -> Recommendation:
        """What the data favour now; proven only if there is a decision."""
        return self._get("/recommend", Recommendation.from_dict)

    def explain(self) -> Explanation:
        """In plain words, and as numbers."""
        return self._get("/explain", Explanation.from_dict)

    def verify(self) -> Verification:
        """Derive everything anew from the events alone."""
        return self._get("/verify", Verification.from_dict)

    def events(self, after: int = 0) -> list[Event]:
        """The record, from the first event after this number."""
        first = checks.whole("after", after, least=0)
        return [event for page in self._pages(first) for event in page]

    def _pages(self, after: int = 0) -> Iterator[list[Event]]:
        """The same, page by page: however long the record is."""

        def page(found: Any) -> list[Event]:
            made = [Event(**event) for event in found]
            if any(each.number <= after for each in made):
                raise ValueError("events that were read before")
            return made

        while True:
            more = self._get(f"/events?after={after}&limit={PAGE}", page)
            yield more
            if len(more) < PAGE:
                return
            after = more[-1].number

    def export(self, path: str | os.PathLike[str]) -> Path:
        """The record as .csv, .jsonl or .parquet, by the file's ending."""
        from stopwise.campaign.export import export

        return export(self._pages(), [arm.label for arm in self.status().arms], path)

    def _repr_html_(self) -> str:
        return self.status()._repr_html_()


def _number(value: Any) -> float:
    return checks.finite("value", float(value) if isinstance(value, bool) else value)


def _receipt(found: Mapping[str, Any]) -> Receipt:
    """A receipt, also one with more fields, of a newer service."""
    return Receipt(**{name: found[name] for name in Receipt._fields if name in found})


def _address(url: Any) -> SplitResult:
    """The parts of a service's address."""
    try:
        if not isinstance(url, str):
            raise ValueError
        parts = urlsplit(url)
        _ = parts.port, (parts.hostname or "").encode("idna")  # ValueError if they cannot be
        path = parts.path
        good = parts.scheme in ("http", "https") and parts.hostname and path.isascii()
        if not good or not url.isprintable() or " " in url:
            raise ValueError
    except ValueError:
        raise BadArgument("url", url, "an address such as http://127.0.0.1:8123") from None
    return parts


def _bearer(token: Any) -> str | None:
    """A bearer token that a header can have; it is secret, and so not part of the message."""
    if token is None:
        return None
    if isinstance(token, str) and token.isascii() and token.isprintable():
        return token
    raise BadArgument("token", "...", "None, or a text of printable ASCII characters")


def _content(body: dict[str, Any] | None) -> str | None:
    """A request's content; what JSON does not have is refused by its name."""
    if body is None:
        return None
    try:
        return json.dumps(body, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        for name, value in body.items():
            try:
                json.dumps(value, allow_nan=False)
            except (TypeError, ValueError, RecursionError):
                allowed = "texts, finite numbers, lists and tables, as JSON has them"
                raise BadArgument(name, value, allowed) from None
        raise


def _is_final(error: StopwiseError) -> bool:
    """Whether a tell is refused for its ticket or its value, so that it need not be sent again."""
    if isinstance(error, errors.UnknownToken | errors.Conflict):
        return True
    return isinstance(error, errors.Refused) and bool(BAD_TELL.match(str(error)))


def _start(answer: bytes) -> str:
    return repr(answer[:80].decode("utf-8", "replace")) if answer else "nothing"


def _table(answer: bytes) -> dict[str, Any]:
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _message(status: int, answer: bytes) -> str:
    found = _table(answer).get("message")
    return found if isinstance(found, str) else f"status {status}: {_start(answer)}"


def _refusal(status: int, answer: bytes) -> StopwiseError:
    """The error that the service names."""
    found, message = _table(answer), _message(status, answer)
    kind = found.get("error")
    if not isinstance(kind, str) or (kind == "BadArgument" and status != 422):
        return errors.Refused(message)
    if kind == "CampaignDecided":
        with suppress(*NOT_OURS):
            return errors.CampaignDecided("", Decision.from_dict(found["decision"]), message)
    # 401 is about a bearer token, though the service calls one that it does not know UnknownToken
    maker = getattr(errors, kind, None) if status in NAMED and kind != "CampaignDecided" else None
    if isinstance(maker, type) and issubclass(maker, StopwiseError):
        return maker(message)
    return errors.Refused(f"{kind}: {message}")


def _default_spool() -> Path:
    root = os.environ.get("XDG_STATE_HOME")
    try:
        return Path(root or Path.home() / ".local" / "state") / "stopwise" / "spool.db"
    except RuntimeError as error:
        hint = "Name a file for the outbox: Client(..., spool=...)."
        raise errors.StorageError(f"there is no home folder ({error}). {hint}") from error
