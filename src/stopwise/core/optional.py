"""Libraries that only some functions need, and that an extra installs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from stopwise.core.errors import BadArgument


def load(module: str, what: str, extra: str = "tables") -> Any:
    """Import a library; refuse the function ``what`` if the library is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        hint = f'Install "stopwise[{extra}]".'
        raise BadArgument(what, f"no {module}", f"an environment with {module}", hint) from error
