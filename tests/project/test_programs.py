"""tools/programs.sh: silent if nothing is missing, installs where it may, and otherwise says how."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "programs.sh"
ALL = ("initdb", "chromium", "nginx", "openssl", "node", "curl", "jq")


class Machine:
    """A folder of made-up programs, which are all that the script finds."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder / "bin", folder / "log"
        self.folder.mkdir()
        self.add("sh", 'exec /bin/sh "$@"')

    def add(self, name: str, does: str = "") -> None:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{does}\n")
        path.chmod(0o755)

    def run(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", str(SCRIPT)], env={"PATH": str(self.folder)}, capture_output=True, text=True
        )

    @property
    def installed(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Everything is there but jq; nobody may install anything."""
    made = Machine(tmp_path)
    for name in ALL[:-1]:
        made.add(name)
    made.add("id", "echo 1000")
    made.add("sudo", "exit 1")
    return made


def apt(machine: Machine) -> None:
    """An apt-get that writes down what it is asked for, and installs jq."""
    jq = f"{machine.folder}/jq"
    machine.add(
        "apt-get",
        f'echo "$@" >> {machine.log}\ncase "$1" in install) echo > {jq}; /bin/chmod +x {jq};; esac',
    )


def test_nothing_missing_nothing_said(machine: Machine) -> None:
    apt(machine)
    machine.add("jq")
    ran = machine.run()
    assert (ran.returncode, ran.stdout, ran.stderr, machine.installed) == (0, "", "", [])


@pytest.mark.parametrize("who", ["root", "sudo"])
def test_what_is_missing_is_installed(machine: Machine, who: str) -> None:
    apt(machine)
    if who == "root":
        machine.add("id", "echo 0")
    else:
        machine.add("sudo", f'echo sudo >> {machine.log}; test "$1" = -n || exec "$@"')
    ran = machine.run()
    assert (ran.returncode, ran.stderr) == (0, "installing what tests and benchmarks need: jq\n")
    assert machine.installed[-2:] == ["update -qq", "install -y -qq jq"]
    assert ("sudo" in machine.installed) == (who == "sudo")


def test_who_may_not_install_is_told_the_command(machine: Machine) -> None:
    apt(machine)
    ran = machine.run()
    assert (ran.returncode, ran.stdout, machine.installed) == (1, "", [])
    assert ran.stderr.startswith("Tests and benchmarks need programs that are missing: jq.\n")
    (command,) = [line.strip() for line in ran.stderr.splitlines() if line.startswith(" ")]
    machine.add("sudo", 'exec "$@"')
    path = {"PATH": str(machine.folder)}
    assert subprocess.run(["/bin/sh", "-c", command], env=path).returncode == 0
    assert machine.run().returncode == 0


def test_without_apt_get_the_names_are_said(machine: Machine) -> None:
    ran = machine.run()
    assert ran.returncode == 1
    assert "missing (Debian's names): jq." in ran.stderr


def test_an_installation_that_fails_is_no_success(machine: Machine) -> None:
    machine.add("id", "echo 0")
    machine.add("apt-get", "exit 100")
    assert "apt-get failed" in machine.run().stderr
    machine.add("apt-get")
    ran = machine.run()
    assert (ran.returncode, "still not found on the PATH: jq" in ran.stderr) == (1, True)
