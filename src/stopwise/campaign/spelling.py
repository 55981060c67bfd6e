"""How campaigns' names are spelled, so that two that look the same are the same."""

from __future__ import annotations

import re
import unicodedata
from typing import Any


def normalised(name: Any) -> Any:
    """Unicode's NFKC (one code for letters that look alike), and single spaces; not texts: as given."""
    if not isinstance(name, str):
        return name
    return re.sub(" +", " ", unicodedata.normalize("NFKC", name))


def alike(name: str) -> str:
    """The same text for names that differ in capitals, spaces or the codes of letters only."""
    return str(normalised(normalised(name).casefold()))
