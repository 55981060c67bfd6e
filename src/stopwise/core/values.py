"""Immutable values that know their type, and the four roles that they play."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, ParamSpec, TypeVar

import numpy as np

from stopwise.core import registry
from stopwise.core.checks import has
from stopwise.core.errors import BadArgument, Nothing
from stopwise.core.options import Option

P = ParamSpec("P")
R = TypeVar("R")


class Value(tuple[Any, ...]):
    """A named tuple that equals only one of its own type with the same fields, arrays included.

    ``class BestArm(_BestArm, Problem)``, where _BestArm is the NamedTuple of its fields: values are
    plain tuples for compiled code.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and bool(_plain(self) == _plain(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(_plain(self))


class Aside:
    """What of a value compiled code does not see, so that it does not depend on its type: words."""

    __slots__ = ("content",)

    def __init__(self, content: Any) -> None:
        self.content = content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Aside) and bool(_plain(self.content) == _plain(other.content))

    def __hash__(self) -> int:
        return hash(_plain(self.content))

    @property
    def _numba_type_(self) -> Any:
        from numba import types

        return types.none


class Empty(NamedTuple):
    """The fields of a value that has none."""


def _plain(item: Any) -> Any:
    if isinstance(item, np.ndarray):
        return (item.shape, item.dtype.str, item.tobytes())
    if isinstance(item, tuple):
        return (type(item).__name__, *(_plain(part) for part in tuple.__iter__(item)))
    return item


class Role(Value):
    """A value that files, commands and forms know by name: problem, family, strategy, stopping rule.

    ``title`` says in a form what it is, ``options`` what its options may be and mean. A subclass is
    entered into the registry, unless ``listed`` is False.
    """

    __slots__ = ()
    role: ClassVar[str]
    example: ClassVar[str]
    title: ClassVar[str] = ""
    options: ClassVar[Mapping[str, Option]] = {}

    def __init_subclass__(cls, listed: bool = True, **more: Any) -> None:
        super().__init_subclass__(**more)
        if listed and hasattr(cls, "_fields"):
            registry.enter(cls.role, cls)


class Problem(Role, listed=False):
    """A question about the arms' means, with its answers; the verbs are in stopwise.problems.verbs."""

    __slots__ = ()
    role = "problem"
    example = "BestArm(4)"

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        raise NotImplementedError(f"{type(self).__name__} needs a field or property ``arms``")


class Family(Role, listed=False):
    """A family of reward distributions; the verbs are in stopwise.families.verbs."""

    __slots__ = ()
    role = "family"
    example = "Bernoulli()"


class Strategy(Role, listed=False):
    """Which arm next; the verbs are in stopwise.sampling.verbs.

    ``uses_randomness``: it draws from the generator that it is given. ``looks_at_delta``: its choices
    depend on delta, so that one trajectory serves one delta only. ``needs_truth``: it knows the true
    means, and so cannot run in a campaign. ``minds_costs``: it tracks oracle weights, so that it can
    save money instead of samples. ``former``: what options meant before they existed, for campaigns
    whose specs do not say. In words, for a campaign's page: ``reason``, how it chooses
    the answer that it pursues; ``because``, why the first one, and why the next after ``{before}``.
    """

    __slots__ = ()
    role = "strategy"
    example = "TrackAndStop()"
    uses_randomness: ClassVar[bool] = False
    looks_at_delta: ClassVar[bool] = False
    needs_truth: ClassVar[bool] = False
    reason: ClassVar[str] = ""
    because: ClassVar[tuple[str, str]] = ("", "")
    minds_costs: ClassVar[bool] = False
    former: ClassVar[dict[str, Any]] = {}


class StoppingRule(Role, listed=False):
    """When to stop, and with which answer; the verbs are in stopwise.stopping.verbs."""

    __slots__ = ()
    role = "stopping"
    example = "Mixture()"


def check_role(name: str, given: Any, kind: type[Role]) -> None:
    """Refuse what does not play this role, in the argument's own name."""
    fields = has(given, "_fields")
    if isinstance(given, kind) and fields:
        return
    words = {"stopping": "a stopping rule"}.get(kind.role, f"a {kind.role}")
    shown, hint = given, ""
    if isinstance(given, type) and issubclass(given, kind):
        shown, hint = (
            given.__name__,
            f"This is the type; give a value of it: {given.__name__}(...).",
        )
    elif isinstance(given, kind) or (fields and not isinstance(given, Role)):
        hint = (
            f"One of yours is class {type(given).__name__}(Fields, sw.{kind.__name__}), with Fields a "
            "NamedTuple of its numbers (docs/extend.md)."
        )
    raise BadArgument(name, shown, f"{words}, such as {kind.example}", hint)


def needs_family(function: Callable[P, R]) -> Callable[P, R]:
    """Say what to give where the family is left out. None is assumed: it would be wrong unnoticed."""

    @functools.wraps(function)
    def checked(*arguments: P.args, **options: P.kwargs) -> R:
        if "family" not in options:
            raise BadArgument(
                "family",
                Nothing(),
                f"a family by its name, such as family={Family.example}",
                "It says what one sample looks like, and there is no default: samples of another "
                "family need other numbers. ``stopwise names`` lists them.",
            )
        return function(*arguments, **options)

    return checked
