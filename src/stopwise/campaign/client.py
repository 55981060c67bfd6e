"""The campaign contract over HTTP, for workers: time-outs, retries, and a spool for tells."""

from __future__ import annotations

import http.client
import json
import os
import random
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from stopwise.campaign import errors
from stopwise.campaign.events import Decision, Event, Receipt, Ticket
from stopwise.campaign.explain import Explanation
from stopwise.campaign.imports.result import Import
from stopwise.campaign.imports.rows import Columns, file_cells
from stopwise.campaign.spool import Spool
from stopwise.campaign.status import Recommendation, Status
from stopwise.campaign.verify import Verification
from stopwise.campaign.waiting import wait
from stopwise.core.errors import BadArgument, StopwiseError

AGAIN = (429, 502, 503, 504)  # answers after which trying again helps


class Client:
    """A service's campaigns, as if they were here.

    ``timeout`` is for one request, ``patience`` for a call with its retries, both in seconds. Tells are
    kept in ``spool`` (a file) until the service has them: a tell that has returned is never lost.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        timeout: float = 10.0,
        patience: float = 30.0,
        spool: str | os.PathLike[str] | None = None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadArgument("url", url, "an address such as http://127.0.0.1:8123")
        self.url, self._parts, self._token = url.rstrip("/"), parts, token
        self._timeout, self._patience = timeout, patience
        self._connection: http.client.HTTPConnection | None = None
        self.spool = Spool(_default_spool() if spool is None else Path(spool))

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def names(self) -> list[str]:
        """All campaigns, newest first."""
        return [each["name"] for each in self.call("GET", "/api/campaigns")]

    def create(self, spec: Mapping[str, Any], name: str) -> RemoteCampaign:
        """A new campaign; the same one if it is there already, with the same spec."""
        made = self.call("POST", "/api/campaigns", {"name": name, "spec": dict(spec)})
        return RemoteCampaign(self, made["name"])

    def open(self, name: str) -> RemoteCampaign:
        """A campaign that is there."""
        found = RemoteCampaign(self, name)
        found.status()
        return found

    def flush(self) -> int:
        """Send what waits in the spool; how many are still waiting (the service is away).

        A warning says if samples came after their lease: they are on record, and do not count.
        """
        late = 0
        for held in self.spool.waiting(self.url):
            try:
                path = f"/api/campaigns/{quote(held.campaign, safe='')}/tell"
                told = self.call("POST", path, {"token": held.token, "value": held.value})
            except errors.StorageError:  # away, or damaged: the tell is kept
                break
            except StopwiseError as error:
                self.spool.refuse(held.place, str(error))
                continue
            self.spool.drop(held.place)
            late += told["late"] and not told["decided"]
        if late:
            warnings.warn(
                f"{late:,} samples were told after their lease: they are on record, and do not count. "
                "Where the service may be away for long, ask with a longer lease.",
                stacklevel=2,
            )
        return len(self.spool.waiting(self.url))

    def close(self) -> None:
        """Disconnect; what waits in the spool stays there."""
        self._disconnect()
        self.spool.close()

    def call(self, method: str, path: str, body: Any = None, patience: float | None = None) -> Any:
        """A request, tried again with growing pauses while the service is away."""
        until = time.monotonic() + (self._patience if patience is None else patience)
        pause = 0.05
        while True:
            try:
                status, answer = self._send(method, path, body)
                if status < 400:
                    return answer
                if status not in AGAIN:
                    raise _refusal(answer, status)
                reason = (
                    answer.get("message", str(status)) if isinstance(answer, dict) else str(status)
                )
            except (OSError, http.client.HTTPException) as error:
                self._disconnect()
                reason = str(error) or type(error).__name__
            if time.monotonic() + pause > until:
                raise errors.StorageAway(f"{self.url}: does not answer ({reason}). Try again.")
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2.0 * pause, 2.0)

    def _send(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if self._connection is None:
            secure = self._parts.scheme == "https"
            kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
            assert self._parts.hostname is not None
            self._connection = kind(self._parts.hostname, self._parts.port, timeout=self._timeout)
        headers = {"content-type": "application/json", "accept": "application/json"}
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        content = None if body is None else json.dumps(body, allow_nan=False)
        self._connection.request(method, self._parts.path.rstrip("/") + path, content, headers)
        response = self._connection.getresponse()
        text = response.read()
        try:
            return response.status, json.loads(text) if text else None
        except json.JSONDecodeError:
            return response.status, {
                "error": "Refused",
                "message": text[:200].decode("utf-8", "replace"),
            }

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class RemoteCampaign:
    """A campaign behind a service."""

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self._called(name)

    def _called(self, name: str) -> None:
        self.name, self._path = name, f"/api/campaigns/{quote(name, safe='')}"

    def __repr__(self) -> str:
        return f"RemoteCampaign({self.name!r}, {self.client.url!r})"

    def ask(self, n: int = 1, lease: float | None = None) -> list[Ticket]:
        """Tickets for the next samples. (An ask that is repeated may leave tickets to their lease.)"""
        self.client.flush()
        found = self.client.call("POST", f"{self._path}/ask", {"n": n, "lease": lease})
        return [Ticket(**ticket) for ticket in found]

    def tell(self, token: str, value: float) -> Receipt | None:
        """A ticket's sample. None: the service is away; the spool keeps the tell until it is back."""
        sample = _number(value)
        place = self.client.spool.put(self.client.url, self.name, token, sample)
        try:
            body = {"token": token, "value": sample}
            found = self.client.call("POST", f"{self._path}/tell", body)
        except errors.StorageAway:
            return None
        except errors.StorageDamaged:  # the tell is kept for when a backup is in its place
            raise
        except StopwiseError:
            self.client.spool.drop(place)
            raise
        self.client.spool.drop(place)
        return Receipt(**found)

    def record(self, arm: int | str, value: float, token: str | None = None) -> Receipt:
        """A sample that nobody asked for; with a token it is safe to repeat."""
        import secrets

        used = secrets.token_hex(16) if token is None else token
        body = {"arm": arm, "value": _number(value), "token": used}
        return Receipt(**self.client.call("POST", f"{self._path}/record", body))

    def release(self, token: str, reason: str = "") -> bool:
        """The sample will not come."""
        body = {"token": token, "reason": reason}
        return bool(self.client.call("POST", f"{self._path}/release", body)["done"])

    def heartbeat(self, token: str, lease: float | None = None) -> bool:
        """More time for a sample."""
        body = {"token": token, "lease": lease}
        return bool(self.client.call("POST", f"{self._path}/heartbeat", body)["done"])

    def expire(self) -> int:
        """Release the samples whose lease is over, and count what waited for them; how many."""
        return int(self.client.call("POST", f"{self._path}/expire", {})["expired"])

    def _change(self, verb: str, **body: Any) -> bool:
        return bool(self.client.call("POST", f"{self._path}/{verb}", body)["changed"])

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
        return int(self.client.call("POST", f"{self._path}/add", {"label": label})["arm"])

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
        columns, file = Columns(arm, value, id, time), Path(path)
        rows = [
            [cell if cell is None else str(cell) for cell in row]
            for row in file_cells(file, columns)
        ]
        body = {"source": source or file.name, "rows": rows, "id": id is not None}
        body |= {"time": time is not None, "in_order": in_order, "new": new}
        return Import.from_dict(self.client.call("POST", f"{self._path}/import", body))

    def status(self) -> Status:
        """Where the campaign stands."""
        return Status.from_dict(self.client.call("GET", self._path))

    @property
    def decision(self) -> Decision | None:
        """The answer, once there is one."""
        return self.status().decision

    def recommend(self) -> Recommendation:
        """What the data favour now; proven only if there is a decision."""
        return Recommendation.from_dict(self.client.call("GET", f"{self._path}/recommend"))

    def explain(self) -> Explanation:
        """In plain words, and as numbers."""
        return Explanation.from_dict(self.client.call("GET", f"{self._path}/explain"))

    def verify(self) -> Verification:
        """Derive everything anew from the events alone."""
        return Verification.from_dict(self.client.call("GET", f"{self._path}/verify"))

    def events(self, after: int = 0) -> list[Event]:
        """The record, from the first event after this number."""
        found: list[Event] = []
        while True:
            last = found[-1].number if found else after
            more = self.client.call("GET", f"{self._path}/events?after={last}&limit=10000")
            found += [Event(**event) for event in more]
            if len(more) < 10_000:
                return found

    def export(self, path: str | os.PathLike[str]) -> Path:
        """The record as .csv, .jsonl or .parquet, by the file's ending."""
        from stopwise.campaign.export import export

        return export([self.events()], [arm.label for arm in self.status().arms], path)

    def _repr_html_(self) -> str:
        return self.status()._repr_html_()


def _number(value: Any) -> float:
    from stopwise.core import checks

    return checks.finite("value", float(value) if isinstance(value, bool) else value)


def _refusal(answer: Any, status: int) -> StopwiseError:
    """The error that the service names."""
    found = answer if isinstance(answer, dict) else {}
    kind, message = found.get("error", "Refused"), found.get("message", f"status {status}")
    if kind == "CampaignDecided" and found.get("decision"):
        decision = Decision.from_dict(found["decision"])
        return errors.CampaignDecided("", decision, message)
    maker = getattr(errors, str(kind), None)
    if isinstance(maker, type) and issubclass(maker, StopwiseError):
        return maker(message)
    return errors.Refused(f"{kind}: {message}")


def _default_spool() -> Path:
    root = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(root) / "stopwise" / "spool.db"
