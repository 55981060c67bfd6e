"""Tells that the service has not acknowledged yet, in a file that survives a restart."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import NamedTuple

from stopwise.campaign.errors import StorageError


class Held(NamedTuple):
    """A tell that waits."""

    place: int
    campaign: str
    token: str
    value: float


class Spool:
    """A queue on disk; several processes may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(
                path, timeout=30, check_same_thread=False, isolation_level=None
            )
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("PRAGMA synchronous=FULL")
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS held (place INTEGER PRIMARY KEY, service TEXT NOT NULL, "
                "campaign TEXT NOT NULL, token TEXT NOT NULL, value REAL NOT NULL, refused TEXT)"
            )
        except (OSError, sqlite3.Error) as error:
            raise StorageError(f"{path}: the spool cannot be opened ({error}).") from error

    def put(self, service: str, campaign: str, token: str, value: float) -> int:
        """Keep a tell; it is on disk when this returns."""
        row = (service, campaign, token, value)
        with self._lock:
            try:
                found = self._file.execute(
                    "INSERT INTO held (service, campaign, token, value) VALUES (?, ?, ?, ?)", row
                )
            except sqlite3.Error as error:
                raise StorageError(
                    f"{self.path}: the spool cannot be written ({error})."
                ) from error
            return int(found.lastrowid or 0)

    def drop(self, place: int) -> None:
        """The service has it."""
        with self._lock:
            self._file.execute("DELETE FROM held WHERE place = ?", (place,))

    def refuse(self, place: int, why: str) -> None:
        """The service will not take it: kept for somebody to look at, not sent again."""
        with self._lock:
            self._file.execute("UPDATE held SET refused = ? WHERE place = ?", (why, place))

    def waiting(self, service: str, most: int = 1000) -> list[Held]:
        """What has not been sent, oldest first."""
        with self._lock:
            rows = self._file.execute(
                "SELECT place, campaign, token, value FROM held WHERE service = ? AND refused IS NULL "
                "ORDER BY place LIMIT ?",
                (service, most),
            ).fetchall()
        return [Held(*row) for row in rows]

    def refused(self, service: str) -> list[tuple[str, str, float, str]]:
        """Campaign, token, value and reason of what the service would not take."""
        with self._lock:
            return self._file.execute(
                "SELECT campaign, token, value, refused FROM held WHERE service = ? AND refused "
                "IS NOT NULL ORDER BY place",
                (service,),
            ).fetchall()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
