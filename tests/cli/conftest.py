"""``stopwise`` in the test's own process, as fixtures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from shells import PAGES, QUICK, Ran, Shell
from stopwise.cli.main import main


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    """``stopwise`` in this process, in a folder with two specs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STOPWISE_STORAGE", raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    Path("pages.toml").write_text(PAGES)
    Path("quick.toml").write_text(QUICK)

    def run(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["stopwise", *arguments])
        code: Any = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        return Ran(code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def pages(shell: Shell) -> Shell:
    """With a campaign ``pages``."""
    assert shell("create", "pages.toml").code == 0
    return shell


@pytest.fixture
def quick(shell: Shell) -> Shell:
    """With a campaign ``quick`` that two samples decide."""
    assert shell("create", "quick.toml").code == 0
    return shell
