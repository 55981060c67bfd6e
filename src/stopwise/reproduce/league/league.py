"""The league: one small study for each entry, so that a new strategy computes only its own runs."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from stopwise.core import checks
from stopwise.core.errors import BadArgument
from stopwise.core.seeds import RngLike, chosen_seed
from stopwise.engine.batch import Seeding
from stopwise.engine.design import check_deltas
from stopwise.engine.worker import Worker, new_outcome
from stopwise.reproduce.league.entries import Entry, entrants, entries, instances, rules
from stopwise.reproduce.league.standings import Standings, standings
from stopwise.studies.blocks import write_file
from stopwise.studies.simulation import reporter
from stopwise.studies.study import Study

DELTAS = (0.1, 0.05, 0.01)
QUICK, FULL = 100, 1000  # repetitions
ROUNDS = 50_000  # that are timed


class League:
    """Strategies against each other: samples, errors and time, instance by instance.

    ``instances``, ``strategies`` and ``rules`` are names, by default those of the default size, with
    ``full`` all. A strategy may also be spelled as in study files, or be the name of a Python file that
    defines one. Runs are kept in ``folder``: what is there is not computed again.
    ``seed`` (by default 0) and ``rng`` are those of ``simulate``.
    """

    def __init__(
        self,
        instances: Sequence[str] = (),
        strategies: Sequence[str] = (),
        rules: Sequence[str] = (),
        deltas: Sequence[float] = DELTAS,
        repetitions: int | None = None,
        seed: int | None = None,
        full: bool = False,
        folder: str | PathLike[str] = "league",
        rng: RngLike | None = None,
    ) -> None:
        listed = checks.listed("deltas", deltas, "a list of probabilities")
        self.deltas = tuple(sorted(check_deltas(listed, "deltas"), reverse=True))
        self.full, self.seed = checks.truth("full", full), chosen_seed(seed, rng, 0)
        self.folder = checks.folder("folder", folder)
        size = FULL if full else QUICK
        self.repetitions = size if repetitions is None else checks.repetitions(repetitions, 2)
        self.entries = _entries(
            _names("instances", instances),
            _names("strategies", strategies),
            _names("rules", rules),
            self.deltas,
            full,
        )
        self._studies = [(entry, list(self._divided(entry))) for entry in self.entries]

    def _divided(self, entry: Entry) -> Iterator[Study]:
        """One trajectory serves all deltas, unless the strategy looks at delta."""
        looks = entry.strategy[1].looks_at_delta
        for deltas in [(each,) for each in self.deltas] if looks else [self.deltas]:
            yield Study(
                entry.instance.problem,
                {entry.instance.name: entry.instance.means},
                family=entry.instance.family,
                strategies=dict([entry.strategy]),
                stopping=dict([entry.stopping]),
                deltas=deltas,
                repetitions=self.repetitions,
                seed=self.seed,
                max_rounds=entry.max_rounds,
                name=entry.instance.name,
                folder=self.folder / entry.instance.name,
            )

    @property
    def studies(self) -> list[Study]:
        """All of them, in order."""
        return [study for _, parts in self._studies for study in parts]

    def run(
        self,
        workers: int | None = None,
        executor: Any = None,
        progress: bool | Callable[[int], None] | None = None,
        warn: Callable[[str], None] = warnings.warn,
    ) -> bool:
        """Compute what is missing; whether all is there (Ctrl-C: no, run again to go on)."""
        done = 0
        with reporter(progress, self.repetitions * len(self.studies)) as report:
            for study in self.studies:

                def tell(own: int, before: int = done) -> None:
                    report(before + own)

                if study.run(workers, executor, progress=tell, warn=warn).interrupted:
                    return False
                _pace(study)
                done += self.repetitions
        return True

    def standings(self) -> Standings:
        """Who needs how many samples, and who is first; refused while runs are missing."""
        found = [
            (entry, [(study.collect().cases[0][1], _pace(study)) for study in parts])
            for entry, parts in self._studies
        ]
        return standings(found, self.deltas)

    def page(self, path: str | PathLike[str] | None = None) -> Path:
        """One self-contained HTML page; where it was written."""
        from stopwise.reproduce.league.page import page

        target = self.folder / "league.html" if path is None else checks.path("path", path)
        about = {
            "runs of each": self.repetitions,
            "deltas": list(self.deltas),
            "seed": self.seed,
            "size": "full" if self.full else "as chosen",
        }
        write_file(target, page(self.standings(), about).encode())
        return target


def _names(what: str, given: Any) -> list[str]:
    found = [] if given is None else checks.listed(what, given, "a list of names")
    return [checks.text(f"{what}[{place}]", each, 1000) for place, each in enumerate(found)]


def _entries(
    where: Sequence[str], who: Sequence[str], when: Sequence[str], deltas: Any, full: bool
) -> list[Entry]:
    chosen = rules(when or (("wealth", "stylized") if full else ("wealth",)))
    asked = entrants(who, full)
    found = list(entries(instances(where, full), asked, chosen, deltas))
    entered = {entry.strategy[0] for entry in found}
    for each in asked if who else ():
        if each.name not in entered:
            allowed = "strategies for one of the instances' questions"
            raise BadArgument("strategies", each.name, allowed)
    return found


def _pace(study: Study) -> float:
    """Nanoseconds a round in one thread; measured once and kept, since no result depends on it."""
    place = study.folder / study.key / "pace.json"
    if place.exists():
        return float(json.loads(place.read_text())["nanoseconds"])
    design = study.spec.design(study.spec.cases()[0])
    worker, rounds, repetition = Worker(design), 0, 0
    begun = time.thread_time_ns()
    while rounds < ROUNDS and repetition < study.spec.repetitions:
        outcome = new_outcome(design)
        for _ in worker.run(*Seeding(study.spec.seed), repetition, outcome, lambda: False):
            pass
        rounds += int(outcome.progress[0])
        repetition += 1
    found = (time.thread_time_ns() - begun) / rounds
    write_file(place, json.dumps({"nanoseconds": found}).encode())
    return found
