"""stopwise: which experiment next, and when may I stop?

Fixed-confidence pure exploration with multiple correct answers (Degenne & Koolen, 2019).

Importing this loads nothing else: names, listed in ``__init__.pyi``, are loaded when first used.
"""

import os
from typing import Any

__version__ = "0.4.0.dev0"

# numba's colours replace sys.stdout for moments while it compiles, for all threads
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    from stopwise.core.registry import public

    if name == "__all__":
        return sorted(public())
    if name not in public():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(import_module(public()[name]), name)
    return globals()[name]


def __dir__() -> list[str]:
    from stopwise.core.registry import public

    return ["__version__", *sorted(public())]
