"""Before an experiment: how many samples it will take, from a guess of the means."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stopwise import checks, spelling
from stopwise.checks import Floats
from stopwise.engine.plan import Plan, check_deltas, generator, prepare
from stopwise.errors import BadArgument, StopwiseError
from stopwise.families import Gaussian
from stopwise.problems import BestArm, base
from stopwise.quantities import Oracle, oracle
from stopwise.results import Results, binomial_interval
from stopwise.sampling import StickyTrackAndStop, TrackAndStop, Uniform
from stopwise.simulation import MAX_ROUNDS, reporter, simulate
from stopwise.stopping import Mixture
from stopwise.stopping.thresholds import growth
from stopwise.studies.forecast import QUANTILES, Forecast, Guess, Instance, Spread, StrategyForecast

BUDGET = 8_000_000  # rounds in all, when ``repetitions`` is left open: a few seconds
FEWEST, MOST = 20, 400  # runs of each strategy, when it is left open
MAX_ROUNDS_OF_DRAWS = 1_000_000  # ranges may hold near-ties, which take for ever
RESAMPLES = 200  # of the bootstrap behind the standard errors of quantiles
Strategies = Mapping[str, Any] | Sequence[Any]


def plan(
    problem: Any,
    means: Sequence[Guess],
    family: Any = Gaussian(),
    delta: float = 0.05,
    strategies: Strategies | None = None,
    threshold: Any = Mixture(),
    costs: float | ArrayLike | None = None,
    repetitions: int | None = None,
    draws: int = 20,
    seed: int = 1,
    max_rounds: int | None = None,
    workers: int | None = None,
    progress: bool | Callable[[int], None] | None = None,
) -> Forecast:
    """How many samples an experiment will take, if the means are what you guess.

    Each of the ``means`` is a number or a pair (low, high). With pairs, ``draws`` instances are drawn
    uniformly and independently from the ranges, and runs are simulated at each. ``strategies`` is a
    list or a dictionary by name; by default Sticky Track-and-Stop, Track-and-Stop and Uniform.
    ``costs`` is what a sample of each arm costs (one number for all, or one each). ``repetitions``, for
    each instance and strategy, is by default between 20 and 400 runs of each strategy, as many as take a
    few seconds. ``max_rounds`` ends a run undecided; by default 10 million, 1 million with ranges.
    ``workers`` and ``progress`` are those of ``simulate``. Means at which no test can end are refused.
    """
    guesses = _guesses(means, base.arm_count(problem), family)
    level = _error_rate(delta)
    chosen = _named(strategies)
    prices = None if costs is None else _prices(costs, len(guesses))
    count = None if repetitions is None else checks.whole("repetitions", repetitions, least=1)
    start = checks.whole("seed", seed, least=0)
    several = any(isinstance(guess, tuple) for guess in guesses)
    number = checks.whole("draws", draws, least=2) if several else 1
    most = MAX_ROUNDS_OF_DRAWS if several else MAX_ROUNDS
    if max_rounds is not None:
        most = checks.whole("max_rounds", max_rounds, least=len(guesses))
    if workers is not None:
        checks.whole("workers", workers, least=1)
    instances, sharp = _instances(problem, family, guesses, level, start, number)
    plans = [
        prepare(problem, strategy, instances[0].means, family, (level,), threshold, most)
        for strategy in chosen.values()
    ]
    _refuse_out_of_reach(instances, most)
    if count is None:
        count = _affordable(plans, instances)
    results, complete = _simulate(
        problem, family, level, threshold, chosen, instances, count, most, workers, progress
    )
    bound = float(np.mean([each.lower_bound for each in instances]))
    found = {
        name: _summarise(name, chosen[name], runs, prices, bound) for name, runs in results.items()
    }
    if not found:
        raise StopwiseError("plan: interrupted before the first run had finished.")
    return Forecast(
        problem,
        family,
        threshold,
        level,
        guesses,
        prices,
        start,
        count,
        most,
        plans[0].proven,
        sharp,
        complete,
        instances,
        found,
    )


def _guesses(means: Any, arms: int, family: Any) -> tuple[Guess, ...]:
    allowed = f"{arms} entries, one for each arm: a number, or a pair (low, high)"
    if isinstance(means, str | bytes) or not hasattr(means, "__len__") or len(means) != arms:
        raise BadArgument("means", means, allowed)
    found: list[Guess] = []
    for arm, each in enumerate(means):
        if np.ndim(each) == 0:
            found.append(checks.finite(f"means[{arm}]", each))
            continue
        if np.shape(each) != (2,):
            raise BadArgument(f"means[{arm}]", each, "a number, or a pair (low, high)")
        low, high = (checks.finite(f"means[{arm}]", end) for end in each)
        if not low < high:
            raise BadArgument(f"means[{arm}]", each, "a pair (low, high) with low < high")
        found.append((low, high))
    for end in (0, 1):
        checks.means([g[end] if isinstance(g, tuple) else g for g in found], arms, family)
    return tuple(found)


def _error_rate(delta: Any) -> float:
    (level,) = check_deltas(checks.finite("delta", delta))
    if level >= 0.5:
        raise BadArgument("delta", delta, "a probability strictly between 0 and 0.5")
    return level


def _named(strategies: Strategies | None) -> dict[str, Any]:
    """By name; those of a list get the name by which files and commands know them."""
    if strategies is None:
        strategies = [StickyTrackAndStop(), TrackAndStop(), Uniform()]
    if isinstance(strategies, Mapping):
        found = {str(name): strategy for name, strategy in strategies.items()}
    else:
        # a single strategy is a tuple too, but one with fields
        if not isinstance(strategies, list | tuple) or hasattr(strategies, "_fields"):
            raise BadArgument("strategies", strategies, "a list of strategies, or a dictionary")
        names = {kind: name for name, kind in spelling.STRATEGIES.items()}
        found = {}
        for each in strategies:
            name = names.get(type(each), type(each).__name__)
            found[repr(each) if name in found else name] = each
    if not found or len(found) < len(strategies):
        raise BadArgument("strategies", strategies, "at least one strategy, and each once")
    return found


def _prices(costs: Any, arms: int) -> Floats:
    if np.ndim(costs) == 0:
        return np.full(arms, checks.positive("costs", costs))
    found = checks.vector("costs", costs, arms)
    if np.any(found <= 0.0):
        arm = int(np.argmax(found <= 0.0))
        raise BadArgument(f"costs[{arm}]", float(found[arm]), "a cost above 0 for each sample")
    return found


def _instances(
    problem: Any, family: Any, guesses: tuple[Guess, ...], delta: float, seed: int, number: int
) -> tuple[tuple[Instance, ...], bool]:
    """Where to simulate, with the lower bounds there; and whether those are the sharp ones."""
    drawn = [_draw(guesses, seed, place) for place in range(number)] if number > 1 else []
    places = drawn or [(np.array(guesses, dtype=float), seed)]
    oracles = []
    for place, (means, _) in enumerate(places):
        found = oracle(problem, means, family)
        if found.value == 0.0:
            raise _tie(found, f" (draw {place + 1} of {number})" if drawn else "")
        oracles.append(found)
    # If only i is correct, P(i) >= 1 - delta here and P(i) <= delta wherever i is wrong; delta < 1/2, so
    # E[tau] D(mu) >= kl(1 - delta, delta) = kl(delta, 1 - delta): Garivier & Kaufmann 2016, Theorem 1.
    sharp = all(len(each.correct) == 1 for each in oracles)
    factor = (1.0 - 2.0 * delta) * math.log((1.0 - delta) / delta) if sharp else -math.log(delta)
    return tuple(
        Instance(means, own, each, each.time * factor)
        for (means, own), each in zip(places, oracles, strict=True)
    ), sharp


def _draw(guesses: tuple[Guess, ...], seed: int, place: int) -> tuple[Floats, int]:
    """Means drawn uniformly from their ranges, and the seed of the runs there."""
    rng = generator(seed, 1, place)
    means = [rng.uniform(*guess) if isinstance(guess, tuple) else guess for guess in guesses]
    return np.array(means), int(rng.integers(2**63))


def _tie(found: Oracle, where: str) -> BadArgument:
    """Why no test ends here, and what to do about it."""
    problem, means = found.problem, found.means
    hint = "Guess means off the boundary, or give a range as (low, high)."
    limit = getattr(problem, "threshold", None)
    if isinstance(problem, BestArm):
        tied = np.flatnonzero(means == means.max())
        reason = f"{_arms(tied)} tie for the best"
        hint = (
            "Guess means that differ, or accept any arm within epsilon of the best: "
            f"BestArm({means.size}, epsilon=...), on the command line best-arm:epsilon=..."
        )
    elif limit is not None and np.any(means == limit):
        tied = np.flatnonzero(means == limit)
        reason = f"{_arms(tied)} {'lies' if tied.size == 1 else 'lie'} on the threshold {limit:g}"
    else:
        correct = " and ".join(repr(answer) for answer in found.correct[:4])
        reason = f"the means lie on the boundary of the answer {correct}"
    allowed = (
        f"means at which a test can end. Here{where} {reason}: T* is infinite, no test ever ends"
    )
    return BadArgument("means", means.tolist(), allowed, hint)


def _arms(tied: Any) -> str:
    *most, last = (str(arm) for arm in tied[:10])
    return f"arms {', '.join(most)} and {last}" if most else f"arm {last}"


def _refuse_out_of_reach(instances: tuple[Instance, ...], max_rounds: int) -> None:
    least = min(each.lower_bound for each in instances)
    if least > max_rounds:
        raise BadArgument(
            "max_rounds",
            max_rounds,
            f"at least the lower bound, {least:,.0f} samples on average for any method",
            "Larger differences between the means, or a larger epsilon or delta, need fewer.",
        )


def _affordable(plans: list[Plan], instances: tuple[Instance, ...]) -> int:
    """As many repetitions as fit into the budget, from the rounds that the first threshold asks for."""
    rounds = sum(_guess_rounds(plans[0], each.oracle) for each in instances) * len(plans)
    fewest, most = (max(2, -(-number // len(instances))) for number in (FEWEST, MOST))
    return int(np.clip(BUDGET // rounds, fewest, most))


def _guess_rounds(setting: Plan, found: Oracle) -> float:
    """t with t/T* = threshold(t), the arms sampled in oracle proportions."""
    fixed = float(setting.constants[0])
    rounds = found.time * fixed
    for _ in range(4):
        counts = np.maximum(found.weights[0] * rounds, 1.0)
        more = growth(setting.threshold, setting.problem, setting.family, counts, found.means)
        rounds = found.time * (fixed + more)
    return float(np.clip(rounds, found.means.size, setting.max_rounds))


def _simulate(
    problem: Any,
    family: Any,
    delta: float,
    threshold: Any,
    strategies: dict[str, Any],
    instances: tuple[Instance, ...],
    count: int,
    max_rounds: int,
    workers: int | None,
    progress: bool | Callable[[int], None] | None,
) -> tuple[dict[str, list[Results]], bool]:
    """The results of each strategy at each instance, and whether all runs have finished."""
    found: dict[str, list[Results]] = {name: [] for name in strategies}
    jobs = [(instance, name) for instance in instances for name in strategies]
    complete = True
    with reporter(progress, count * len(jobs)) as report:
        for place, (instance, name) in enumerate(jobs):
            if report is not None:
                report(count * place)  # the next strategy may have to be compiled first
            results = simulate(
                problem,
                strategies[name],
                instance.means,
                family,
                delta,
                threshold,
                count,
                instance.seed,
                max_rounds,
                workers,
                False if report is None else _after(report, count * place),
            )
            if len(results):
                found[name].append(results)
            complete = results.complete
            if not complete:  # Ctrl-C
                break
    return {name: runs for name, runs in found.items() if runs}, complete


def _after(report: Callable[[int], None], earlier: int) -> Callable[[int], None]:
    return lambda done: report(earlier + done)


def _summarise(
    name: str, strategy: Any, results: list[Results], prices: Floats | None, bound: float
) -> StrategyForecast:
    spent = [np.where(r.undecided, r.max_rounds, r.stopping_times).astype(float) for r in results]
    counts = np.concatenate([r.counts for r in results])
    samples, runs = _spread(spent), counts.shape[0]
    undecided = int(sum(r.undecided.sum() for r in results))
    errors = runs - undecided - int(sum(r.correct.sum() for r in results))
    means = np.array([each.mean() for each in spent])
    inside = [each.var(ddof=1) for each in spent if each.size > 1]
    within = float(np.mean(inside)) if inside else math.nan
    noise = within * float(np.mean([1.0 / each.size for each in spent]))
    between = max(float(means.var(ddof=1)) - noise, 0.0) if means.size > 1 else 0.0
    return StrategyForecast(
        name,
        strategy,
        runs,
        undecided,
        errors,
        binomial_interval(errors, runs),
        samples,
        samples.mean / bound,
        None if prices is None else _spread([r.counts @ prices for r in results]),
        counts.mean(axis=0),
        np.quantile(counts, 0.95, axis=0),
        means,
        math.sqrt(between),
        math.sqrt(within),
        np.sort(np.concatenate(spent)),
    )


def _spread(groups: list[Floats]) -> Spread:
    """Over all runs; errors from what was drawn independently: instances, or runs if there is one."""
    pooled = np.concatenate(groups)
    units = groups if len(groups) > 1 else list(pooled[:, None])
    quantiles = np.quantile(pooled, QUANTILES)
    error, errors = math.nan, np.full(len(QUANTILES), math.nan)
    if len(units) > 1:
        error = float(np.std([unit.mean() for unit in units], ddof=1)) / math.sqrt(len(units))
        rng = np.random.default_rng(0)  # the same numbers every time
        choices = rng.integers(len(units), size=(RESAMPLES, len(units)))
        again = [np.quantile(np.concatenate([units[i] for i in c]), QUANTILES) for c in choices]
        errors = np.std(again, axis=0, ddof=1)
    return Spread(
        float(pooled.mean()),
        error,
        dict(zip(QUANTILES, map(float, quantiles), strict=True)),
        dict(zip(QUANTILES, map(float, errors), strict=True)),
    )
