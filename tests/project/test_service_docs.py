"""The pages about the service: their programs run against a real one."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import stopwise as sw
from serving import serving
from stopwise.campaign.storage.store import Store
from stopwise.web.app import contract
from stopwise.web.middleware.body_limit import LARGEST_BODY
from stopwise.web.middleware.rate_limit import KNOWN, STRANGER
from stopwise.web.tokens import Tokens

DOCS = Path(__file__).parents[2] / "docs"
TITLED = re.compile(r'^```\w+ title="([\w.]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def files(page: str) -> dict[str, str]:
    """The blocks of a page that have a file's name."""
    return dict(TITLED.findall((DOCS / page).read_text()))


RUN = {"worker.py": [sys.executable], "worker.sh": ["bash"], "worker.mjs": ["node"]}


@pytest.mark.parametrize("program", RUN)
def test_a_worker_in_ten_lines(program: str, tmp_path: Path) -> None:
    found, storage = files("workers.md"), f"sqlite:///{tmp_path}/prompts.db"
    assert len(found[program].splitlines()) <= 14
    (tmp_path / program).write_text(found[program])
    sw.Campaign.create(tomllib.loads(found["prompts.toml"]), storage, "prompts")
    token = Tokens(Store(storage)).create("worker", "work")
    with serving(storage, tmp_path) as service:
        done = subprocess.run(
            [*RUN[program], program],
            cwd=tmp_path,
            env={
                **os.environ, "STOPWISE_URL": service.url, "STOPWISE_TOKEN": token,
                "XDG_STATE_HOME": str(tmp_path),
            },
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    campaign = sw.Campaign.open("prompts", storage)
    assert campaign.decision is not None
    assert campaign.decision.text in done.stdout
    assert campaign.verify().agrees


def test_the_openapi_file_is_the_service_s_own() -> None:
    assert (DOCS / "openapi.json").read_text() == contract(), "run make openapi"


def test_the_unit_is_one(tmp_path: Path) -> None:
    text = files("operate.md")["stopwise.service"]
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(text)
    program, *arguments = unit["Service"]["ExecStart"].split()
    assert program.endswith("/stopwise")
    here = str(Path(sys.executable).parent / "stopwise")
    assert arguments[:1] == ["serve"]
    assert subprocess.run([here, *arguments, "--help"], capture_output=True).returncode == 0
    if shutil.which("systemd-analyze"):
        path = tmp_path / "stopwise.service"
        path.write_text(text.replace(program, here))
        done = subprocess.run(["systemd-analyze", "verify", path], capture_output=True, text=True)
        assert "stopwise.service:" not in done.stderr, done.stderr


def test_backup_while_it_works_and_restore(tmp_path: Path) -> None:
    spec = tomllib.loads(files("workers.md")["prompts.toml"])
    storage = f"sqlite:///{tmp_path}/campaigns.db"
    with serving(storage, tmp_path) as service:
        client = sw.Client(service.url, spool=tmp_path / "spool.db")
        campaign = client.create({**spec, "delta": 1e-9}, "kept")
        for ticket in campaign.ask(10):
            campaign.tell(ticket.token, 1)
        (late,) = campaign.ask(1)
        subprocess.run(
            ["bash", "-c", files("operate.md")["backup.sh"]], cwd=tmp_path, check=True, timeout=60
        )
        saved = campaign.events()
        campaign.tell(late.token, 0)
        service.kill()
        for path in tmp_path.glob("campaigns.db-*"):
            path.unlink()
        (tmp_path / "backup.db").replace(tmp_path / "campaigns.db")
        service.start()
        assert campaign.events() == saved
        assert campaign.verify().agrees
        assert campaign.tell(late.token, 0) is not None
        client.close()
    with sqlite3.connect(tmp_path / "campaigns.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_the_bounds_are_as_written() -> None:
    text = (DOCS / "operate.md").read_text()
    assert f"bodies of {LARGEST_BODY // 1_000_000} MB" in text
    for limit in (KNOWN, STRANGER):
        assert f"{limit.rate:,.0f} requests a second" in text
        assert limit.burst >= limit.rate


@pytest.mark.parametrize("page", ["operate.md", "workers.md"])
def test_commands_in_the_order_of_the_page(page: str, tmp_path: Path) -> None:
    """Those that serve are ended once they do; the others end by themselves."""
    for name, body in files(page).items():
        (tmp_path / name).write_text(body)
    blocks = re.findall(r"^```bash\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S)
    lines = [line.partition(" #")[0].split() for block in blocks for line in block.splitlines()]
    assert any(line[1] == "serve" for line in lines)
    for line in lines:
        program = [str(Path(sys.executable).parent / line[0]), *line[1:]]
        if line[1] != "serve":
            subprocess.run(program, cwd=tmp_path, check=True, capture_output=True)
            continue
        given = {"cwd": tmp_path, "stderr": subprocess.PIPE, "text": True}
        served: subprocess.Popen[str] = subprocess.Popen([*program, "--port", "0"], **given)
        assert served.stderr is not None
        said = served.stderr.readline()
        served.terminate()
        served.communicate(timeout=60)
        assert " serves " in f" {said}", (line, said)
