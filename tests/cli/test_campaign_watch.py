"""``stopwise status --watch``: redrawn until the decision, and Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

import stopwise as sw
from shells import Shell
from stopwise.cli import watch


def test_watch_prints_changes_where_it_cannot_redraw(
    quick: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = iter([("A", 0.0), None, ("B", 1.0)])

    def sleep(seconds: float) -> None:
        assert seconds == 0.5
        if (sample := next(samples)) is not None:
            sw.Campaign.open("quick").record(*sample)

    monkeypatch.setattr(watch.time, "sleep", sleep)
    ran = quick("status", "quick", "--watch", "--every", "0.5")
    assert ran.code == 0
    assert [line.split(";")[0] for line in ran.out.splitlines()] == [
        "quick: running, 0 samples, 0 in flight",
        "quick: running, 1 samples, 0 in flight",
        "quick: decided, 2 samples, 0 in flight",
    ]
    again = quick("status", "quick", "--watch", "--json")
    assert [json.loads(line)["state"] for line in again.out.splitlines()] == ["decided"]


def test_watch_redraws_until_the_decision(quick: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    real, calls = sw.Campaign.status, []

    def status(campaign: sw.Campaign) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise sw.StorageAway("the storage took a nap")
        return real(campaign)

    samples = iter([("A", 0.0), None, ("B", 1.0)])

    def sleep(_: float) -> None:
        if (sample := next(samples)) is not None:
            sw.Campaign.open("quick").record(*sample)

    monkeypatch.setattr(sw.Campaign, "status", status)
    monkeypatch.setattr(watch.time, "sleep", sleep)
    ran = quick("status", "quick", "--watch")
    assert ran.code == 0
    assert "the storage took a nap" in ran.out
    last = ran.out.rpartition("quick: ")[2]
    assert last.startswith("decided, 2 samples")
    assert "█" * 48 in last
    assert "nap" not in last
    assert ran.out.count("\x1b[?25l") == ran.out.count("\x1b[?25h") == 1  # the cursor is back


def test_the_curve_always_fits() -> None:
    curve = watch.Curve()
    for value in range(1000):
        curve.add(float(value))
        assert len(curve.points) <= watch.WIDTH
    assert curve.points == sorted(curve.points)
    assert curve.points[0] == 0.0
    assert len(curve.line(1000.0)) == len(curve.points) > watch.WIDTH // 2
    assert curve.line(0.0) == ""
    assert curve.line(500.0)[-1] == "█"


@pytest.mark.parametrize("terminal", ["0", "1"])
def test_watch_and_control_c(quick: Shell, monkeypatch: pytest.MonkeyPatch, terminal: str) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", terminal)

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(watch.time, "sleep", interrupt)
    ran = quick("status", "quick", "--watch")
    assert (ran.code, ran.err) == (130, "")
    assert "quick: running" in ran.out


def test_control_c_in_a_real_terminal(quick: Shell) -> None:
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "stopwise.cli.main", "status", "quick", "--watch"]
    environment = {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen(
        command,
        stdout=child,
        stderr=child,
        env=environment,
        # whoever runs the tests in the background has it ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(child)
    seen = b""
    while b"in flight" not in seen:
        seen += os.read(parent, 4096)
    time.sleep(0.1)  # the first picture is drawn, and it waits
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(timeout=60) == 130
    finally:
        process.kill()
    while True:
        try:
            if not (more := os.read(parent, 4096)):
                break
        except OSError:  # how Linux says that the terminal is gone
            break
        seen += more
    os.close(parent)
    assert b"Traceback" not in seen
    assert seen.rfind(b"\x1b[?25h") > seen.rfind(b"\x1b[?25l")
