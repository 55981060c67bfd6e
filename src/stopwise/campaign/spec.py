"""What a campaign asks: checked, completed with defaults, and known again by its hash."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from stopwise.campaign.item_session import ItemSession
from stopwise.campaign.order import AT_RANDOM, ORDERS, WORST_CASE, check_losses, check_order
from stopwise.campaign.session import Session
from stopwise.core import checks, registry, spelling
from stopwise.core.errors import BadArgument, Costly, StopwiseError
from stopwise.engine.design import Design, Setting, check_deltas, default_strategy_spec, prepare
from stopwise.paired.comparison import Comparison, comparison, question
from stopwise.sampling.strategy import Strategy

KEYS = (
    *("question", "arms", "family", "delta", "stopping", "strategy", "budget", "costs"),
    *("order", "losses", "minimum", "room", "additions", "minimise", "paired", "items"),
    "deterministic",
)
SEPARATE = (
    "stopping",
    "strategy",
    "costs",
    "room",
    "additions",
    "minimise",
)  # keys that pairs have no use for
FORMER = {"threshold": "stopping"}  # what 0.2.0 called it: its campaigns keep their specs
GOALS = ("samples", "cost")  # what to minimise: samples, where the spec does not say
# which arm is added: whatever samples suggest, or one settled beforehand, where the spec does not say
ADDITIONS = ("adaptive", "planned")
# what a stored spec means that does not say: new ones say all of it
LEFT_OPEN = {
    "order": "told",
    "losses": AT_RANDOM,
    "additions": ADDITIONS[1],
    "deterministic": True,
}
LONGEST_LABEL = 200
MOST_ARMS = 100_000
MOST_SAMPLES = 10**12  # that a budget or a minimum may name
MOST_PAIRED = 50  # arms: what is kept grows with their square
MOST_ITEMS = 1_000_000  # of a pool
HORIZON = 2**40  # rounds for which Sticky's region is tabulated


AnySession: TypeAlias = Session | ItemSession


class CampaignSpec(NamedTuple):
    """A question about labelled arms; ``table`` is the whole spec as it is stored."""

    table: dict[str, Any]
    given: dict[str, Any]  # without what was left open
    labels: tuple[str, ...]
    design: Design
    delta: float
    budget: int | None
    costs: tuple[float, ...] | None
    order: str  # in which samples count: "asked"; "told" where the spec does not say
    losses: (
        str  # what is assumed of values that do not come; "at random" where the spec does not say
    )
    minimum: int  # samples of each arm without which there is no decision
    first: int  # arms with which it was created
    key: str  # the hash by which a spec is known again
    pairs: Comparison | None = None  # if all arms get the same items

    def session(self) -> AnySession:
        """A new session, whose randomness is the campaign's own."""
        seed = int(self.key, 16)
        if self.pairs is not None:
            what = self.pairs._replace(minimum=self.minimum)
            return ItemSession(
                *(what, self.design.family, self.design.problem.goal_sign(), seed, self.losses)
            )
        return Session(self.design, seed, self.order, self.minimum, self.losses)

    @property
    def remark(self) -> str:
        """A warning if the stopping rule expects means far from the limits that are asked about."""
        limits = self.design.limits[: len(self.labels)]
        return self.design.misplaced_warning(limits) if limits else ""


def dump(table: Mapping[str, Any]) -> str:
    """A spec as text, the same for equal specs."""
    try:
        return json.dumps(
            table, sort_keys=True, ensure_ascii=False, allow_nan=False, default=_plain
        )
    except BadArgument:
        raise
    except (RecursionError, TypeError):  # lists in lists in lists; keys that are no texts
        raise BadArgument("spec", table, "texts, numbers, lists and tables") from None
    except ValueError:
        hint = "Bounds of cells where some are infinite: as rows of normals and offsets."
        raise BadArgument("spec", table, "finite numbers", hint) from None


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's."""
    if isinstance(value, np.ndarray | np.generic) and value.size <= checks.MOST_NUMBERS:
        found = value.tolist()
        if not isinstance(found, np.generic):  # such as those with more digits than Python's
            return found
    raise BadArgument("spec", value, "texts, numbers, lists and tables")


