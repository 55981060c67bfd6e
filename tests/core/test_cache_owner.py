"""Kernels are loaded only from where nobody else can have put them: a kernel's file can do anything."""

from __future__ import annotations

import os
import pickle
import stat
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from stopwise.core.compile import cache, kernels

NOBODY = 65534
pytestmark = [
    pytest.mark.skipif(not kernels.switched_on(), reason="nothing is compiled"),
    pytest.mark.skipif(os.name == "nt", reason="files have no such owners"),
]


class Harmful:
    """What a file of somebody else's may do when it is loaded."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.mark),)


def _cost(family: sw.Family, mean: float) -> float:
    return 3.0 * family.divergence(mean, 0.5)


def value() -> float:
    return float(kernels.compiled(_cost)(sw.Bernoulli(), 0.3))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache with one kernel, whose file is somebody else's trap."""
    monkeypatch.setenv("STOPWISE_CACHE_DIR", str(tmp_path))
    cache._warn.cache_clear()
    value()
    (path,) = (tmp_path / "stopwise").iterdir()
    path.write_bytes(pickle.dumps(Harmful(tmp_path / "harm")))
    yield path.parent
    cache._warn.cache_clear()


def spoil(what: str, folder: Path) -> None:
    (path,) = folder.iterdir()
    if what.endswith("nobody's"):
        if os.geteuid() != 0:
            pytest.skip("only root gives files away")
        os.chown(folder if what.startswith("folder") else path, NOBODY, NOBODY)
    elif what.startswith("folder"):
        folder.chmod(0o777 if what.endswith("all") else 0o770)
    else:
        path.chmod(0o666 if what.endswith("all") else 0o660)


@pytest.mark.parametrize(
    "what",
    [f"{each}: {who}" for each in ("folder", "file") for who in ("nobody's", "all", "group")],
)
def test_what_others_may_have_written_is_not_loaded(
    what: str, folder: Path, tmp_path: Path
) -> None:
    spoil(what, folder)
    with pytest.warns(UserWarning, match="other users may write here.*STOPWISE_CACHE_DIR"):
        first = value()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert value() == first, "said once"
    assert not (tmp_path / "harm").exists()


def test_what_is_ours_is_loaded(folder: Path, tmp_path: Path) -> None:
    """So the trap above would have worked."""
    value()
    assert (tmp_path / "harm").exists()


def test_a_new_cache_is_its_users_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOPWISE_CACHE_DIR", str(tmp_path / "new"))
    before = os.umask(0)
    try:
        folder = kernels.cache_folder()
        value()
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert (stat.S_IMODE(folder.stat().st_mode), modes) == (0o700, {0o600})


def test_a_place_for_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("STOPWISE_CACHE_DIR", str(tmp_path / "file"))
    assert value() > 0.0
