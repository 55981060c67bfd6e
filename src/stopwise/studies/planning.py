"""Before an experiment: how many samples it will take, from a guess of the means."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core import checks, registry
from stopwise.core.arrays import Floats
from stopwise.core.errors import BadArgument, Costly, StopwiseError
from stopwise.core.seeds import RngLike, chosen_seed
from stopwise.core.values import check_role, needs_family, overrides
from stopwise.engine.design import Design, check_deltas, generator, prepare, with_defaults
from stopwise.engine.loop import begin
from stopwise.engine.truth import known_family, read_truth
from stopwise.engine.worker import Worker, new_outcome
from stopwise.families.family import Family
from stopwise.oracles.lower_bound import proven_bound
from stopwise.oracles.quantities import oracle
from stopwise.oracles.values import Oracle
from stopwise.problems.instance import Instance as Observed
from stopwise.problems.problem import Problem
from stopwise.sampling.strategy import Strategy
from stopwise.stopping.rule import StoppingRule
from stopwise.studies.amounts import Guess
from stopwise.studies.expected import BEYOND, QUANTILES, Instance, Spread, StrategyForecast
from stopwise.studies.forecast import Forecast
from stopwise.studies.guesses import read_guesses
from stopwise.studies.results import Results, binomial_interval
from stopwise.studies.simulation import DELTA, MAX_ROUNDS, reporter, simulate

BUDGET = 8_000_000  # rounds in all, when ``repetitions`` is left open: a few seconds
# runs of each strategy, when that is left open: enough for the quantiles that are shown
FEWEST, MOST = round(BEYOND / (1.0 - QUANTILES[-1])), 400
MAX_ROUNDS_OF_DRAWS = 1_000_000  # ranges may hold near-ties, which take for ever
RESAMPLES = 200  # of the bootstrap behind the standard errors of quantiles
Strategies = Mapping[str, Strategy] | Sequence[Strategy]
# strategies, unless others are named
USUAL = ("sticky-track-and-stop", "track-and-stop", "uniform")


@needs_family
def plan(
    problem: Problem,
    means: Sequence[Any] | Mapping[str, ArrayLike],
    *,
    family: Family,
    deviations: float | ArrayLike | None = None,
    strategies: Strategies | None = None,
    stopping: StoppingRule | None = None,
    delta: float | str = DELTA,
    costs: float | ArrayLike | None = None,
    repetitions: int | None = None,
    draws: int = 20,
    seed: int | None = None,
    rng: RngLike | None = None,
    max_rounds: int | None = None,
    workers: int | None = None,
    progress: bool | Callable[[int], None] | None = None,
) -> Forecast:
    """How many samples an experiment will take, if the means are what you guess.

    Each of the ``means`` is a number, a percentage as text ("2.4%"; so may be ``delta``), or a pair
    (low, high) of them. With pairs, ``draws`` instances are drawn uniformly and independently from the
    ranges, and runs are simulated at each. In place of means: laws or pilot data (as a dict or a table),
    and ``deviations``, as in ``simulate``. ``strategies`` is a list or a dictionary by name; by default
    Sticky Track-and-Stop, Track-and-Stop and Uniform. ``stopping`` is by default the rule that suits the
    family. ``costs`` is what a sample of each arm costs, in money or time (one number for all, or one
    each); strategies that track oracle weights then save costs, not samples. ``repetitions``, for each
    instance and strategy, is by default between 100 and 400 runs of each strategy: as many as take a few
    seconds, and enough for the quantiles that are shown.
    ``max_rounds`` ends a run undecided; by default 10 million, 1 million with ranges. ``workers``,
    ``progress``, ``seed`` (by default 1) and ``rng`` are those of ``simulate``. Means at which no test
    can end are refused.
    """
    setting = with_defaults(problem, family, stopping=stopping)
    guesses, truth = read_guesses(means, deviations, problem.arms, family)
    level = _error_rate(delta)
    chosen = _named(strategies)
    prices = checks.costs(costs, len(guesses))
    count = None if repetitions is None else checks.repetitions(repetitions)
    start = chosen_seed(seed, rng, 1)
    several = any(isinstance(guess, tuple) for guess in guesses)
    number = checks.whole("draws", draws, least=2) if several else 1
    most = MAX_ROUNDS_OF_DRAWS if several else MAX_ROUNDS
    if max_rounds is not None:
        most = checks.whole("max_rounds", max_rounds, least=len(guesses))
    if workers is not None:
        checks.workers(workers)
    # a tuple would be taken for laws
    laws = truth.laws or (list(deviations) if isinstance(deviations, tuple) else deviations)
    instances, sharp = _instances(problem, family, guesses, laws, level, start, number, prices)
    designs = [
        prepare(setting._replace(strategy=each), instances[0].truth, (level,), most, costs=prices)
        for each in chosen.values()
    ]
    _refuse_out_of_reach(instances, most)
    if count is None:
        count = _affordable(designs, instances)
    named = dict(zip(chosen, designs, strict=True))
    results, complete = _simulate(named, instances, count, prices, workers, progress)
    bound = float(np.mean([each.lower_bound for each in instances]))
    found = {name: _summarise(name, runs, prices, bound) for name, runs in results.items()}
    if not found:
        raise StopwiseError("plan: interrupted before the first run had finished.")
    return Forecast(
        problem,
        family,
        setting.stopping,
        level,
        guesses,
        prices,
        start,
        count,
        most,
        designs[0].proven,
        designs[0].guarantee,
        sharp,
        complete,
        instances,
        found,
        truth.labels,
    )


def _error_rate(delta: Any) -> float:
    (level,) = check_deltas(checks.number("delta", delta))
    if level >= 0.5:
        raise BadArgument("delta", delta, "a probability strictly between 0 and 0.5")
    return level


def _named(strategies: Strategies | None) -> dict[str, Strategy]:
    """By name; those of a list get the name by which files and commands know them."""
    if strategies is None:
        strategies = [registry.find("strategy", name)() for name in USUAL]
    if isinstance(strategies, Mapping):
        found = {str(name): strategy for name, strategy in strategies.items()}
    else:
        # a single strategy is a tuple too, but one with fields
        if not isinstance(strategies, list | tuple) or hasattr(strategies, "_fields"):
            raise BadArgument("strategies", strategies, "a list of strategies, or a dictionary")
        found = {}
        for each in strategies:
            name = registry.spelled(type(each).__name__)
            found[repr(each) if name in found else name] = each
    if not found or len(found) < len(strategies):
        raise BadArgument("strategies", strategies, "at least one strategy, and each once")
    for each in found.values():
        check_role("strategies", each, Strategy)
    return found


def _instances(
    problem: Problem,
    family: Family,
    guesses: tuple[Guess, ...],
    laws: Any,
    delta: float,
    seed: int,
    number: int,
    prices: Floats | None = None,
) -> tuple[tuple[Instance, ...], bool]:
    """Where to simulate, with the lower bounds there; and whether one answer is correct at each."""
    drawn = [_draw(guesses, seed, place) for place in range(number)] if number > 1 else []
    places = drawn or [(np.array(guesses, dtype=float), seed)]
    instances = []
    for place, (means, own) in enumerate(places):
        its = laws if isinstance(laws, tuple) else read_truth(means, family, laws).laws
        known = known_family(family, its)
        found = oracle(problem, means, family=known)
        if found.value == 0.0:
            raise _tie(found, f" (draw {place + 1} of {number})" if drawn else "")
        bound = proven_bound(problem, known, found.means, delta)
        least = proven_bound(problem, known, found.means, delta, prices)
        instances.append(Instance(means, own, found, bound, its, least))
    return tuple(instances), all(len(each.oracle.correct) == 1 for each in instances)


def _draw(guesses: tuple[Guess, ...], seed: int, place: int) -> tuple[Floats, int]:
    """Means drawn uniformly from their ranges, and the seed of the runs there."""
    rng = generator(seed, 1, place)
    means = [rng.uniform(*guess) if isinstance(guess, tuple) else guess for guess in guesses]
    return np.array(means), int(rng.integers(2**63))


def _tie(found: Oracle, where: str) -> BadArgument:
    """Why no test ends here, and what to do about it."""
    reason, hint = found.problem.tie_text(found.means)
    allowed = (
        f"means at which a test can end. Here{where} {reason}: T* is infinite, no test ever ends"
    )
    return BadArgument("means", found.means.tolist(), allowed, hint)


def _refuse_out_of_reach(instances: tuple[Instance, ...], max_rounds: int) -> None:
    least = min(each.lower_bound for each in instances)
    if least > max_rounds:
        raise BadArgument(
            "max_rounds",
            max_rounds,
            f"at least the lower bound, {least:,.0f} samples on average for any method",
            "Larger differences between the means, or a larger epsilon or delta, need fewer.",
        )


def _affordable(designs: list[Design], instances: tuple[Instance, ...]) -> int:
    """As many repetitions as fit into the budget, from the rounds that the first of them will take."""
    if overrides(designs[0].family, "init_stats"):  # what it keeps of samples only samples can tell
        scale = sum(each.oracle.time for each in instances) / instances[0].oracle.time
        rounds = _first_run(designs[0]) * scale * len(designs)
    else:
        rounds = sum(_guess_rounds(designs[0], each.oracle) for each in instances) * len(designs)
    fewest, most = (max(2, -(-number // len(instances))) for number in (FEWEST, MOST))
    return int(np.clip(BUDGET // rounds, fewest, most))


def _first_run(design: Design) -> float:
    """The rounds of one run, or a share of the budget if it takes more."""
    worker = Worker(design._replace(max_rounds=min(design.max_rounds, BUDGET // FEWEST)))
    outcome = new_outcome(design)
    for _ in worker.run(0, 0, 0, outcome, lambda: False):
        pass
    return float(outcome.progress[0])


def _guess_rounds(design: Design, found: Oracle) -> float:
    """t at which the evidence less what the data ask for is the level, in oracle proportions."""
    rounds = found.time * float(design.levels[0])
    for _ in range(3):
        rounds += found.time * (float(design.levels[0]) - _margin(design, found, rounds))
    return float(np.clip(rounds, found.means.size, design.max_rounds))


def _margin(design: Design, found: Oracle, rounds: float) -> float:
    """By how much the stopping rule's evidence exceeds what the data ask for, after so many rounds."""
    state, rule = begin(design), design.stopping
    instance = Observed(design.problem, design.family, state.data, state.cache)
    state.data.counts[:] = np.maximum(found.weights[0] * rounds, 1.0)
    state.data.means[:] = found.means
    instance.problem.rebuild_cache(instance.family, state.data, state.cache)
    for arm, mean in enumerate(found.means):
        rule.update(instance, state, arm, mean)
    return float(rule.margin(instance, state, int(rounds), -math.inf))


