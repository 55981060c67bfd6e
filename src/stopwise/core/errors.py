"""The errors that stopwise raises: one root, and bad arguments are also ``ValueError``."""

from __future__ import annotations

import math
import pickle
from difflib import get_close_matches
from typing import Any

LONGEST = 300  # characters of a value that a message shows


class StopwiseError(Exception):
    """Root of every error that stopwise raises on purpose."""

    exit_code = 2  # of the command line
    http_status = 422  # of the service

    def __reduce__(self) -> tuple[object, ...]:
        known = {name: _pickled(value) for name, value in vars(self).items()}
        return _rebuild, (type(self), str(self), known)


def _pickled(value: Any) -> Any:
    """The value itself, or what a message shows of it where it cannot leave this process."""
    try:
        pickle.dumps(value)
    except Exception:
        return shown(value)
    return value


def _rebuild(kind: type[StopwiseError], text: str, known: dict[str, Any]) -> StopwiseError:
    """From a pickle, where ``__init__`` would want what the message was made of."""
    error = kind.__new__(kind)
    Exception.__init__(error, text)
    vars(error).update(known)
    return error


def shown(given: object) -> str:
    """A value for a message: never too long, and never an error of its own."""
    try:
        return _short(repr(given))
    except Exception:  # of the object, or because it is too deep or has too many digits
        if isinstance(given, int):
            return f"a whole number of about {int(math.log10(abs(given))) + 1:,} digits"
        return f"an object of type {type(given).__name__}"


def _short(text: str) -> str:
    half = LONGEST // 2
    if len(text) <= LONGEST:
        return text
    return f"{text[:half]} ... {text[-half:]} ({len(text):,} characters)"


class BadArgument(StopwiseError, ValueError):
    """An argument was refused. The message names it, says what was given and what is allowed."""

    def __init__(self, name: str, given: object, allowed: str, hint: str = "") -> None:
        self.name, self.given, self.allowed, self.hint = name, given, allowed, hint
        got = f"{_short(str(name))}: got {shown(given)}"
        super().__init__(f"{got}; allowed: {allowed}.{' ' + hint if hint else ''}")

    def renamed(self, name: str) -> BadArgument:
        """The same refusal, of an argument that is known by another name further up."""
        return BadArgument(name, self.given, self.allowed, self.hint)


class Nothing:
    """What was given where an argument was left out."""

    def __repr__(self) -> str:
        return "nothing"


class NotDefined(StopwiseError, ValueError):
    """This problem is not solved for this family; the message says why and what to use instead."""


class MissingMethod(StopwiseError, TypeError):
    """A value was used where its class lacks a method that is needed."""

    def __init__(self, method: str, value: object) -> None:
        kind = type(value)
        needs = f"{kind.__name__} needs a method ``{method}`` here (docs/extend.md)."
        near = get_close_matches(method, _added(kind, method), 1)
        super().__init__(f"{needs} Is ``{near[0]}`` misspelled?" if near else needs)


def _added(kind: type, method: str) -> list[str]:
    """Names that a class adds to those of the base class that asks for the method."""
    base = next((each for each in kind.__mro__ if method in vars(each)), object)
    return sorted(set(dir(kind)) - set(dir(base)))


class Costly(UserWarning):
    """A setting that is valid, but takes more samples than it need."""
