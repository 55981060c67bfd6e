"""The wheel in an environment that has only its core dependencies: first steps, commands, types."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
USER = '''
"""What a user's own script may look like."""
import stopwise as sw

spec = {"question": "best-arm", "arms": ["a", "b"], "family": "bernoulli", "delta": 0.05}
campaign: sw.Campaign = sw.Campaign.create(spec, "x.db", name="x")
tickets: list[sw.Ticket] = campaign.ask(2)
for ticket in tickets:
    receipt: sw.Receipt = campaign.tell(ticket.token, 1.0)
    print(receipt.decided, ticket.label.upper())
left = campaign.status().remaining
print(None if left is None else left.low + left.high)
found: sw.Oracle = sw.oracle(sw.BestArm(3), [0.5, 0.4, 0.3], family=sw.Bernoulli())
print(found.time + 1.0, found.weights[0].sum())
runs: sw.Results = sw.simulate(sw.BestArm(2), [0.9, 0.1], family=sw.Bernoulli(), repetitions=9, seed=1)
print([row.mean + 1.0 for row in runs.summary()])
plan: sw.Forecast = sw.plan(sw.BestArm(2), ["90%", "10%"], family=sw.Bernoulli(), repetitions=9)
print(plan.classical + plan["uniform"].ratio)


def worker(client: sw.Client) -> sw.Status:
    remote: sw.RemoteCampaign = client.open("x")
    return remote.wait(timeout=60)
'''


def core(name: str = "stopwise", known: frozenset[str] = frozenset()) -> frozenset[str]:
    """The distributions that one needs, and those that these need, without extras."""
    for line in requires(name) or []:
        needed = re.split(r"[^\w.-]", line)[0]
        if ";" not in line and needed not in known:
            known = core(needed, known | {needed})
    return known


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel, and links to what it requires: nothing is fetched."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    place, linked = folder / "empty", folder / "linked"
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    alone = ["--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([place / "bin/pip", "install", *alone, str(wheel)], check=True)
    linked.mkdir()
    here = Path(sysconfig.get_paths()["purelib"])
    for name in core():
        for part in {file.parts[0] for file in distribution(name).files or []} - {
            "..",
            "__pycache__",
        }:
            if not (linked / part).exists():
                (linked / part).symlink_to(here / part)
    (site,) = place.glob("lib/python*/site-packages")
    (site / "linked.pth").write_text(str(linked))
    return place


def run(environment: Path, folder: Path, *command: str) -> str:
    """A program of the environment; what it printed."""
    free = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        [str(environment / "bin" / command[0]), *command[1:]],
        cwd=folder,
        env=free,
        text=True,
        capture_output=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.slow
def test_only_core_dependencies_are_there(environment: Path, tmp_path: Path) -> None:
    tried = "pandas", "matplotlib", "fastapi", "psycopg", "distributed", "pytest"
    code = f"from importlib.util import find_spec; print([m for m in {tried} if find_spec(m)])"
    assert run(environment, tmp_path, "python", "-c", code) == "[]\n"
    where = run(environment, tmp_path, "python", "-c", "import stopwise; print(stopwise.__file__)")
    assert Path(where.strip()).is_relative_to(environment)


@pytest.mark.slow
def test_first_steps_of_the_readme(environment: Path, tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) == 3
    (tmp_path / "readme.py").write_text("\n".join(blocks))
    shown = run(environment, tmp_path, "python", "readme.py")
    assert "decided: long prompt is best" in shown
    assert "new driver is lowest" in shown
    for title, body in re.findall(r'```\w+ title="([\w.]+)"\n(.*?)```', text, re.S):
        (tmp_path / title).write_text(body)
    for line in re.findall(r"^\$ (stopwise .*)$", text, re.M):
        run(environment, tmp_path, *line.split())


@pytest.mark.slow
def test_help_and_what_is_missing(environment: Path, tmp_path: Path) -> None:
    assert "plan" in run(environment, tmp_path, "stopwise", "--help")
    ran = subprocess.run(
        [environment / "bin/stopwise", "serve", "x.db"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 2
    assert "stopwise[service]" in " ".join(ran.stderr.split())


@pytest.mark.slow
def test_a_users_script_under_strict_mypy(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(USER)
    of_the_environment = ["--python-executable", str(environment / "bin/python")]
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *of_the_environment, "user.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout
