"""``stopwise bench`` with real processes: claims, files, failures, time-outs and Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from stopwise.cli.bench import read_epsilon, seconds, split_commands
from stopwise.cli.main import main
from stopwise.timing.commands import read_command

STOPWISE = [sys.executable, "-c", "from stopwise.cli.main import main; main()", "bench"]
NOISE = "echo $(($(od -An -N2 -tu2 /dev/urandom) + {}))"
LOW, HIGH = NOISE.format(100_000), NOISE.format(500_000)


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*STOPWISE, *arguments], capture_output=True, text=True, check=False)


def test_a_number_that_the_commands_print(tmp_path: Path) -> None:
    files = "--export", str(tmp_path / "found.json"), "--picture", str(tmp_path / "found.svg")
    found = bench("--metric", "printed", *files, "-n", "high", "-n", "low", "--", HIGH, "--", LOW)
    assert found.returncode == 0, found.stderr
    last = found.stdout.strip().splitlines()[-1]
    assert last.startswith("low is ")
    assert "times lower than high (at least " in last
    kept = json.loads((tmp_path / "found.json").read_text())
    assert kept["sentence"] == last
    assert kept["winners"] == ["low"]
    assert all(100_000 <= each < 165_536 for each in kept["results"]["low"])
    assert "</svg>" in (tmp_path / "found.svg").read_text()


def test_json_and_undecided() -> None:
    found = bench("--json", "--budget", "0.2s", "--min-runs", "1000", "true", "true --again")
    assert found.returncode == 1, found.stderr
    assert json.loads(found.stdout)["ended"] == "budget"


def test_setup_and_prepare(tmp_path: Path) -> None:
    where = tmp_path / "log"
    say = [f"--{each}=echo {each} >> {where}" for each in ("setup", "prepare")]
    small = ["--budget", "1ms", "--warmup", "2", "--metric", "user", "--scale", "linear"]
    found = bench(*say, *small, "--epsilon", "1", "true", "true --again")
    assert found.returncode == 1, found.stderr
    assert where.read_text().split() == ["setup", *["prepare"] * 6]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["false", "true"], "false: it ended with exit code 1; --ignore-failure"),
        (["sh -c 'echo gone >&2; exit 3'", "true"], "measures it all the same.\n  | gone"),
        (["no-such-program", "true"], "there is no program 'no-such-program' here"),
        (["/etc/passwd", "true"], "'/etc/passwd' may not be run"),
        (["--timeout", "0.1s", "sleep 60", "true"], "sleep 60: it took longer than 0.1 s"),
        (["--metric", "printed", "echo many", "echo 1"], "should be a number, and is 'many'"),
        (["--metric", "cpu", "true", "false"], "metric: got 'cpu'; allowed: wall, user, printed"),
        (["--budget", "soon", "true", "false"], "budget: got 'soon'; allowed: a time such as 90s"),
        (["--epsilon", "little", "true", "false"], "epsilon: got 'little'"),
        (["--epsilon", "0", "true", "false"], "epsilon: got 0.0; allowed: a number above 0"),
        (["--scale", "linear", "true", "false"], "epsilon: got '2%'; allowed: a number in"),
        (["--scale", "root", "true", "false"], "scale: got 'root'; allowed: log or linear"),
        (["--goal", "most", "true", "false"], "goal: got 'most'; allowed: \"max\" or \"min\""),
        (["--largest", "1", "true", "false"], "largest: got 1.0; allowed: a number above 1.02"),
        (["--picture", "a.txt", "true", "false"], "picture: got 'a.txt'"),
        (["-n", "one", "true", "false"], "name: got ['one']; allowed: 2 names"),
        (["true"], "commands: got ['true']; allowed: two or more"),
        (["true", "true"], "labels: got ['true', 'true']; allowed: two different names"),
        (["'open", "true"], "command: got \"'open\"; allowed: quotes that are closed"),
        (["-N", " ", "true"], "command: got ' '; allowed: a program"),
    ],
)  # fmt: skip
def test_refusals(
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["stopwise", "bench", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    shown = capsys.readouterr().err
    assert shown.startswith("stopwise: ")
    assert said in shown


def test_failures_can_be_ignored() -> None:
    found = bench("-i", "--budget", "0.1s", "--min-runs", "1000", "false", "true")
    assert found.returncode == 1, found.stderr


def test_ctrl_c_ends_the_command_that_runs_and_says_what_is_known() -> None:
    """On a terminal, with the live display; the commands run in groups of their own."""
    reader, writer = pty.openpty()
    commands = "sleep 0.05", "sleep 0.0507", "--min-runs", "100000"
    with subprocess.Popen(
        [*STOPWISE, "--warmup", "0", *commands],
        stdout=subprocess.PIPE, stderr=writer, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a runner may ignore it
    ) as process:  # fmt: skip
        os.close(writer)
        seen = b""
        while b"blocks" not in seen:  # the display has drawn a block
            seen += os.read(reader, 4096)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    os.close(reader)
    assert process.returncode == 130
    assert "(interrupted)" in said
    assert b"of the evidence" in seen


def test_a_command_that_is_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    mark = tmp_path / "late"
    found = bench("--timeout", "0.2s", f"sleep 1 && touch {mark}", "true")
    assert found.returncode == 2
    time.sleep(1.2)
    assert not mark.exists()


def test_spelling() -> None:
    assert split_commands(["a", "--", "b", "c"]) == [["a"], ["b", "c"]]
    assert split_commands(["a x", "b"]) == [["a x"], ["b"]]
    assert read_command(["ls -l 'a b'"], shell=True) == ("ls", "-l", "a b")
    assert read_command(["ls | wc"], shell=True) == ("/bin/sh", "-c", "ls | wc")
    assert read_command(["ls | wc"], shell=False) == ("ls", "|", "wc")
    assert read_command(["ls", "a|b"], shell=True) == ("ls", "a|b")
    assert [seconds("budget", each) for each in ("90", "2m", "1.5h", "200ms")] == [
        90,
        120,
        5400,
        0.2,
    ]
    assert read_epsilon("2%", "log") == read_epsilon("0.02", "log") == 0.02
    wrong: Any = None
    with pytest.raises(sw.BadArgument):
        wrong = seconds("budget", "0s")
    assert wrong is None
