"""A real PostgreSQL server for tests: a cluster of its own, in a folder of its own, on loopback.

Tests that need it fail where PostgreSQL is not installed: they are never skipped.
"""

from __future__ import annotations

import atexit
import functools
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

OWNER = "postgres"  # the server refuses to run as root
PATIENCE = 60.0


def program(name: str) -> str:
    """Where a program of the server is: on the path, or where Debian and Fedora keep them."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda at: int(at.parent.name))
    path = os.pathsep.join(
        [os.environ.get("PATH", ""), *map(str, reversed(places)), "/usr/pgsql/bin"]
    )
    found = shutil.which(name, path=path)
    assert found, (
        f"{name} is missing: these tests need a PostgreSQL server (apt install postgresql)"
    )
    return found


class Server:
    """A cluster; ``kill`` is a crash, ``start`` recovers from it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="stopwise-postgresql-"))
        self.data, self.log = self.folder / "data", self.folder / "log"
        self.password, self.port = secrets.token_hex(8), 0
        self.database: str | None = None
        secret = self.folder / "password"
        secret.write_text(self.password)
        if os.geteuid() == 0:
            shutil.chown(self.folder, OWNER, OWNER)
            shutil.chown(secret, OWNER, OWNER)
        command = [
            *(program("initdb"), "--pgdata", str(self.data), "--username", OWNER, "--no-sync"),
            *("--encoding", "UTF8", "--locale", "C"),
            *("--auth", "scram-sha-256", "--pwfile", str(secret)),
        ]
        made = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=self.folder, **_owner()
        )
        assert made.returncode == 0, made.stderr
        self.process: subprocess.Popen[bytes] | None = None
        atexit.register(self.remove)
        self.start()

    def address(self, database: str = OWNER) -> str:
        """The storage's address."""
        return f"postgresql+psycopg://{OWNER}:{self.password}@127.0.0.1:{self.port}/{database}"

    def fresh(self) -> str:
        """The address of a new, empty database; the one before it is gone: crashes cost its files."""
        old, self.database = self.database, f"test_{secrets.token_hex(6)}"
        with self.connect() as connection:
            if old is not None:
                connection.execute(f"DROP DATABASE {old} WITH (FORCE)".encode())
            connection.execute(f"CREATE DATABASE {self.database}".encode())
        return self.address(self.database)

    def connect(self, database: str = OWNER) -> psycopg.Connection[Any]:
        """A connection in which every statement is its own transaction."""
        return psycopg.connect(
            *(), host="127.0.0.1", port=self.port, user=OWNER, password=self.password,
            dbname=database, autocommit=True,
        )  # fmt: skip

    def start(self) -> None:
        """Start, on the same port as before; returns when it takes connections."""
        self.port = self.port or _free_port()
        settings = {
            "port": self.port, "listen_addresses": "127.0.0.1", "fsync": "on",
            "unix_socket_directories": self.folder, "synchronous_commit": "on",
            "shared_buffers": "32MB", "logging_collector": "off",
        }  # fmt: skip
        options = [f"--{name}={value}" for name, value in settings.items()]
        command = [program("postgres"), "-D", str(self.data), *options]
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.folder, **_owner()
            )
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.connect().close()
                return
            except psycopg.OperationalError:
                ended = self.process.poll() is not None or time.monotonic() > end
                assert not ended, self.log.read_text()[-3000:]
                time.sleep(0.02)

    def kill(self) -> None:
        """kill -9 of the server and of everything it started."""
        assert self.process is not None
        pids = _children(self.process.pid)
        for pid in [self.process.pid, *pids]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(PATIENCE)
        end = time.monotonic() + PATIENCE
        while not all(map(_dead, pids)):
            assert time.monotonic() < end, f"processes {pids} do not die"
            time.sleep(0.005)

    def remove(self) -> None:
        """Stop, and leave nothing behind."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)


def _owner() -> dict[str, Any]:
    """Who runs the server."""
    return {"user": OWNER, "group": OWNER, "extra_groups": []} if os.geteuid() == 0 else {}


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _children(parent: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(int(path.parent.name))
    return found


def _dead(pid: int) -> bool:
    """Whether a process has ended (perhaps nobody has asked yet how)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@functools.cache
def shared() -> Server:
    """One server for all tests of a process."""
    return Server()
