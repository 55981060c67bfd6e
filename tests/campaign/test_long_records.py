"""Records of a million events: neither verify nor export needs them all in memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from stopwise.campaign.campaign import Campaign

SPEC = {"question": "best-arm", "arms": ["a", "b", "c"], "family": "bernoulli", "delta": 1e-300}
MEMORY = 300.0  # MB
WORK = """
import resource, sys
from stopwise.campaign.campaign import Campaign
with Campaign.open("long", sys.argv[1]) as campaign:
    print(eval(sys.argv[2]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0)
"""


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half a million asks, and as many tells."""
    path, rng = tmp_path_factory.mktemp("long") / "store.db", np.random.default_rng(1)
    with Campaign.create(SPEC, path, "long") as campaign:
        for _ in range(50):
            tickets, values = campaign.ask(10_000, lease=1e8), rng.random(10_000) < 0.5
            tells = zip((ticket.token for ticket in tickets), values.tolist(), strict=True)
            campaign.tell_all(list(tells))
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "work",
    [
        "campaign.verify().agrees",
        *(
            f"campaign.export(sys.argv[1] + '.{kind}').exists()"
            for kind in ("csv", "jsonl", "parquet")
        ),
    ],
)
def test_a_million_events_in_little_memory(work: str, storage: Path) -> None:
    command = [sys.executable, "-c", WORK, str(storage), work]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    right, memory = found.stdout.split()
    assert right == "True"
    assert float(memory) < MEMORY


@pytest.mark.slow
def test_commits_take_as_long_however_many_samples_wait(tmp_path: Path) -> None:
    """What a commit writes does not grow with the samples that wait: counted, not timed."""
    path, rng = tmp_path / "store.db", np.random.default_rng(2)
    with Campaign.create(SPEC, path, "queue") as campaign:
        campaign.ask(1, lease=1e8)  # all others wait for this one
        written = []
        for waiting in (1_000, 90_000):
            while (count := campaign.status().waiting) < waiting:
                tickets = campaign.ask(min(10_000, waiting - count), lease=1e8)
                campaign.tell_all([(each.token, float(rng.random() < 0.5)) for each in tickets])
            log = path.with_name("store.db-wal")
            campaign._store.engine.raw_connection().execute("PRAGMA wal_checkpoint(TRUNCATE)")
            for _ in range(20):
                campaign.tell(campaign.ask(lease=1e8)[0].token, float(rng.random() < 0.5))
            written.append(log.stat().st_size)
        assert written[1] < 2 * written[0]
