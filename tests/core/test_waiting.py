"""What takes long says so, once."""

from __future__ import annotations

import time

import pytest

from stopwise.core import waiting


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "PATIENCE", 0.02)
    monkeypatch.delenv("STOPWISE_QUIET", raising=False)


def test_a_wait_says_what_it_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    with waiting.waiting("doing this"):
        time.sleep(0.5)
    assert capsys.readouterr().err == "stopwise: doing this\n"


def test_what_is_quick_says_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "PATIENCE", 5.0)
    with waiting.waiting("doing this"):
        pass
    assert capsys.readouterr().err == ""


def test_silence(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with waiting.meanwhile(), waiting.waiting("for nobody"):
        time.sleep(0.1)
    monkeypatch.setenv("STOPWISE_QUIET", "1")
    with waiting.waiting("doing this"):
        time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_what_is_inside_has_its_own_word(capsys: pytest.CaptureFixture[str]) -> None:
    with waiting.waiting("outer"):
        with waiting.waiting("inner"):
            time.sleep(0.3)
        inside = capsys.readouterr().err
        time.sleep(0.3)
    assert (inside, capsys.readouterr().err) == ("stopwise: inner\n", "stopwise: outer\n")
