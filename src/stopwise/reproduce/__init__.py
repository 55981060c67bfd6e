"""The paper's table and figures, computed anew, and what they say about its claims."""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from stopwise.core import checks
from stopwise.core.errors import BadArgument
from stopwise.core.seeds import RngLike, chosen_seed
from stopwise.reproduce.common import Claim, Number, Order, Progress, Reproduction, write

NAMES = ("table1", "figure1", "figure2", "figure3", "figure4", "figure5")
SEED = 2019


def reproduce(
    name: str,
    repetitions: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    out: str | PathLike[str] = "out/paper",
    full: bool = False,
    progress: Progress = None,
    rng: RngLike | None = None,
) -> Reproduction:
    """Compute one of the paper's experiments, or "all"; pictures, data and summary.json go to out/name.

    ``repetitions`` is the number of runs where there are many (default: what takes minutes; with
    ``full`` the paper's own). ``workers``, ``progress``, ``seed`` (by default
    2019) and ``rng`` are those of ``simulate``.
    """
    used = chosen_seed(seed, rng, SEED)
    if name == "all":
        parts = tuple(
            reproduce(each, repetitions, used, workers, out, full, progress) for each in NAMES
        )
        return Reproduction(
            "all",
            "The paper's table and figures",
            used,
            claims=tuple(claim for part in parts for claim in part.claims),
            files=tuple(file for part in parts for file in part.files),
            parts=parts,
        )
    if name not in NAMES:
        raise BadArgument("name", name, ", ".join((*NAMES, "all")))
    experiment: Any = import_module(f"stopwise.reproduce.{name}")
    runs = experiment.FULL if full else experiment.DEFAULT
    if repetitions is not None:
        runs = min(runs, 1) * checks.repetitions(repetitions, least=2)
    if workers is not None:
        workers = checks.workers(workers)
    setting = Order(_folder(out, name), runs, used, workers, full, progress)
    return write(name, experiment.TITLE, setting, experiment.make(setting))


def _folder(out: str | PathLike[str], name: str) -> Path:
    folder = Path(out) / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise BadArgument("out", str(out), "a folder that can be written to", reason) from error
    return folder


__all__ = ["NAMES", "SEED", "Claim", "Number", "Reproduction", "reproduce"]