def _simulate(
    designs: dict[str, Design],
    instances: tuple[Instance, ...],
    count: int,
    prices: Floats | None,
    workers: int | None,
    progress: bool | Callable[[int], None] | None,
) -> tuple[dict[str, list[Results]], bool]:
    """The results of each strategy at each instance, and whether all runs have finished."""
    found: dict[str, list[Results]] = {name: [] for name in designs}
    jobs = [(instance, name) for instance in instances for name in designs]
    complete = True
    with reporter(progress, count * len(jobs)) as report, warnings.catch_warnings():
        warnings.simplefilter("ignore", Costly)  # it is among the forecast's notes
        for place, (instance, name) in enumerate(jobs):
            report(count * place)  # the next strategy may have to be compiled first
            results = simulate(
                means=instance.truth,
                **designs[name].given._asdict(),
                delta=float(designs[name].deltas[0]),
                repetitions=count,
                seed=instance.seed,
                max_rounds=designs[name].max_rounds,
                costs=prices,
                workers=workers,
                progress=_after(report, count * place),
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
    name: str, results: list[Results], prices: Floats | None, bound: float
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
        results[0].strategy,
        runs,
        undecided,
        errors,
        binomial_interval(errors, runs),
        samples,
        samples.mean / bound if bound > 0.0 else math.inf,
        None if prices is None else _spread([r.cost for r in results]),
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
