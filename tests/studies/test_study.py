"""Studies: the same bytes whoever computes them and however often they are killed; clear refusals."""

from __future__ import annotations

import hashlib
import os
import pickle
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise import NotComplete, Study
from stopwise.cli.main import main
from stopwise.studies.blocks import BadBlock
from stopwise.studies.report import panels

FILE = """
name = "coins"
repetitions = 60
block = 4
seed = 7
deltas = [0.1, 0.001]
strategies = ["sticky-track-and-stop", "track-and-stop:tracking=D"]
stopping = ["stylized", "mixture"]
family = "bernoulli"

[problem]
kind = "best-arm"

[[instances]]
name = "given"
means = [0.7, 0.5, 0.4]

[[instances]]
name = "drawn"
law = "beta"
a = 2
b = 2
arms = 3
"""
SCRIPT = "from stopwise.cli.main import main; main()"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "coins.toml"
    path.write_text(FILE)
    return path


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The file after one undisturbed run by one worker, and the hash of its results."""
    path = tmp_path_factory.mktemp("study") / "coins.toml"
    path.write_text(FILE)
    assert Study.load(path).run(workers=1, progress=False).complete
    return path, collected(path)


def collected(path: Path) -> str:
    """The hash of the Parquet file."""
    out = path.parent / "results.parquet"
    Study.load(path).collect().to_parquet(out)
    return hashlib.sha256(out.read_bytes()).hexdigest()


def command(path: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-c", SCRIPT, "study", "run", str(path), *arguments]


def stored(path: Path) -> int:
    return len(list(path.with_suffix(".study").glob("*/case-*/block-*.npz")))


def test_workers_shards_and_executors_change_nothing(file: Path, once: tuple[Path, str]) -> None:
    _, expected = once
    Study.load(file).run(workers=2, progress=False)
    assert collected(file) == expected
    shutil.rmtree(file.with_suffix(".study"))
    second = Study.load(file).run(shard=(2, 2), progress=False)
    assert not second.complete
    assert second.done == second.total // 2
    with ThreadPoolExecutor(2) as pool:
        assert Study.load(file).run(executor=pool, shard=(1, 2), progress=False).complete
    assert collected(file) == expected


class Elsewhere:
    """An executor whose tasks are pickled, as for another process."""

    def submit(self, *task: Any) -> Future[Any]:
        function, *arguments = pickle.loads(pickle.dumps(task))
        done: Future[Any] = Future()
        done.set_result(function(*arguments))
        return done


def test_a_function_as_region_is_not_sent(tmp_path: Path) -> None:
    """Lambdas cannot be pickled; workers need only the levels that it gave."""
    study = Study(
        sw.BestArm(2),
        [1.0, 0.0],
        family=sw.Gaussian(),
        strategies=sw.StickyTrackAndStop(region=lambda t: 1.0),
        repetitions=3,
        folder=tmp_path,
    )
    assert study.run(executor=Elsewhere(), progress=False).complete
    ((_, results),) = study.collect()
    assert results.strategy.region(7.0) == 1.0


def test_a_study_equals_simulations(once: tuple[Path, str]) -> None:
    """Case 0 draws from the streams of a plain simulation; deltas come from one trajectory."""
    results = Study.load(once[0]).collect()
    first = results.case("given", "sticky-track-and-stop", "stylized")
    alone = sw.simulate(
        sw.BestArm(3),
        [0.7, 0.5, 0.4],
        family=sw.Bernoulli(),
        strategy=sw.StickyTrackAndStop(),
        stopping=sw.Stylized(),
        delta=[0.1, 0.001],
        repetitions=60,
        seed=7,
        progress=False,
    )
    assert np.array_equal(first.stopping_times, alone.stopping_times)
    assert np.array_equal(first.counts, alone.counts)
    assert first.answers.tolist() == alone.answers.tolist()
    table = results.to_pandas()
    assert len(table) == 8 * 60 * 2
    assert (table["counts"].map(sum) == table["stopping_time"]).all()


def test_killed_five_times(file: Path, once: tuple[Path, str]) -> None:
    moments = random.Random(5)
    for _ in range(5):
        before = stored(file)
        process = subprocess.Popen(command(file, "--workers", "2"), stderr=subprocess.PIPE)
        while stored(file) == before and process.poll() is None:
            time.sleep(0.002)
        time.sleep(moments.uniform(0.0, 0.05))
        process.kill()
        process.communicate()
    assert Study.load(file).run(progress=False).complete
    assert collected(file) == once[1]
    assert not list(file.with_suffix(".study").glob("*/case-*/.*")), "left-overs are tidied away"


def test_ctrl_c_keeps_blocks_and_says_how_to_go_on(file: Path) -> None:
    file.write_text(FILE.replace("repetitions = 60", "repetitions = 60000"))  # it cannot be over
    process = subprocess.Popen(
        command(file, "--workers", "1"),
        stderr=subprocess.PIPE,
        text=True,
        stdout=subprocess.PIPE,
        # whoever runs the tests in the background has it ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while stored(file) == 0 and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "go on with: stopwise study run" in errors
    assert "Traceback" not in errors
    assert 0 < stored(file) < 120_000


@pytest.fixture
def cluster() -> Iterator[Any]:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None
    ) as found:
        yield found


def test_dask_with_a_worker_killed(file: Path, once: tuple[Path, str], cluster: Any) -> None:
    """Three worker processes; one dies in the middle."""
    from stopwise.studies.dask import executor_at

    pids = [worker.process.pid for worker in cluster.workers.values()]
    killed = []

    def kill() -> None:
        while stored(file) < 5:
            time.sleep(0.005)
        os.kill(pids[0], signal.SIGKILL)
        killed.append(stored(file))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    with executor_at(cluster.scheduler_address) as executor:
        status = Study.load(file).run(executor=executor, progress=False)
    killer.join(timeout=10)
    assert killed
    assert killed[0] < 120
    assert status.complete
    assert collected(file) == once[1]


def test_a_damaged_block_is_named_and_computed_again(file: Path, once: tuple[Path, str]) -> None:
    shutil.copytree(once[0].with_suffix(".study"), file.with_suffix(".study"))
    blocks = sorted(file.with_suffix(".study").glob("*/case-*/block-*.npz"))
    content = blocks[3].read_bytes()
    blocks[3].write_bytes(content[: len(content) // 2])  # cut off
    spoilt = bytearray(blocks[7].read_bytes())
    spoilt[len(spoilt) // 2] ^= 255
    blocks[7].write_bytes(spoilt)
    shutil.copy(blocks[10], blocks[11])  # another block's
    with pytest.raises(BadBlock, match=re.escape(blocks[3].name)):
        Study.load(file).collect()
    warnings: list[str] = []
    Study.load(file).run(progress=False, warn=warnings.append)
    assert [place for place in (3, 7, 11) if blocks[place].name not in " ".join(warnings)] == []
    assert len(warnings) == 3
    assert collected(file) == once[1]


def test_another_spec_never_sees_old_blocks(file: Path, once: tuple[Path, str]) -> None:
    key = Study.load(once[0]).key
    for old, new, same in [
        ('name = "coins"', 'name = "other"', True),
        ("seed = 7", "seed = 7  # a comment", True),
        ("seed = 7", "seed = 8", False),
        ("block = 4", "block = 5", False),
        ("repetitions = 60", "repetitions = 61", False),
        ("0.001]", "0.002]", False),
        ("[0.7, 0.5", "[0.7, 0.51", False),
        ("tracking=D", "tracking=C", False),
        ('"mixture"', '"conservative"', False),
        ('kind = "best-arm"', 'kind = "best-arm"\nepsilon = 0.01', False),
    ]:
        assert old in FILE
        file.write_text(FILE.replace(old, new))
        assert (Study.load(file).key == key) == same, new


def test_values_from_python(tmp_path: Path) -> None:
    study = Study(
        sw.BestArm,
        {"two": [0.0, 2.0], "three": [0.0, 2.0, 1.0]},
        family=sw.Gaussian(),
        strategies={"sticky": sw.StickyTrackAndStop(), "even": sw.Uniform()},
        stopping=sw.Mixture(),
        deltas=0.1,
        repetitions=20,
        folder=tmp_path,
    )
    with pytest.raises(NotComplete, match="0 of 80 runs"):
        study.collect()
    assert study.run(progress=False).complete
    found = study.collect()
    assert len(found) == 4
    assert found.case("three", "even").counts.shape == (20, 3)
    with pytest.raises(sw.BadArgument, match="exactly one case, not 2"):
        found.case(instance="two")
    assert "sticky" in repr(found)
    assert "<table>" in found._repr_html_()


def test_a_study_saves_costs(tmp_path: Path) -> None:
    """As ``simulate`` does, with a column for them; without costs the key is what it was."""
    path = tmp_path / "dear.toml"
    text = """