def new(given: Mapping[str, Any] | str | Path) -> CampaignSpec:
    """A spec for somebody who can still change it: with a warning if it takes more than it need."""
    made = read(given)
    if made.remark:
        warnings.warn(made.remark, Costly, stacklevel=3)
    return made


def read(given: Mapping[str, Any] | str | Path) -> CampaignSpec:
    """The spec of a new campaign from a dict, or from a TOML or JSON file."""
    table = dict(given) if isinstance(given, Mapping) else _file(Path(given))
    checks.truth("paired", table.get("paired", False))
    priced = table.get("costs") is not None and not table.get("paired")
    saved = {"minimise": GOALS[1]} if priced else {}
    free = {"additions": ADDITIONS[0]} if table.get("room") is not None else {}
    losses = AT_RANDOM if check_order(table.get("order", ORDERS[0])) == "told" else WORST_CASE
    pool = table.get("paired") and table.get("items") is not None
    drawn = {"deterministic": False} if pool else {}
    found = {"order": ORDERS[0], "losses": losses, **saved, **free, **drawn, **_explicit(table)}
    return make(found)._replace(given=table)


def refuse_unsaid(made: CampaignSpec) -> None:
    """Refuse a new campaign whose family leaves out what no sample would contradict, as a variance."""
    spelling.said_family(made.table["family"])


def _explicit(table: dict[str, Any]) -> dict[str, Any]:
    """New specs spell out the strategy's options that earlier releases did not have."""
    given = table.get("strategy")
    if given is None:
        return table
    chosen, options = spelling.strategy(given), _options(given)
    said = {key: getattr(chosen, key) for key in chosen.former if key not in options}
    return {**table, "strategy": {**options, **said}} if said else table


def _options(given: Any) -> Mapping[str, Any]:
    return spelling.split("strategy", given) if isinstance(given, str) else given


def spec_file(given: Any) -> Path:
    """The path of a spec's file."""
    return checks.path("spec", given, "a dict, or the path of a TOML or JSON file")


