"""One score: made, made again after a failure if that was asked for, made twice to be checked."""

from __future__ import annotations

from typing import Any, NamedTuple


class Scored(NamedTuple):
    """What a call gave. ``again``: the same call once more, where scores are checked."""

    value: Any
    again: Any
    failures: int  # that were retried


def scored(score: Any, arguments: tuple[Any, Any], retries: int, twice: bool) -> Scored:
    """By a function."""
    failures = 0
    while True:
        try:
            value = score(*arguments)
            return Scored(value, score(*arguments) if twice else None, failures)
        except Exception:
            if failures == retries:
                raise
            failures += 1


async def scored_async(score: Any, arguments: tuple[Any, Any], retries: int, twice: bool) -> Scored:
    """By a coroutine function."""
    failures = 0
    while True:
        try:
            value = await score(*arguments)
            return Scored(value, await score(*arguments) if twice else None, failures)
        except Exception:
            if failures == retries:
                raise
            failures += 1
