"""Classes of immutable values with methods, for plain Python and compiled code alike; and the roles.

``class BestArm(Problem)`` has annotated fields and methods, like any class. Its values are named tuples,
which numba knows; core/compile/methods.py lets compiled code call their methods. A class is checked
when it is made: a method that replaces another must be callable in its place.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeVar, cast, dataclass_transform

import numpy as np

from stopwise.core import registry
from stopwise.core.checks import has
from stopwise.core.errors import BadArgument, MissingMethod, Nothing, StopwiseError
from stopwise.core.functions import remember_foreign
from stopwise.core.options import Option

if TYPE_CHECKING:
    from typing import Self

P = ParamSpec("P")
R = TypeVar("R")

# the only field of a class without fields: numba cannot call methods of an empty tuple
NOTHING = "nothing"


@dataclass_transform()
class ValueType(type):
    """Turn a class with annotated fields into a named tuple with methods.

    If a class has an ``__init__``, it sets the fields there, as anywhere in Python.
    """

    def __new__(
        mcls, name: str, bases: tuple[type, ...], body: dict[str, Any], **options: Any
    ) -> ValueType:
        """The class, with a named tuple of its fields as its first base."""
        parent: Any = next((each for each in bases if hasattr(each, "_fields")), None)
        types = _annotations(body)
        own = [
            field
            for field, annotation in types.items()
            if "ClassVar" not in str(annotation).partition("[")[0]
        ]
        if not own and parent is None:
            own, body[NOTHING] = [NOTHING], 0
        body.setdefault("__slots__", ())
        _check_methods(name, bases, body)
        if own:
            _refuse_hidden(name, bases, own)
            bases = (
                _named_tuple(name, parent, {each: types.get(each) for each in own}, body),
                *bases,
            )
        made: Any = super().__new__(mcls, name, bases, body, **options)
        if "__init__" in body:
            made.__signature__ = _without_first(body["__init__"])
        elif "__new__" in body:
            made.__signature__ = _without_first(body["__new__"])
        elif own:
            plain = _without_first(bases[0].__new__)
            made.__signature__ = inspect.Signature() if own == [NOTHING] else plain
        for attribute, given in body.items():
            if isinstance(given, FunctionType):
                remember_foreign((made, attribute), given)
        return made

    def __call__(cls: Any, *given: Any, **named: Any) -> Any:
        """A value with these fields, or with those that ``__init__`` sets."""
        if cls.__init__ is object.__init__:
            return super().__call__(*given, **named)
        draft = SimpleNamespace()
        cls.__init__(draft, *given, **named)
        missing = [field for field in cls._fields if not hasattr(draft, field)]
        if missing:
            raise StopwiseError(f"{cls.__name__}.__init__ does not set {', '.join(missing)}.")
        return cls._make(getattr(draft, field) for field in cls._fields)


def _annotations(body: dict[str, Any]) -> dict[str, Any]:
    """The annotations of a class body; since Python 3.14 they are computed when they are asked for."""
    if "__annotations__" not in body and sys.version_info >= (3, 14):
        late: Any = importlib.import_module("annotationlib")
        annotate = late.get_annotate_from_class_namespace(body)
        if annotate is not None:
            return dict(late.call_annotate_function(annotate, late.Format.FORWARDREF))
    return dict(body.get("__annotations__", {}))


def _named_tuple(name: str, parent: Any, own: dict[str, Any], body: dict[str, Any]) -> type:
    """A named tuple of the inherited fields and the class's own ones, whose defaults leave the body."""
    types = {**getattr(parent, "_field_types", {}), **own}
    if parent is not None:
        types = {field: types.get(field) for field in (*parent._fields, *own) if field != NOTHING}
    known = dict(getattr(parent, "_field_defaults", {}))
    known |= {field: body.pop(field) for field in own if field in body}
    fields = list(types)
    late = next((place for place, field in enumerate(fields) if field in known), len(fields))
    if missing := [field for field in fields[late:] if field not in known]:
        raise StopwiseError(
            f"{name}: the field {missing[0]!r} has no default, but {fields[late]!r} before it has one. Put "
            "fields without a default first, or give this one a default."
        )
    made: Any = namedtuple(name, fields, defaults=[known[field] for field in fields[late:]])  # type: ignore[misc]
    made.__new__.__annotations__ = made._field_types = types  # forms are made from them
    del made.__repr__
    return cast("type", made)


def _refuse_hidden(name: str, bases: tuple[type, ...], fields: list[str]) -> None:
    """Refuse a field with the name of a method, which it would hide."""
    for base in bases:
        for field in fields:
            if isinstance(getattr(base, field, None), FunctionType):
                raise StopwiseError(
                    f"{name}: the field {field!r} has the name of a method of {base.__name__}. Give the "
                    "field another name."
                )


def _check_methods(name: str, bases: tuple[type, ...], body: dict[str, Any]) -> None:
    """Refuse a method that replaces one of a base class, but cannot be called in its place."""
    for attribute, given in body.items():
        if attribute.startswith("__"):
            continue
        replaced = next(
            (getattr(base, attribute) for base in bases if hasattr(base, attribute)), None
        )
        if isinstance(replaced, property) and isinstance(given, FunctionType):
            raise StopwiseError(
                f"{name}.{attribute} must be a field or a property: put @property above the method."
            )
        if not isinstance(replaced, FunctionType):
            continue
        if not isinstance(given, FunctionType):
            raise StopwiseError(
                f"{name}.{attribute} must be a method, as it is in {bases[0].__name__}: def "
                f"{attribute}({', '.join(_parameters(replaced))})."
            )
        _check_parameters(f"{name}.{attribute}", _parameters(given), _parameters(replaced))


