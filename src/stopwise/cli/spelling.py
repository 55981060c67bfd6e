"""How problems and families are spelled on the command line: name, or name:key=value,..."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

from stopwise import families, problems
from stopwise.errors import BadArgument

FAMILIES = {
    re.sub(r"(?<!^)(?=[A-Z])", "-", family.__name__).lower(): family for family in families.FAMILIES
}
PROBLEMS: dict[str, Any] = {
    "best-arm": problems.BestArm,
    "thresholding": problems.Thresholding,
    "minimum-threshold": problems.MinimumThreshold,
    "any-low-arm": problems.AnyLowArm,
    "any-sign": problems.AnySign,
    "any-half-space": problems.AnyHalfSpace,
    "all-half-spaces": problems.AllHalfSpaces,
    "sphere": problems.Sphere,
}


def parse_means(text: str) -> list[float]:
    """Numbers between commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise BadArgument("means", text, "numbers between commas, such as 0.5,0.45,0.4") from None


def parse_family(text: str) -> Any:
    """A family such as bernoulli or gaussian:variance=0.25."""
    kind, options = _split("family", text, FAMILIES)
    return _build("family", text, FAMILIES[kind], options)


def parse_problem(text: str, arms: int) -> Any:
    """A problem such as best-arm:epsilon=0.1; the number of arms comes from the means."""
    kind, options = _split("problem", text, PROBLEMS)
    maker = PROBLEMS[kind]
    if "arms" in inspect.signature(maker.__new__).parameters:
        options = {"arms": arms, **options}
    return _build("problem", text, maker, options)


def _split(name: str, text: str, known: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    kind, _, rest = text.partition(":")
    if kind not in known:
        raise BadArgument(name, kind, f"one of {', '.join(known)}")
    options = {}
    # commas inside brackets belong to the value: normals=[[1,0],[0,1]]
    for part in re.split(r",(?![^\[]*\])(?=[a-z_]+=)", rest) if rest else []:
        key, equals, value = part.partition("=")
        try:
            options[key] = json.loads(value) if equals else None
        except json.JSONDecodeError:
            raise BadArgument(f"{name}.{key}", value, "a number or a list in brackets") from None
    return kind, options


def _build(name: str, text: str, maker: Any, options: dict[str, Any]) -> Any:
    signature = (
        list(inspect.signature(maker.__new__).parameters)[1:]
        if "__new__" in vars(maker)
        else list(maker._fields)
    )
    if not all(key in signature for key in options):
        bad = next(key for key in options if key not in signature)
        raise BadArgument(f"{name}.{bad}", text, f"the options {', '.join(signature) or '(none)'}")
    try:
        return maker(**options)
    except TypeError:
        raise BadArgument(name, text, f"values for {', '.join(signature)}") from None