def _file(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadArgument("spec", str(path), "a dict, or a TOML or JSON file that exists") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadArgument("spec", str(path), f"a text file that can be read ({error})") from None
    if path.suffix == ".json":
        return _parsed(path, json.loads, text, json.JSONDecodeError)
    import tomllib

    return _parsed(path, tomllib.loads, text, tomllib.TOMLDecodeError)


def _parsed(path: Path, parse: Any, text: str, mistake: type[Exception]) -> dict[str, Any]:
    try:
        found = parse(text)
    except RecursionError:
        raise BadArgument("spec", str(path), "a file without lists in lists in lists") from None
    except mistake as error:
        kind = "JSON" if path.suffix == ".json" else "TOML"
        raise StopwiseError(f"{path.name}: not {kind}: {error}.") from None
    if not isinstance(found, dict):
        raise BadArgument("spec", found, f"a table with the keys {', '.join(KEYS)}")
    return found


def make(table: dict[str, Any], first: int | None = None) -> CampaignSpec:
    """Check a spec and write its defaults into it, so that they are the same for ever.

    ``first``: with how many arms the campaign was created, if some have been added.
    """
    _check_keys(table)
    labels = _labels(table["arms"])
    first = len(labels) if first is None else first
    problem = spelling.problem(table["question"], len(labels), "question")
    family = spelling.family(table["family"])
    rule = "threshold" if "threshold" in table else "stopping"
    defaults = {rule: family.default_stopping_name(), "strategy": default_strategy_spec(problem)}
    paired = _paired(table)
    whole = {**({} if paired else defaults), **table, "arms": list(labels)}
    told = {**defaults, **whole}
    chosen = _strategy(told["strategy"])
    (delta,) = check_deltas(checks.finite("delta", table["delta"]))
    asked = Setting(problem, family, chosen, spelling.stopping(told[rule], rule))
    budget = _budget(whole.get("budget"), len(labels))
    costs = _costs(whole.get("costs"), len(labels))
    saved = costs if _minimised(whole, costs) == "cost" else None
    design = prepare(asked, None, (_spent(asked, delta, whole, first),), HORIZON, costs=saved)
    order = check_order(whole.get("order", "asked" if paired else "told"))
    losses = check_losses(whole.get("losses", AT_RANDOM), order)
    minimum = _minimum(whole.get("minimum", 0))
    pairs = _comparison(problem, family, delta, whole) if paired else None
    text = dump(whole)
    key = hashlib.sha256(text.encode()).hexdigest()[:16]
    return CampaignSpec(
        *(json.loads(text), table, labels, design, delta, budget, costs, order, losses, minimum),
        *(first, key, pairs),
    )


def _paired(table: Mapping[str, Any]) -> bool:
    """Whether all arms get the same items; then some keys have no meaning."""
    given = table.get("paired", False)
    checks.truth("paired", given)
    for key in ("items", "deterministic"):
        if not given and table.get(key) is not None:
            raise BadArgument(key, table[key], "nothing, unless paired = true")
    if given:
        for key in (*SEPARATE, *FORMER):
            if table.get(key) is not None:
                hint = (
                    "All options get the same items, and pairs have a stopping rule of their own."
                )
                raise BadArgument(key, table[key], "nothing, if paired = true", hint)
        if table.get("order", ORDERS[0]) != ORDERS[0]:
            raise BadArgument("order", table["order"], f"{ORDERS[0]!r}, if paired = true")
    return bool(given)


def _comparison(problem: Any, family: Any, delta: float, table: Mapping[str, Any]) -> Comparison:
    if problem.arms > MOST_PAIRED:
        raise BadArgument("arms", problem.arms, f"at most {MOST_PAIRED} arms, if paired = true")
    pool = table.get("items")
    if pool is not None and checks.whole("items", pool, least=1) > MOST_ITEMS:
        raise BadArgument("items", pool, f"a whole number from 1 to {MOST_ITEMS:,}")
    fixed = table.get(
        "deterministic", True
    )  # where the spec does not say: 0.3.0 knew no other pools
    asked = question(problem)
    return comparison(family, problem.arms, delta, pool=pool, asked=asked, deterministic=fixed)


def like(made: CampaignSpec, stored: Mapping[str, Any]) -> CampaignSpec:
    """The same spec, with what it leaves open as it is stored: other versions have other defaults."""
    chosen = {FORMER.get(key, key) for key in made.given}
    kept = {
        key: value
        for key, value in stored.items()
        if FORMER.get(key, key) in {"stopping", "strategy", *LEFT_OPEN, "minimise"} - chosen
    }
    given = dict(made.given)
    for key, unsaid in LEFT_OPEN.items():
        if key not in stored and given.get(key) == unsaid:
            del given[key]
    if "strategy" in stored and _explicit(dict(stored)) == stored:
        given = _explicit(given)
    return make({**kept, **given})


def changed(spec: CampaignSpec, new: Mapping[str, Any]) -> CampaignSpec:
    """The same question with other values of what may change: its hash stays."""
    table = {**spec.table, **new}
    labels = _labels(table["arms"])
    if len(labels) != len(spec.labels):
        return make(table, spec.first)._replace(key=spec.key)
    losses = _changed_losses(spec, table)
    budget = _budget(table.get("budget"), len(labels))
    minimum = _minimum(table.get("minimum", 0))
    said = {"budget": budget, "minimum": minimum, "losses": losses}
    table |= {key: value for key, value in said.items() if key in table}
    return spec._replace(
        table=json.loads(dump(table)),
        labels=labels,
        losses=losses,
        budget=budget,
        minimum=minimum,
    )


def _changed_losses(spec: CampaignSpec, table: Mapping[str, Any]) -> str:
    """Only less may be claimed later: values that are gone cannot be counted at their worst."""
    found = check_losses(table.get("losses", AT_RANDOM), spec.order)
    if found not in (spec.losses, AT_RANDOM):
        raise BadArgument("losses", found, f"{AT_RANDOM!r}: losses so far were left out")
    return found


def difference(old: CampaignSpec, new: CampaignSpec) -> dict[str, Any]:
    """The keys that have other values."""
    return {key: value for key, value in new.table.items() if value != old.table.get(key)}


def _spent(asked: Setting, delta: float, table: Mapping[str, Any], first: int) -> float:
    """delta, or so much of it as these arms may use if there is room for more (docs/thresholds.md)."""
    adaptive = _added(table) == ADDITIONS[0]
    if table.get("room") is None:
        return delta
    room = checks.whole("room", table["room"], asked.problem.arms, MOST_ARMS)
    if not asked.problem.grows():
        hint = "Questions about the best arm, and about each arm's side of a limit, may have room."
        raise BadArgument("room", room, f"nothing, for {asked.problem!r}", hint)
    more = spelling.problem(table["question"], room, "question")
    events = more.adaptive_bound(first) if adaptive else more.union_bound()
    return float(delta * asked.problem.union_bound() / events)


def _added(table: Mapping[str, Any]) -> str:
    given, allowed = (
        table.get("additions", ADDITIONS[1]),
        '"adaptive" or "planned", if there is room',
    )
    if "additions" in table and table.get("room") is None:
        raise BadArgument("additions", given, allowed)
    return checks.choice("additions", given, ADDITIONS, allowed)


def _minimised(table: Mapping[str, Any], costs: Any) -> str:
    allowed = '"samples", or "cost" if costs are given'
    given = checks.choice("minimise", table.get("minimise", GOALS[0]), GOALS, allowed)
    if given == "cost" and costs is None:
        raise BadArgument("minimise", given, allowed)
    return given


def _minimum(given: Any) -> int:
    return checks.whole("minimum", given, least=0, most=MOST_SAMPLES)


def _check_keys(table: dict[str, Any]) -> None:
    for key in table:
        if not isinstance(key, str):
            raise BadArgument("spec", table, f"a table with the keys {', '.join(KEYS)}")
        if key not in (*KEYS, *FORMER):
            raise BadArgument(key, table[key], f"the keys of a spec: {', '.join(KEYS)}")
    for former, key in FORMER.items():
        if former in table and key in table:
            raise BadArgument(former, table[former], f"nothing, beside the key {key}")
    for key in ("question", "arms", "family", "delta"):
        if key not in table:
            hint = "stopwise schema prints all keys of a spec."
            raise BadArgument(key, None, f"a value: a campaign needs {_needs(key)}", hint)


def _strategy(given: Any) -> Strategy:
    """A strategy that can run without the true means."""
    chosen: Strategy = spelling.strategy(given)
    unsaid = {key: old for key, old in chosen.former.items() if key not in _options(given)}
    if unsaid:
        chosen = chosen._replace(**unsaid)
    if chosen.needs_truth:
        known = [name for name, each in registry.load("strategy").items() if not each.needs_truth]
        allowed = f"a strategy that does not need the true means: {', '.join(known)}"
        raise BadArgument("strategy", given, allowed)
    return chosen


def _budget(given: Any, arms: int) -> int | None:
    return None if given is None else checks.whole("budget", given, arms, MOST_SAMPLES)


def _needs(key: str) -> str:
    examples = {
        "question": 'question = {kind = "best-arm", epsilon = 0.02}',
        "arms": 'arms = ["control", "variant"]',
        "family": 'family = "bernoulli"',
        "delta": "delta = 0.05",
    }
    return f"{key}, such as {examples[key]}"


def _labels(given: Any) -> tuple[str, ...]:
    allowed = f"a list of different texts of 1 to {LONGEST_LABEL} characters, at most {MOST_ARMS:,}"
    if not isinstance(given, list | tuple) or not 1 <= len(given) <= MOST_ARMS:
        raise BadArgument("arms", given, allowed)
    seen: set[str] = set()
    for place, label in enumerate(given):
        check_label(f"arms[{place}]", label, seen, allowed)
        seen.add(label)
    return tuple(given)


def check_label(name: str, given: Any, others: Collection[str], allowed: str = "") -> None:
    """Refuse what cannot be the label of one arm more."""
    good = isinstance(given, str) and given.strip() != "" and len(given) <= LONGEST_LABEL
    if not good or given in others or not given.isprintable():
        usual = f"a text of 1 to {LONGEST_LABEL} characters that no other arm has"
        raise BadArgument(name, given, allowed or usual)


def _costs(given: Any, arms: int) -> tuple[float, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list | tuple) or len(given) != arms:
        raise BadArgument("costs", given, f"a list of {arms} numbers above 0, one for each arm")
    return tuple(checks.positive(f"costs[{place}]", each) for place, each in enumerate(given))
