"""A real service in a process of its own."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SPEC = {
    "question": {"kind": "best-arm", "epsilon": 0.05},
    "arms": ["plain", "<script>alert(1)</script>"],
    "family": "bernoulli",
    "delta": 0.1,
}
JSON = {"content-type": "application/json"}
SCRIPT = "from stopwise.cli.main import main; main()"


class Service:
    """``stopwise serve`` that can be killed and started again at the same address."""

    def __init__(self, storage: str | None, folder: Path, *options: str, port: int = 0) -> None:
        self.storage, self.folder, self.options, self.port = storage, folder, options, port
        self.lines: list[str] = []
        self.start()

    def start(self) -> None:
        """Start, and wait until it listens."""
        named = [] if self.storage is None else [self.storage]
        command = [sys.executable, "-c", SCRIPT, "serve", *named, "--port", str(self.port)]
        self.process = subprocess.Popen(
            [*command, *self.options], stderr=subprocess.PIPE, text=True, cwd=self.folder,
            env={**os.environ, "XDG_STATE_HOME": str(self.folder)},
        )  # fmt: skip
        assert self.process.stderr is not None
        first = self.process.stderr.readline()
        found = re.search(r"serves (\S+) at (http://\S+?:(\d+)) ", first)
        if not found:
            raise RuntimeError(first + self.process.stderr.read())
        self.said = first
        self.named, self.url, self.port = found[1], found[2], int(found[3])
        self.reader = threading.Thread(target=self._drain, daemon=True)
        self.reader.start()

    def _drain(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """As systemd does."""
        self.process.terminate()
        return self.process.wait(timeout=60)


@contextmanager
def serving(storage: str | None, folder: Path, *options: str) -> Iterator[Service]:
    """A service, and its end."""
    service = Service(storage, folder, *options)
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.kill()


def send(
    service: Service,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, dict[str, str], Any]:
    """One request, as it stands."""
    line = http.client.HTTPConnection("127.0.0.1", service.port, timeout=120)
    line.request(method, path, body, {} if headers is None else headers)
    answer = line.getresponse()
    text = answer.read()
    line.close()
    kind = answer.getheader("content-type", "")
    found = json.loads(text) if kind.startswith("application/json") else text
    return answer.status, {k.lower(): v for k, v in answer.getheaders()}, found


def until(true: object, seconds: float = 60.0) -> None:
    """Wait for something."""
    assert callable(true)
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)
