"""inspect_ai for real, with its mock model and no network; ``make test-inspect`` installs it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw

inspect_ai = pytest.importorskip("inspect_ai")


def task(label: str, skill: float, stopping: Any, count: int = 400) -> Any:
    """A task whose mock model is right on about this share of the questions."""
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.scorer import match
    from inspect_ai.solver import Generate, TaskState, solver

    @solver(name=f"answers-{label}")
    def answers() -> Any:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            right = random.Random(int(state.sample_id)).random() < skill
            state.output = ModelOutput.from_content("mockllm/model", "yes" if right else "no")
            return state

        return solve

    data = MemoryDataset([Sample(input="?", target="yes", id=k + 1) for k in range(count)])
    data.shuffle(seed=1)
    return Task(
        dataset=data, solver=answers(), scorer=match(), name=label,
        early_stopping=stopping, model=get_model("mockllm/model"),
    )  # fmt: skip


def run(tasks: list[Any], folder: Path) -> list[Any]:
    return list(
        inspect_ai.eval(
            tasks, log_dir=str(folder), display="none", max_samples=4, log_level="error"
        )
    )


def test_two_tasks_of_400_samples(tmp_path: Path) -> None:
    from stopwise.evals.inspect import PairedStopping

    shared = PairedStopping(["plain", "careful"], delta=0.05)
    logs = run(
        [task("plain", 0.6, shared.of("plain")), task("careful", 0.8, shared.of("careful"))],
        tmp_path,
    )
    assert [log.status for log in logs] == ["success", "success"]
    report = shared.report()
    assert report.best == "careful"
    done = [len(log.samples) for log in logs]
    assert min(done) < 200  # the second half of the later task is skipped
    proof = logs[-1].results.early_stopping
    assert proof.manager == "stopwise"
    assert proof.metadata["best"] == "careful"
    assert proof.metadata["evidence"]["careful"]["plain"] >= proof.metadata["level"]
    assert len(proof.early_stops) == 400 - done[-1]


class Score:
    """What inspect_ai has around a value."""

    def __init__(self, value: float) -> None:
        self.score, self.value = self, value


def test_answers_of_models_are_random_unless_told_otherwise() -> None:
    from stopwise.evals.inspect import PairedStopping

    for deterministic in (False, True):
        shared = PairedStopping(["one", "two"], deterministic=deterministic)
        for label in shared.labels:
            shared.start(label, list(range(40)), 1)
        for sample in range(40):
            for arm in (0, 1):
                shared.tell(arm, sample, {"match": Score(float(sample % 2 == arm))})
        report = shared.report()
        assert report.best is None
        assert report.tied == (("one", "two") if deterministic else ())
        assert (
            report.claim
            == f"about {'just these 40 items' if deterministic else 'items like these'}"
        )
    waits = PairedStopping(["one", "two"])
    waits.start("one", [1, 2, 3], 1)
    waits.tell(0, 3, {"match": Score(1.0)})
    assert "Sample 1 lacks the score" in waits.report().warnings[0]


def test_without_the_manager_nothing_changes(tmp_path: Path) -> None:
    (log,) = run([task("plain", 0.6, None, 30)], tmp_path)
    assert len(log.samples) == 30
    assert log.results.early_stopping is None


def test_inspect_refusals() -> None:
    from stopwise.evals.inspect import PairedStopping

    with pytest.raises(sw.BadArgument, match="deterministic: got 1"):
        PairedStopping(["one", "two"], deterministic=1)  # type: ignore[arg-type]
    with pytest.raises(sw.BadArgument, match="labels"):
        PairedStopping(["one"])
    shared = PairedStopping(["one", "two"])
    with pytest.raises(sw.BadArgument, match="label: got 'three'"):
        shared.of("three")
    with pytest.raises(sw.BadArgument, match="no task yet"):
        shared.report()
    with pytest.raises(sw.BadArgument, match="epochs: got 2"):
        shared.start("one", [1, 2], 2)
    shared.start("one", [1, 2, 3], 1)
    with pytest.raises(sw.BadArgument, match="in its order"):
        shared.start("two", [3, 2, 1], 1)
    with pytest.raises(sw.BadArgument, match="scorer"):
        shared.tell(0, 1, {"a": None, "b": None})