def _check_parameters(name: str, given: tuple[str, ...], needed: tuple[str, ...]) -> None:
    """Refuse another number of parameters, or the same names in another order: calls are by position."""
    if len(given) == len(needed) and (given == needed or set(given) != set(needed)):
        return
    raise StopwiseError(
        f"{name}({', '.join(given)}) must have the parameters ({', '.join(needed)}) of the method that it "
        "replaces (docs/extend.md)."
    )


def _parameters(function: FunctionType) -> tuple[str, ...]:
    plain = inspect.unwrap(function)  # one with variants wraps its default
    return plain.__code__.co_varnames[: plain.__code__.co_argcount]


def _without_first(function: Any) -> inspect.Signature:
    signature = inspect.signature(function)
    return signature.replace(parameters=list(signature.parameters.values())[1:])


class Value(tuple[Any, ...], metaclass=ValueType):
    """A named tuple that equals only values of its own class with equal fields, arrays included."""

    if TYPE_CHECKING:
        _fields: ClassVar[tuple[str, ...]]

        @classmethod
        def _make(cls, fields: Iterable[Any]) -> Self:
            """A value of these fields, unchecked."""

        def _replace(self, **fields: Any) -> Self:
            """The same but for these fields, unchecked."""

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self._fields if name != NOTHING)
        return f"{type(self).__name__}({', '.join(shown)})"

    def identity(self) -> tuple[str, tuple[Any, ...]]:
        """The name and the fields by which stored studies know the value: they outlive its class."""
        return type(self).__name__, () if self._fields == (NOTHING,) else tuple(self)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and bool(_plain(self) == _plain(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(_plain(self))


class Static:
    """A part of a value that compiled code does not see, such as words: its type does not matter there."""

    __slots__ = ("content",)

    def __init__(self, content: Any) -> None:
        self.content = content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and bool(_plain(self.content) == _plain(other.content))

    def __hash__(self) -> int:
        return hash(_plain(self.content))

    @property
    def _numba_type_(self) -> Any:
        from numba import types

        return types.none


def _plain(item: Any) -> Any:
    if isinstance(item, np.ndarray):
        return (item.shape, item.dtype.str, item.tobytes())
    if isinstance(item, tuple):
        return (type(item).__name__, *(_plain(part) for part in tuple.__iter__(item)))
    return item


class Role(Value):
    """The base of problems, families, strategies and stopping rules, which files and forms know by name.

    ``title`` is what a form calls the class, and ``options`` says what its options may be and mean.
    ``required`` names the methods without a default (``a or b``: one of the two will do). A subclass is
    known by its name unless it is made with ``listed=False``.
    """

    role: ClassVar[str]
    example: ClassVar[str]
    required: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str] = ""
    options: ClassVar[Mapping[str, Option]] = {}

    def __init_subclass__(cls, listed: bool = True, **more: Any) -> None:
        super().__init_subclass__(**more)
        if listed:
            registry.enter(cls.role, cls)


def overrides(value: Role | type[Role], method: str, family: Role | None = None) -> bool:
    """Whether the value's class replaces its role's default of a method (for this kind of family)."""
    kind = value if isinstance(value, type) else type(value)
    role = next(each for each in kind.__mro__ if method in vars(each) and "role" in vars(each))
    found = getattr(kind, method)
    if hasattr(found, "table"):
        found = found.dispatch(type(family))
    return found is not getattr(role, method)


def check_role(name: str, given: object, kind: type[Role]) -> None:
    """Refuse what is not of this role, by the argument's name, or lacks a required method."""
    if isinstance(given, kind):
        _check_required(given, kind)
        return
    words = {"stopping": "a stopping rule"}.get(kind.role, f"a {kind.role}")
    shown, hint = given, ""
    if isinstance(given, type) and issubclass(given, kind):
        shown, hint = (
            given.__name__,
            f"This is the type; give a value of it: {given.__name__}(...).",
        )
    elif has(given, "_fields") and not isinstance(given, Role):
        hint = f"One of yours is class {type(given).__name__}(sw.{kind.__name__}) (docs/extend.md)."
    raise BadArgument(name, shown, f"{words}, such as {kind.example}", hint)


def _check_required(given: Role, kind: type[Role]) -> None:
    """Refuse a class without one of its role's required methods."""
    for either in kind.required:
        methods = either.split(" or ")
        if all(getattr(type(given), method) is getattr(kind, method) for method in methods):
            raise MissingMethod(methods[0], given)


def needs_family(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse a call without a family, and say what to give: a wrong default would go unnoticed."""

    @functools.wraps(function)
    def checked(*arguments: P.args, **options: P.kwargs) -> R:
        if "family" not in options:
            raise BadArgument(
                "family",
                Nothing(),
                "a family by its name, such as family=Bernoulli()",
                "It says what one sample looks like, and there is no default: samples of another "
                "family need other numbers. ``stopwise names`` lists them.",
            )
        return function(*arguments, **options)

    return checked