problem = "best-arm"
family = { kind = "gaussian", variance = "unknown" }
strategies = ["track-and-stop"]
deltas = [0.1]
repetitions = 20
seed = 3
[[instances]]
means = [1.0, 0.0]
deviations = [1.0, 1.0]
"""
    path.write_text(f"costs = [1, 50]\n{text}")
    study = Study.load(path)
    study.run(progress=False)
    found = study.collect().case()
    again = sw.simulate(
        sw.BestArm(2), [1.0, 0.0], family=sw.Gaussian(variance=None), deviations=1.0, costs=[1, 50],
        strategy=sw.TrackAndStop(), delta=0.1, repetitions=20, seed=3, progress=False,
    )  # fmt: skip
    assert found.cost.mean() == found.counts.mean(axis=0) @ [1, 50] == found.summary()[0].cost
    assert found.counts[:, 0].sum() > 2 * found.counts[:, 1].sum()
    np.testing.assert_array_equal(again.counts, found.counts)
    header, rows = study.collect().table()
    assert (header[-1], rows[0][-1]) == ("mean cost", f"{found.cost.mean():,.1f}")
    assert "mean cost" in study.report().read_text()
    path.write_text(text)
    assert Study.load(path).key != study.key


def test_report_is_one_page_without_outside_links(once: tuple[Path, str]) -> None:
    study = Study.load(once[0])
    page = study.report().read_text()
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:)""", page)
    assert "<script" not in page
    assert page.count("<img") == 3
    for word in ("coins", "drawn", "track-and-stop:tracking=D", "Not proven: stylized", "mixture"):
        assert word in page
    first, second = panels(study.collect())
    assert (first.name, second.name) == ("given", "drawn")
    given = {"means": [0.7, 0.5, 0.4], "family": sw.Bernoulli()}
    for delta, bound in first.bounds.items():
        assert bound == sw.lower_bound(sw.BestArm(3), **given, delta=delta)
    assert len(first.series) == 4
    for series in first.series:
        assert np.all(np.diff(series.times) >= 0.0)
        assert series.means[0] < series.means[1]
        assert series.proportions.sum() == pytest.approx(1.0)


