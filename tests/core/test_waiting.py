"""What takes long says so, once."""

from __future__ import annotations

import time

import pytest

from serving import until
from stopwise.core import waiting


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "PATIENCE", 0.02)
    monkeypatch.delenv("STOPWISE_QUIET", raising=False)


def heard(capsys: pytest.CaptureFixture[str]) -> str:
    """What is said next, however long it takes on a busy machine; and nothing after it."""
    said: list[str] = []
    until(lambda: said.append(capsys.readouterr().err) or any(said), 60)
    time.sleep(0.1)
    return "".join(said) + capsys.readouterr().err


def test_a_wait_says_what_it_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    with waiting.waiting("doing this"):
        assert heard(capsys) == "stopwise: doing this\n"


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


def test_what_is_inside_has_its_own_word(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "PATIENCE", 60.0)  # the outer one says nothing before the inner
    with waiting.waiting("outer"):
        monkeypatch.setattr(waiting, "PATIENCE", 0.02)
        with waiting.waiting("inner"):
            assert heard(capsys) == "stopwise: inner\n"
        assert heard(capsys) == "stopwise: outer\n"
