"""A study: a grid of simulations that survives crashes, from values or from a file."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from stopwise.core import checks
from stopwise.core.errors import BadArgument, StopwiseError
from stopwise.core.seeds import RngLike, chosen_seed
from stopwise.core.values import check_role, needs_family
from stopwise.engine.batch import Batch
from stopwise.engine.design import check_deltas, default_stopping, default_strategy
from stopwise.families.family import Family
from stopwise.problems.problem import Problem
from stopwise.sampling.strategy import Strategy
from stopwise.stopping.rule import StoppingRule
from stopwise.studies.blocks import BadBlock, Blocks, write_file
from stopwise.studies.results import Results, collect
from stopwise.studies.runner import Block, blocks, missing, run_blocks
from stopwise.studies.simulation import DELTA, MAX_ROUNDS, processors, reporter
from stopwise.studies.spec import Case, StudySpec, named_instances, named_values, try_each
from stopwise.studies.study_file import read_study
from stopwise.studies.study_results import StudyResults, StudyStatus, describe


class NotComplete(StopwiseError):
    """Blocks are missing; run the study (again)."""


def _block_size(given: int | None, repetitions: int) -> int:
    if given is None:
        return min(1000, max(10, repetitions // 20))
    return checks.whole("block", given, least=1)


def _costs(given: Any) -> Any:
    """As they are given: other types would be another study."""
    if given is None or isinstance(given, int | float):
        return given
    if not checks.is_list(given):
        return checks.positive("costs", given)
    found, kept = checks.vector("costs", given), np.asarray(given)
    return tuple((kept if kept.dtype.kind in "iuf" else found).tolist())


def _shard(given: Any) -> tuple[int, int]:
    allowed = "(i, n), which takes every n-th block from the i-th: 1 <= i <= n"
    both = checks.listed("shard", given, allowed)
    if len(both) != 2:
        raise BadArgument("shard", given, allowed)
    part, parts = (checks.whole("shard", each, least=1) for each in both)
    if part > parts:
        raise BadArgument("shard", f"{part}/{parts}", "i/n with 1 <= i <= n")
    return part, parts


class Study:
    """Every combination of instances, strategies and stopping rules, simulated so many times.

    ``problem`` is a problem, or a function of the number of arms (such as BestArm itself).
    ``instances`` are means (or laws or pilot data, see ``simulate``): of one instance, a list of them,
    or a dict from names; ``deviations`` are the arms' standard deviations, in all of them, and ``costs``
    what a sample of each arm costs, which strategies that track oracle weights then save.
    ``strategies`` and ``stopping`` likewise, by default what suits the problem and the family.
    ``block`` is how many repetitions are stored together. Results depend on these and on ``seed`` (by
    default 0; or ``rng``, as in ``simulate``), never on who computes them; ``folder`` is where blocks
    are kept.
    """

    @needs_family
    def __init__(
        self,
        problem: Problem | Callable[[int], Problem],
        instances: Any,
        *,
        family: Family,
        deviations: Any = None,
        costs: Any = None,
        strategies: Any = None,
        stopping: Any = None,
        deltas: float | Sequence[float] = DELTA,
        repetitions: int = 1000,
        seed: int | None = None,
        rng: RngLike | None = None,
        max_rounds: int = MAX_ROUNDS,
        block: int | None = None,
        name: str = "study",
        folder: str | PathLike[str] | None = None,
    ) -> None:
        check_role("family", family, Family)
        count = checks.repetitions(repetitions)
        title = checks.text("name", name, 200)
        cases = named_instances(instances, problem, family, deviations)
        if strategies is None:
            strategies = default_strategy(cases[0].problem)
        self.spec = StudySpec(
            title,
            family,
            cases,
            named_values("strategies", strategies, Strategy),
            named_values(
                "stopping", default_stopping(family) if stopping is None else stopping, StoppingRule
            ),
            check_deltas(deltas, "deltas"),
            count,
            chosen_seed(seed, rng, 0),
            checks.whole("max_rounds", max_rounds, least=1),
            _block_size(block, count),
            _costs(costs),
        )
        try_each(self.spec)
        self.key = self.spec.fingerprint()
        self.folder = checks.folder("folder", f"{name}.study" if folder is None else folder)
        self._blocks = Blocks(self.folder, self.key)

    @classmethod
    def load(cls, path: str | PathLike[str], folder: str | PathLike[str] | None = None) -> Study:
        """A study from its file; blocks are kept beside it unless a folder is given."""
        file = checks.path("path", path)
        place = file.with_suffix(".study") if folder is None else folder
        return read_study(file, partial(cls, folder=place))

    def __repr__(self) -> str:
        return f"Study({self.spec.name!r}, {len(self.spec.cases())} cases, {self.key})"

    def run(
        self,
        workers: int | None = None,
        executor: Any = None,
        shard: tuple[int, int] = (1, 1),
        progress: bool | Callable[[int], None] | None = None,
        warn: Callable[[str], None] = warnings.warn,
    ) -> StudyStatus:
        """Compute what is missing, and store it block by block.

        ``executor`` is anything with ``submit`` (default: ``workers`` threads). ``shard`` (i, n) takes
        every n-th block, from the i-th. Ctrl-C keeps what is stored: run again to go on.
        """
        part, parts = _shard(shard)
        checks.function("warn", warn, "a function of a message")
        if executor is not None and not checks.has(executor, "submit"):
            raise BadArgument("executor", executor, "something with ``submit``, or None")
        threads = processors() if workers is None else checks.workers(workers)
        about = json.dumps(describe(self.spec, self.key), indent=2)
        write_file(self._blocks.folder / "spec.json", f"{about}\n".encode())
        todo = missing(self.spec, self._blocks, shard, warn)
        ours = [block for place, block in enumerate(blocks(self.spec)) if place % parts == part - 1]
        before = sum(block.size for block in ours) - sum(block.size for block in todo)
        with reporter(progress, sum(block.size for block in ours)) as report:
            done = run_blocks(
                self.spec, todo, self._blocks, executor, threads, lambda done: report(before + done)
            )
        return replace(self.status(), interrupted=not done)

    def status(self) -> StudyStatus:
        """How much is stored."""
        cases = self.spec.cases()
        runs = [0] * len(cases)
        for block in blocks(self.spec):
            if self._blocks.done(block.case.number, block.number):
                runs[block.case.number] += block.size
        return StudyStatus(
            *(self.spec.name, self.key, self.folder, cases, tuple(runs), self.spec.repetitions)
        )

    def collect(self) -> StudyResults:
        """All results; refused while blocks are missing or damaged."""
        by_case: dict[int, list[Batch]] = {}
        for block in blocks(self.spec):
            by_case.setdefault(block.case.number, []).append(self._read(block))
        cases = tuple(
            (case, self._results(case, by_case[case.number])) for case in self.spec.cases()
        )
        self._blocks.tidy()
        return StudyResults(self.spec, self.key, cases)

    def _read(self, block: Block) -> Batch:
        case, number, first, size = block
        if not self._blocks.done(case.number, number):
            status = self.status()
            raise NotComplete(
                f"{self.spec.name}: {status.done:,} of {status.total:,} runs are stored in "
                f"{self.folder}. Run the study to compute the others."
            )
        try:
            return self._blocks.read(case.number, number, first, size)
        except BadBlock as error:
            raise BadBlock(f"{error} Run the study again to compute it anew.") from error

    def _results(self, case: Case, batches: Sequence[Batch]) -> Results:
        spec, design = self.spec, self.spec.design(case)
        joined = Batch(
            0, *(np.concatenate(column) for column in list(zip(*batches, strict=True))[1:])
        )
        deltas = spec.deltas if len(spec.deltas) > 1 else spec.deltas[0]
        results = collect(design, deltas, spec.seed, joined, True)
        return replace(results, costs=checks.costs(spec.costs, results.means.size))

    def report(self, path: str | PathLike[str] | None = None) -> Path:
        """One self-contained HTML page about the collected results; where it was written."""
        from stopwise.studies.report import page

        target = self.folder / "report.html" if path is None else checks.path("path", path)
        write_file(target, page(self.collect(), describe(self.spec, self.key)).encode())
        return target
