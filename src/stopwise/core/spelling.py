"""How problems, families, strategies and stopping rules are spelled: in files, and on the command line.

In a file each is a table, ``{kind = "best-arm", epsilon = 0.1}``; on the command line the same is
``best-arm:epsilon=0.1``. The number of arms comes from the means or labels that go with a problem. A
class whose table is not simply its options has a classmethod ``from_table(name, options, arms)``.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from stopwise.core import checks, registry
from stopwise.core.errors import BadArgument, Nothing

Table = Mapping[str, Any]


def family(given: Table | str, name: str = "family") -> Any:
    """A family, such as "bernoulli" or {kind = "gaussian", variance = 0.25}."""
    return _value("family", given, name)


def said_family(given: Table | str, name: str = "family") -> Any:
    """A family for real samples: what would spoil the guarantee if it were wrong is not left out."""
    kind, maker, options = _open("family", given, name)
    for key, option in maker.options.items():
        if option.needed and key not in options:
            allowed = f"{option.hint[0].lower()}{option.hint[1:]}"
            raise BadArgument(f"{name}.{key}", Nothing(), allowed, option.needed)
    return build(name, kind, maker, options)


def strategy(given: Table | str, name: str = "strategy") -> Any:
    """A strategy, such as "sticky-track-and-stop" or {kind = "track-and-stop", tracking = "D"}."""
    return _value("strategy", given, name)


def stopping(given: Table | str, name: str = "stopping") -> Any:
    """A stopping rule, such as "mixture"."""
    return _value("stopping", given, name)


def problem(given: Table | str, arms: int, name: str = "problem") -> Any:
    """A problem, such as {kind = "best-arm", epsilon = 0.1}, about so many arms."""
    kind, maker, options = _open("problem", given, name)
    free = [key for key in parameters(maker) if key != "arms"]
    if "arms" in options:
        hint = "The number of arms is that of the means or labels."
        raise BadArgument(f"{name}.arms", options["arms"], f"the options {_list(free)}", hint)
    if hasattr(maker, "from_table"):
        only(name, options, free, f" of {kind}")
        made = maker.from_table(name, options, arms)
    else:
        known = {"arms": arms} if "arms" in parameters(maker) else {}
        made = build(name, kind, maker, options, **known)
    if made.arms != arms:
        raise BadArgument(name, made, f"a problem about {arms} arms; this one has {made.arms}")
    return made


def split(name: str, text: str) -> dict[str, Any]:
    """The table that ``kind:option=value,...`` spells."""
    kind, _, rest = text.partition(":")
    options: dict[str, Any] = {"kind": kind.strip().lower()}
    # commas inside brackets belong to the value: normals=[[1,0],[0,1]]
    for part in re.split(r",(?![^\[]*\])(?=[a-z_]+=)", rest) if rest else []:
        key, equals, value = part.partition("=")
        if not equals:
            raise BadArgument(name, text, f"options as name=value: {kind}:option=value,...")
        if key in options:
            raise BadArgument(f"{name}.{key}", text, "each option once")
        options[key] = _parsed(f"{name}.{key}", value)
    return options


def numbers(name: str, text: str) -> list[float]:
    """Numbers between commas."""
    try:
        return [checks.from_text(part) for part in text.split(",")]
    except (ValueError, ArithmeticError):
        raise BadArgument(name, text, "numbers between commas, such as 0.5,0.45,0.4") from None


def parameters(maker: Any) -> dict[str, inspect.Parameter]:
    """The options that a class takes, by name, except those that no file can spell."""
    unspelled = set(getattr(maker, "unspelled", ()))
    if getattr(maker, "looks_at_delta", False):  # which it is told with the question
        unspelled.add("delta")
    known = inspect.signature(maker).parameters
    return {name: each for name, each in known.items() if name not in unspelled}


def table(name: str, given: Any) -> Table:
    """A table, or a refusal."""
    if not isinstance(given, Mapping):
        raise BadArgument(name, given, 'a table such as {kind = "..."}')
    return given


def only(name: str, given: Table, allowed: Sequence[str], whose: str = "") -> None:
    """Refuse keys that are not among the allowed ones."""
    for key in given:
        if key not in allowed:
            raise BadArgument(f"{name}.{key}", given[key], f"the options{whose}: {_list(allowed)}")


def build(
    name: str, kind: str, maker: Callable[..., Any], options: dict[str, Any], **known: Any
) -> Any:
    """A value from its options; what it refuses is named as it stands in the file."""
    free = [key for key in parameters(maker) if key not in known]
    only(name, options, free, f" of {kind}")
    try:
        return maker(**known, **options)
    except TypeError:
        given = {"kind": kind, **options} if options else kind
        raise BadArgument(name, given, f"values for the options of {kind}: {_list(free)}") from None
    except BadArgument as error:
        if error.name.partition("[")[0] in free:  # say where in the file
            raise error.renamed(f"{name}.{error.name}") from None
        raise


def _value(role: str, given: Table | str, name: str) -> Any:
    kind, maker, options = _open(role, given, name)
    return build(name, kind, maker, options)


def _open(role: str, given: Table | str, name: str) -> tuple[str, Any, dict[str, Any]]:
    opened = split(name, given) if isinstance(given, str) else dict(table(name, given))
    if "kind" not in opened:
        allowed = f"a table with a ``kind``, one of {_list(registry.names(role))}"
        raise BadArgument(name, given, allowed)
    kind = opened.pop("kind")
    maker = registry.find(role, kind) if isinstance(kind, str) else None
    if maker is None:
        raise BadArgument(f"{name}.kind", kind, f"one of {_list(registry.names(role))}")
    return kind, maker, opened


def _parsed(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # no JSON, a number of 5,000 digits, or lists too deep
        pass
    try:
        return checks.from_text(text)
    except (ValueError, ArithmeticError):
        if re.fullmatch(r"[A-Za-z][\w-]*", text):
            return text
        raise BadArgument(name, text, "a number, a word or a list in brackets") from None


def _list(names: Iterable[str]) -> str:
    return ", ".join(names) or "(none)"
