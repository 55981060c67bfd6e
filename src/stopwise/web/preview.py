"""What a campaign would cost, from a guess of the means.

It is worked out in a process of its own: simulations, and compiling them, would hold up all others.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from stopwise.campaign import spec as specs
from stopwise.campaign.errors import StorageAway
from stopwise.core.errors import BadArgument, NotDefined, Nothing, StopwiseError

PATIENCE = 30.0  # seconds
RUNS = 100  # simulated campaigns
MOST_ROUNDS = 1_000_000  # of one
CHANCES = (0.05, 0.5, 0.95)


async def preview(wish: dict[str, Any]) -> dict[str, Any]:
    """How many samples a spec would need at these means; a refusal is raised as it would be here."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "stopwise.web.preview"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        text, _ = await asyncio.wait_for(child.communicate(json.dumps(wish).encode()), PATIENCE)
    except TimeoutError:
        raise StopwiseError(
            f"means: no preview within {PATIENCE:g} s. `stopwise plan` takes its time."
        ) from None
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode != 0:
        raise StorageAway("the preview could not be worked out; try again.")
    found: dict[str, Any] = json.loads(text)
    if "refused" in found:
        raise StopwiseError(found["refused"])
    return found


def forecast(
    spec: dict[str, Any], means: list[float], deviations: list[float] | None = None
) -> dict[str, Any]:
    """The samples that the campaign's own strategy and stopping rule need."""
    from stopwise.studies.planning import plan

    made = specs.read(spec)
    specs.refuse_unsaid(made)
    if made.pairs is not None:
        raise StopwiseError(
            "means: those of paired options do not say how often they differ on an item. "
            "sw.simulate_paired works it out from a table of past results."
        )
    problem, family, strategy, stopping = made.design.given
    if deviations is None:
        _check_truth(family)
    found = plan(
        problem,
        means,
        family=family,
        deviations=deviations[0] if deviations and len(deviations) == 1 else deviations,
        strategies={"campaign": strategy},
        stopping=stopping,
        delta=made.delta,
        costs=made.costs,
        repetitions=RUNS,
        max_rounds=MOST_ROUNDS,
        workers=1,
        progress=False,
    )
    own = found.strategies["campaign"]
    low, middle, high = (own.samples.quantiles[chance] for chance in CHANCES)
    return {
        "runs": own.runs,
        "mean": own.samples.mean,
        "low": low,
        "median": middle,
        "high": high,
        "undecided": own.undecided,
        "cost": None if own.cost is None else own.cost.mean,
        "classical": found.classical,
    }


def _check_truth(family: Any) -> None:
    """Means alone do not say how samples with unknown variances spread."""
    try:
        family.check_truth()
    except NotDefined:
        raise BadArgument(
            *("deviations", Nothing(), "a guess of the standard deviation, or one for each arm"),
            "The variance is unknown, so the means alone do not say how many samples are needed.",
        ) from None


def main() -> None:
    """A wish as JSON on the input, what it would cost, or why it is refused, on the output."""
    wish = json.load(sys.stdin)
    try:
        found = forecast(wish["spec"], wish["means"], wish.get("deviations"))
    except StopwiseError as error:
        found = {"refused": str(error)}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
