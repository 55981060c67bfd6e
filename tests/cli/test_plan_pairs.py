"""``stopwise plan --paired``: items needed, from a table of past results."""

from __future__ import annotations

import json
from pathlib import Path

from shells import Shell

ROWS = ["a,b", *["1,0"] * 8, *["0,1"] * 5, *["1,1"] * 67, *["0,0"] * 20]
COMMAND = ["plan", "best-arm", "--family", "bernoulli", "--paired"]


def test_items_that_pairs_need(shell: Shell) -> None:
    Path("scores.csv").write_text("\n".join(ROWS))
    runs = [*COMMAND, "--pilot", "scores.csv", "--repetitions", "200"]
    found = json.loads(shell(*runs, "--json").out)
    assert found["runs"] == 200
    assert 1_000 < found["items"] < 1_500  # 1,203 with 1,000 runs: docs/paired.md
    assert found["quantiles"]["0.05"] < found["items"] < found["quantiles"]["0.95"]
    assert "If the 100 items of the pilot data are typical" in shell(*runs).out


def test_means_and_ragged_columns_are_refused(shell: Shell) -> None:
    refused = shell(*COMMAND, "--means", "0.7,0.6")
    assert refused.code == 2
    assert "how often two options differ" in refused.err
    Path("scores.csv").write_text("\n".join([*ROWS, "1,"]))
    refused = shell(*COMMAND, "--pilot", "scores.csv")
    assert refused.code == 2
    assert "a row is an item" in refused.err
