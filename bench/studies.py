"""What blocks, files and progress cost a study over the bare engine on Figure 2: a ratio."""

from __future__ import annotations

import io
import tempfile
import time
from contextlib import redirect_stderr

import stopwise as sw
from engine import SEED, figure_2, machine
from oracles import Row, limited, show

RUNS = 2000
TURNS = 5


def engine() -> float:
    """Seconds for the runs alone."""
    case = figure_2("", 0.0, sw.StickyTrackAndStop())
    start = time.perf_counter()
    sw.simulate(
        case.problem,
        case.means,
        family=case.family,
        strategy=case.strategy,
        stopping=sw.Stylized(),
        delta=case.delta,
        repetitions=RUNS,
        seed=SEED,
        progress=False,
    )
    return time.perf_counter() - start


def study() -> float:
    """Seconds for the same runs, stored in blocks, with a progress bar."""
    case = figure_2("", 0.0, sw.StickyTrackAndStop())
    with tempfile.TemporaryDirectory() as folder, redirect_stderr(io.StringIO()):
        start = time.perf_counter()
        sw.Study(
            case.problem,
            case.means,
            family=case.family,
            strategies=case.strategy,
            stopping=sw.Stylized(),
            deltas=case.delta,
            repetitions=RUNS,
            seed=SEED,
            folder=folder,
        ).run(progress=True)
        return time.perf_counter() - start


def main() -> None:
    """Measure and print the report."""
    engine()  # compile
    alone, stored = [], []
    for _ in range(TURNS):
        alone.append(engine())
        stored.append(study())
    extra = 100.0 * (min(stored) / min(alone) - 1.0)
    name = f"a study's blocks, files and progress, {RUNS:,} runs"
    show([machine(), Row("engine alone", f"{min(alone):.3g} s"), limited(name, extra, 3, " %")])


if __name__ == "__main__":
    main()
