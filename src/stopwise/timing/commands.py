"""Run a command once and measure it: wall time, user time, or the number that it prints."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import IO, NamedTuple

from stopwise.core.errors import BadArgument, StopwiseError

METRICS = ("wall", "user", "printed")
SHELL = re.compile(r"[|&;<>()$`\\*?\[\]#~={}!\n]")  # what only a shell understands
LAST_LINES = 5


class CommandFailed(StopwiseError):
    """A command could not be started, failed, took too long, or printed no number."""


class Command(NamedTuple):
    """One of the commands: its arguments, and how it is measured."""

    label: str
    arguments: tuple[str, ...]
    metric: str = "wall"
    timeout: float | None = None
    ignore_failure: bool = False


def read_command(given: Sequence[str], shell: bool) -> tuple[str, ...]:
    """The arguments of a command: of one string by a shell where it needs one, and may have it."""
    if len(given) > 1:
        return tuple(given)
    (text,) = given
    if shell and SHELL.search(text):
        return "/bin/sh", "-c", text
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadArgument("command", text, f"quotes that are closed ({error})") from None
    if not words:
        raise BadArgument("command", text, "a program and its arguments")
    return tuple(words)


def measure(command: Command) -> float:
    """One run; how long it took in seconds, or what it printed."""
    printed = command.metric == "printed"
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
        begun = time.perf_counter()
        process = _start(command, output if printed else None, errors)
        wall, user = _wait(command, process, begun)
        if process.returncode != 0 and not command.ignore_failure:
            _fail(command, f"it ended with exit code {process.returncode}", errors)
        if printed:
            return _number(command, output)
    return user if command.metric == "user" else wall


def _start(
    command: Command, output: IO[bytes] | None, errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    nothing = subprocess.DEVNULL
    try:
        return subprocess.Popen(
            command.arguments,
            stdin=nothing,
            stdout=nothing if output is None else output,
            stderr=errors,
            process_group=0,  # what it started ends with it
        )
    except FileNotFoundError:
        _fail(command, f"there is no program {command.arguments[0]!r} here; look at its spelling")
    except PermissionError:
        _fail(command, f"{command.arguments[0]!r} may not be run; is it a program?")
    raise AssertionError  # pragma: no cover


def _wait(command: Command, process: subprocess.Popen[bytes], begun: float) -> tuple[float, float]:
    """Wall and user time. ``Popen.wait`` with a time-out would look only now and then."""
    late = threading.Event()

    def end() -> None:
        late.set()
        _kill(process)

    timer = threading.Timer(command.timeout, end) if command.timeout else None
    if timer:
        timer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
    except BaseException:  # Ctrl-C: the command has its own group and does not see it
        _kill(process)
        process.wait()
        raise
    finally:
        if timer:
            timer.cancel()
    if late.is_set():
        _fail(command, f"it took longer than {command.timeout:g} s (--timeout)")
    return wall, usage.ru_utime


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _fail(command: Command, why: str, errors: IO[bytes] | None = None) -> None:
    said = ""
    if errors is not None:
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()[-LAST_LINES:]
        said = "".join(f"\n  | {line}" for line in lines)
        why += "; --ignore-failure measures it all the same"
    raise CommandFailed(f"{command.label}: {why}.{said}")


def _number(command: Command, output: IO[bytes]) -> float:
    """The last word that was printed."""
    output.seek(0)
    words = output.read().decode(errors="replace").split()
    try:
        return float(words[-1])
    except (IndexError, ValueError):
        last = repr(words[-1]) if words else "nothing"
        _fail(command, f"the last word that it prints should be a number, and is {last}")
    raise AssertionError  # pragma: no cover
