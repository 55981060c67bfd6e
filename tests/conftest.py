"""Fixtures that tests of several rooms use."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from postgres import Server, shared


@pytest.fixture(scope="session")
def server() -> Server:
    """The server that the tests share; it may be killed, if it is started again."""
    return shared()


@pytest.fixture
def ctrl_c_is_heard() -> Iterator[None]:
    """A runner in the background may ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs in plain Python, the same to the last digit: tests/engine/test_compiled_runs.py."""
    from stopwise.engine import worker
    from stopwise.engine.loop import run_rounds

    monkeypatch.setattr(worker, "kernel", lambda *_: run_rounds)