# what replaces what in the file; and what the error says
MISTAKES: list[tuple[str, str, list[str]]] = [
    ("seed = 7", "seed = -1", ["line 5", "seed", "got -1"]),
    ("seed = 7", "sede = 7", ["line 5", "sede", "got 7", "repetitions"]),
    ("repetitions = 60", "repetitions = 0", ["line 3", "repetitions", "at least 1"]),
    ("[0.1, 0.001]", "[0.1, 1.5]", ["line 6", "deltas", "1.5", "strictly between 0 and 1"]),
    ("sticky-track-and-stop", "sticky", ["line 7", "strategies[0].kind", "track-and-stop"]),
    ("tracking=D", "tracking=E", ["line 7", "strategies[1].tracking", "'E'"]),
    ('"mixture"', '"mixtures"', ["line 8", "stopping[1].kind", "mixture-martingale"]),
    ('family = "bernoulli"', 'family = "cauchy"', ["line 9", "family.kind", "gaussian"]),
    ('kind = "best-arm"', 'kind = "worst-arm"', ["line 12", "problem.kind", "best-arm"]),
    ('kind = "best-arm"', 'kind = "best-arm"\neps = 1', ["line 13", "problem.eps", "epsilon"]),
    ('kind = "best-arm"', 'kind = "best-arm"\nepsilon = -1', ["line 13", "problem.epsilon", "-1"]),
    ("[0.7, 0.5, 0.4]", "[0.7, 1.5, 0.4]", ["line 16", "instances[0].means", "1.5", "(0, 1)"]),
    ("[0.7, 0.5, 0.4]", "[0.7]", ["line 16", "instances[0].means", "at least 2"]),
    ("[0.7, 0.5, 0.4]", '"many"', ["line 16", "instances[0].means"]),
    ('law = "beta"', 'law = "zeta"', ["line 20", "instances[1].law", "uniform"]),
    ("b = 2", "c = 2", ["line 22", "instances[1].c", "keys"]),
    ("b = 2", "b = -2", ["line 18", "instances[1]", "beta"]),
    ('name = "drawn"', 'name = "given"', ["line 19", "instances[1].name", "all differ"]),
    ("block = 4", "block = 0", ["line 4", "block", "at least 1"]),
    ("block = 4", "block = = 4", ["not TOML", "line 4"]),
    (
        "block = 4",
        "costs = [1, 2]",
        ["line 4", "costs", "got (1, 2)", "3 numbers, one for each arm"],
    ),
    ("block = 4", "costs = [1, 0, 2]", ["line 4", "costs[1]", "a cost above 0"]),
]


