"""docs/extend.md: what a user adds in one file works everywhere, without touching another.

The page itself runs, compiled, in test_docs.py.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "extend.md"
FILES = dict(re.findall(r'```python title="(\S+)"\n(.*?)```', PAGE.read_text(), re.S))
MOST_LINES = {"podium.py": 35, "eb_tci.py": 15, "kl_lucb.py": 30, "prize.py": 15}
ENTRIES = """
[stopwise.problems]
podium = podium:Podium
[stopwise.families]
prize = prize:Prize
[stopwise.strategies]
my-eb-tci = eb_tci:EBTCI
kl-lucb = kl_lucb:KLLUCB
[stopwise.stopping]
apart = kl_lucb:Apart
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's files as an installed package would have them."""
    folder = tmp_path_factory.mktemp("site")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    about = folder / "mine-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRIES)
    return folder


def run(folder: Path, *command: str, jit: bool = False, cwd: Path | None = None) -> str:
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "NUMBA_DISABLE_JIT": str(int(not jit))}
    done = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, cwd=cwd
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def stopwise(folder: Path, *words: str, cwd: Path | None = None) -> str:
    return run(folder, "-m", "stopwise.cli.main", *words, cwd=cwd)


@pytest.mark.parametrize("name", MOST_LINES)
def test_each_is_short(name: str) -> None:
    assert sum(1 for line in FILES[name].splitlines() if line.strip()) <= MOST_LINES[name]


@pytest.mark.parametrize("name", MOST_LINES)
def test_each_needs_only_public_names(name: str) -> None:
    """stopwise and numpy, besides Python's own library; and of stopwise no module by its name."""
    nodes = list(ast.walk(ast.parse(FILES[name])))
    imported = [
        alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names
    ]
    imported += [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)]
    assert set(imported) - set(sys.stdlib_module_names) <= {"numpy", "stopwise"}
    assert "stopwise" in imported


COMPILED = """
import stopwise as sw
from eb_tci import EBTCI
from kl_lucb import KLLUCB, Apart
from podium import Podium
from prize import Prize
for strategy, stopping in ((EBTCI(), sw.MixtureMartingale()), (KLLUCB(), Apart())):
    runs = sw.simulate(sw.BestArm(3), [14.0, 8.0, 6.0], family=Prize(20.0), strategy=strategy,
                       stopping=stopping, delta=0.1, repetitions=4, seed=5, workers=2)
    print(runs.stopping_times.tolist(), runs.counts.tolist())
one = sw.run(Podium(3, m=2), [0.9, 0.5, 0.1], family=sw.Bernoulli(), delta=0.1, seed=1)
print(one.answer, one.stopping_time)
print(sw.oracle(Podium(3, m=2), [18.0, 10.0, 2.0], family=Prize(20.0)).weights)
"""


def test_compiled_runs_are_the_plain_ones(installed: Path) -> None:
    assert run(installed, "-c", COMPILED, jit=True) == run(installed, "-c", COMPILED) != ""


def test_command_line(installed: Path) -> None:
    text = stopwise(
        installed, "oracle", "podium:m=2", "--means", "0.9,0.7,0.4,0.2", "--family", "bernoulli",
        "--json",
    )  # fmt: skip
    found = json.loads(text)
    assert found["answers"] == [[0, 1]]
    text = stopwise(
        installed, "plan", "best-arm", "--means", "14,8", "--family", "prize:amount=20",
        "--strategies", "my-eb-tci", "--repetitions", "5", "--json",
    )  # fmt: skip
    assert [each["name"] for each in json.loads(text)["strategies"]] == ["my-eb-tci"]


STUDY = """
repetitions = 4
[problem]
kind = "podium"
m = 1
[family]
kind = "prize"
amount = 20
[[instances]]
means = [14, 8, 6]
[[strategies]]
kind = "uniform"
"""


def test_a_study_file(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(STUDY)
    stopwise(installed, "study", "run", "mine.toml", cwd=tmp_path)
    assert "podium" not in stopwise(installed, "study", "status", "mine.toml", cwd=tmp_path)
    stopwise(installed, "study", "collect", "mine.toml", cwd=tmp_path)


SPEC = """
question = {kind = "podium", m = 2}
arms = ["red", "green", "blue"]
family = "bernoulli"
delta = 0.1
"""


def test_a_campaign(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "colours.toml").write_text(SPEC)
    stopwise(installed, "create", "colours.toml", cwd=tmp_path)
    rng = np.random.default_rng(1)
    script = """
import sys, stopwise as sw
campaign = sw.Campaign.open("colours")
values = iter(map(float, sys.argv[1:]))
while campaign.decision is None:
    for ticket in campaign.ask(3):
        campaign.tell(ticket.token, float(next(values) < (0.97, 0.6, 0.05)[ticket.arm]))
print(campaign.decision.text)
print(campaign.verify())
"""
    draws = [f"{value:.3f}" for value in rng.random(600)]
    told = run(installed, "-c", script, *draws, cwd=tmp_path).splitlines()
    assert told[0] == "best are red, then green"
    assert told[1].startswith("agrees:")
    assert "best are red, then green" in stopwise(installed, "status", "colours", cwd=tmp_path)


def test_the_form_has_words_for_it(installed: Path) -> None:
    """The page's form is made from the schema: title, options and hints."""
    schema = json.loads(stopwise(installed, "schema"))

    def kinds(choice: dict[str, Any]) -> dict[str, Any]:
        tables = [each for each in choice["oneOf"] if each["type"] == "object"]
        return {each["properties"]["kind"]["const"]: each for each in tables}

    question = kinds(schema["$defs"]["problem"])["podium"]
    assert question["title"] == "Which m arms have the highest means, in which order?"
    assert question["properties"]["m"]["description"] == "How many arms to name"
    assert question["required"] == ["kind", "m"]
    family = kinds(schema["properties"]["family"])["prize"]
    assert family["title"] == "The same amount, or nothing"
    assert family["properties"]["amount"] == {"type": "number"}
    strategies = kinds(schema["properties"]["strategy"])
    assert list(strategies["my-eb-tci"]["properties"]) == ["kind", "share"]
    assert list(strategies["kl-lucb"]["properties"]) == ["kind"]  # delta is the campaign's
    assert strategies["kl-lucb"]["title"].startswith("the leader")
    assert "apart" in kinds(schema["properties"]["stopping"])


RANDOM = """
import numpy as np, stopwise as sw
spec = {"question": "best-arm", "arms": ["a", "b", "c"], "family": "bernoulli", "delta": 0.05,
        "strategy": {"kind": "my-eb-tci"}}
campaign = sw.Campaign.create(spec, "sqlite:///mine.db", "random")
rng = np.random.default_rng(3)
waiting = []
while campaign.decision is None:
    waiting += campaign.ask(int(rng.integers(1, 4)))
    ticket = waiting.pop(int(rng.integers(len(waiting))))
    if rng.random() < 0.1:
        campaign.release(ticket.token, "lost")
    else:
        campaign.tell(ticket.token, float(rng.random() < (0.95, 0.3, 0.1)[ticket.arm]))
again = sw.Campaign.open("random", "sqlite:///mine.db").verify()
assert again.agrees and not again.remarks, again
arms = [event.arm for event in campaign.events() if event.kind == "asked"]
print(len(set(arms[3:])), again.samples)
"""


def test_randomised_asks_are_replayed(installed: Path, tmp_path: Path) -> None:
    different, samples = run(installed, "-c", RANDOM, cwd=tmp_path).split()
    assert int(different) > 1
    assert int(samples) > 10
