"""Libraries that only some functions need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from stopwise.core.errors import BadArgument


def load(module: str, what: str, extra: str = "tables") -> Any:
    """A library that only some need, from an extra; ``what`` is the function that asked for it."""
    try:
        return import_module(module)
    except ImportError as error:
        hint = f'Install "stopwise[{extra}]".'
        raise BadArgument(what, f"no {module}", f"an environment with {module}", hint) from error