@pytest.mark.parametrize(("old", "new", "parts"), MISTAKES, ids=[row[1] for row in MISTAKES])
def test_a_mistake_names_its_line(file: Path, old: str, new: str, parts: list[str]) -> None:
    assert old in FILE
    file.write_text(FILE.replace(old, new))
    with pytest.raises(sw.StopwiseError) as caught:
        Study.load(file)
    text = str(caught.value)
    assert text.startswith("coins.toml")
    assert [part for part in parts if part not in text] == [], text


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["run", "absent.toml"], ["absent.toml", "study new"]),
        (["run", "coins.toml", "--shard", "3/2"], ["shard", "3/2", "1 <= i <= n"]),
        (["run", "coins.toml", "--shard", "x"], ["shard", "'x'", "3/10"]),
        (["run", "coins.toml", "--workers", "0"], ["workers", "at least 1"]),
        (["run", "coins.toml", "--folder", "coins.toml"], ["coins.toml", "another with --folder"]),
        (["run", "coins.toml", "--folder", "/proc/none"], ["/proc/none", "cannot be written"]),
        (["run", "coins.toml", "--dask", "tcp://127.0.0.1:9"], ["127.0.0.1:9", "no scheduler"]),
        (["collect", "coins.toml"], ["0 of 480 runs", "Run the study"]),
        (["new", "coins.toml"], ["coins.toml", "does not exist yet"]),
    ],
    ids=lambda value: " ".join(value[1:]) if value[0] in ("run", "collect", "new") else "",
)
def test_refusals_of_the_command(
    file: Path,
    arguments: list[str],
    parts: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(file.parent)
    monkeypatch.setattr(sys, "argv", ["stopwise", "study", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert [part for part in parts if part not in error] == [], error


def test_the_starter_is_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["stopwise", "study", "new", "mine.toml"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert not caught.value.code
    assert len(Study.load("mine.toml").spec.cases()) == 9


def test_a_full_disk(file: Path, once: tuple[Path, str]) -> None:
    """Where a small file system may be mounted it fills up; elsewhere a limit on the size of files."""
    folder = file.parent / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=80k", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    try:
        limit = None if mounted.returncode == 0 else _small_files
        result = subprocess.run(
            command(file, "--folder", str(folder)),
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=limit,
        )
        assert result.returncode == 2
        assert "cannot be written" in result.stderr
        assert "what was stored is kept" in result.stderr
        assert "Traceback" not in result.stderr
        if mounted.returncode == 0:
            assert "The disk is full" in result.stderr
            kept = len(list(folder.glob("*/case-*/block-*.npz")))
            assert kept > 0
            more = ["mount", "-o", "remount,size=10m", str(folder)]
            subprocess.run(more, check=True)  # somebody frees space
        Study.load(file, folder).run(progress=False)
        out = file.parent / "after.parquet"
        Study.load(file, folder).collect().to_parquet(out)
        assert hashlib.sha256(out.read_bytes()).hexdigest() == once[1]
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", str(folder)], check=True)


def _small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
