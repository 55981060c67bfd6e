"""What a campaign asks: checked, completed with defaults, and known again by its hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stopwise import checks, spelling
from stopwise.engine.plan import Plan, check_deltas, prepare
from stopwise.errors import BadArgument, StopwiseError
from stopwise.families import InverseGaussian
from stopwise.problems import (
    AnyHalfSpace,
    AnyLowArm,
    AnySign,
    BestArm,
    Cells,
    MinimumThreshold,
    Product,
)

KEYS = ("question", "arms", "family", "delta", "threshold", "strategy", "budget", "costs")
LONGEST_LABEL = 200
MOST_ARMS = 100_000
HORIZON = 2**40  # rounds for which Sticky's region is tabulated


class CampaignSpec(NamedTuple):
    """A question about labelled arms; ``table`` is the whole spec as it is stored."""

    table: dict[str, Any]
    labels: tuple[str, ...]
    plan: Plan
    delta: float
    budget: int | None
    costs: tuple[float, ...] | None

    @property
    def key(self) -> str:
        """The hash by which a spec is known again."""
        return hashlib.sha256(dump(self.table).encode()).hexdigest()[:16]


def dump(table: Mapping[str, Any]) -> str:
    """A spec as text, the same for equal specs."""
    try:
        return json.dumps(
            table, sort_keys=True, ensure_ascii=False, allow_nan=False, default=_plain
        )
    except BadArgument:
        raise
    except ValueError:
        hint = "Bounds of cells where some are infinite: as rows of normals and offsets."
        raise BadArgument("spec", table, "finite numbers", hint) from None


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise BadArgument("spec", value, "texts, numbers, lists and tables")


def read(given: Mapping[str, Any] | str | Path) -> CampaignSpec:
    """A spec from a dict, or from a TOML or JSON file."""
    if isinstance(given, Mapping):
        return make(dict(given))
    path = Path(given)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadArgument("spec", str(path), "a dict, or a TOML or JSON file that exists") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadArgument("spec", str(path), f"a text file that can be read ({error})") from None
    if path.suffix == ".json":
        return make(_parsed(path, json.loads, text, json.JSONDecodeError))
    import tomllib

    return make(_parsed(path, tomllib.loads, text, tomllib.TOMLDecodeError))


def _parsed(path: Path, parse: Any, text: str, mistake: type[Exception]) -> dict[str, Any]:
    try:
        found = parse(text)
    except mistake as error:
        kind = "JSON" if path.suffix == ".json" else "TOML"
        raise StopwiseError(f"{path.name}: not {kind}: {error}.") from None
    if not isinstance(found, dict):
        raise BadArgument("spec", found, f"a table with the keys {', '.join(KEYS)}")
    return found


def make(table: dict[str, Any]) -> CampaignSpec:
    """Check a spec and write its defaults into it, so that they are the same for ever."""
    for key in table:
        if key not in KEYS:
            raise BadArgument(key, table[key], f"the keys {', '.join(KEYS)}")
    for key in ("question", "arms", "family", "delta"):
        if key not in table:
            raise BadArgument(key, None, f"a value: a campaign needs {_needs(key)}")
    labels = _labels(table["arms"])
    problem = spelling.problem(table["question"], len(labels), "question")
    family = spelling.family(table["family"])
    usual = {"threshold": usual_threshold(family), "strategy": usual_strategy(problem)}
    whole = {**usual, **table, "arms": list(labels)}
    threshold = spelling.threshold(whole["threshold"])
    strategy = spelling.strategy(whole["strategy"])
    if type(strategy).__name__ == "OracleWeights":
        allowed = (
            "a strategy that does not need the true means: sticky-track-and-stop, track-and-stop"
        )
        raise BadArgument("strategy", whole["strategy"], allowed)
    (delta,) = check_deltas(checks.finite("delta", table["delta"]))
    plan = prepare(problem, strategy, None, family, (delta,), threshold, HORIZON)
    budget = whole.get("budget")
    if budget is not None:
        budget = checks.whole("budget", budget, least=len(labels))
    costs = _costs(whole.get("costs"), len(labels))
    return CampaignSpec(json.loads(dump(whole)), labels, plan, delta, budget, costs)


def _needs(key: str) -> str:
    examples = {
        "question": 'question = {kind = "best-arm", epsilon = 0.02}',
        "arms": 'arms = ["control", "variant"]',
        "family": 'family = "bernoulli"',
        "delta": "delta = 0.05",
    }
    return f"{key}, such as {examples[key]}"


def usual_threshold(family: Any) -> str:
    """The sharpest of the proven ones: a mixture, where one is known for the family."""
    return "mixture-martingale" if isinstance(family, InverseGaussian) else "mixture"


def usual_strategy(problem: Any) -> str:
    """With one correct answer Track-and-Stop is optimal; with several only a sticky rule is."""
    return "sticky-track-and-stop" if _several(problem) else "track-and-stop"


def _several(problem: Any) -> bool:
    """Whether models may have several correct answers."""
    if isinstance(problem, Product):
        return any(_several(part) for part in problem.parts)
    if isinstance(problem, BestArm | MinimumThreshold):
        return problem.epsilon > 0.0
    return isinstance(problem, AnyLowArm | AnySign | AnyHalfSpace | Cells)


def _labels(given: Any) -> tuple[str, ...]:
    allowed = f"a list of different texts of 1 to {LONGEST_LABEL} characters, at most {MOST_ARMS:,}"
    if not isinstance(given, list | tuple) or not 1 <= len(given) <= MOST_ARMS:
        raise BadArgument("arms", given, allowed)
    seen = set()
    for place, label in enumerate(given):
        good = isinstance(label, str) and label.strip() != "" and len(label) <= LONGEST_LABEL
        if not good or label in seen or not label.isprintable():
            raise BadArgument(f"arms[{place}]", label, allowed)
        seen.add(label)
    return tuple(given)


def _costs(given: Any, arms: int) -> tuple[float, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list | tuple) or len(given) != arms:
        raise BadArgument("costs", given, f"a list of {arms} numbers above 0, one for each arm")
    return tuple(checks.positive(f"costs[{place}]", each) for place, each in enumerate(given))
