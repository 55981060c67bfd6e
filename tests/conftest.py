"""Fixtures that tests of several rooms use."""

from __future__ import annotations

import pytest

from postgres import Server, shared


@pytest.fixture(scope="session")
def server() -> Server:
    """The server that the tests share; it may be killed, if it is started again."""
    return shared()
