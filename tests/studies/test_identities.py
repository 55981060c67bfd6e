"""Stored studies know their problems, families, strategies and rules again, whatever release made them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import stopwise as sw
from stopwise.studies.spec import _parts

KNOWN = json.loads((Path(__file__).parents[1] / "assets" / "identities-0.3.0.json").read_text())


@pytest.mark.parametrize("spelled", KNOWN)
def test_identities_are_those_of_0_3_0(spelled: str) -> None:
    value = eval(spelled, {"sw": sw})
    assert hashlib.sha256(b"|".join(_parts(value))).hexdigest()[:16] == KNOWN[spelled]
