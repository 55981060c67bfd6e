"""One file a block. A block is done when its file exists: it is written aside, flushed and renamed."""

from __future__ import annotations

import errno
import io
import json
import os
import secrets
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from stopwise.core.errors import StopwiseError
from stopwise.engine.batch import Batch

PART = ".part"


class CannotWrite(StopwiseError, OSError):
    """A block could not be stored; what is stored already is safe."""


class BadBlock(StopwiseError):
    """A block's file is damaged, or belongs elsewhere."""


class Blocks:
    """The blocks of one spec, in the folder that its hash names."""

    def __init__(self, folder: Path, key: str) -> None:
        self.folder, self.key = folder / key, key

    def path(self, case: int, block: int) -> Path:
        """Where a block is."""
        return self.folder / f"case-{case:04d}" / f"block-{block:05d}.npz"

    def done(self, case: int, block: int) -> bool:
        """Whether a block has been stored."""
        return self.path(case, block).exists()

    def write(self, case: int, block: int, batch: Batch) -> None:
        """Store a block: wholly or not at all."""
        key = json.dumps([self.key, case, block, batch.first, len(batch.finished)])
        content = io.BytesIO()
        np.savez(
            content,
            key=np.frombuffer(key.encode(), dtype=np.uint8),
            times=batch.times,
            codes=batch.codes,
            counts=batch.counts.astype(np.int64),
        )
        write_file(self.path(case, block), content.getvalue())

    def read(self, case: int, block: int, first: int, count: int) -> Batch:
        """A block as it was stored."""
        path = self.path(case, block)
        try:
            with np.load(path, allow_pickle=False) as file:
                key = json.loads(file["key"].tobytes())
                times, codes, counts = file["times"], file["codes"], file["counts"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise BadBlock(f"{path}: the block cannot be read ({error}).") from error
        wanted = [self.key, case, block, first, count]
        if key != wanted or len(times) != count:
            raise BadBlock(f"{path}: the file says that it is {key}; expected {wanted}.")
        return Batch(first, times, codes, counts.astype(float), np.ones(count, dtype=bool))

    def set_aside(self, case: int, block: int) -> Path:
        """Keep a damaged file under another name, so that its block is computed again."""
        path = self.path(case, block)
        other = path.with_suffix(".damaged")
        os.replace(path, other)
        return other

    def tidy(self) -> None:
        """Remove what interrupted writes left behind."""
        for left in self.folder.glob(f"case-*/.*{PART}"):
            left.unlink(missing_ok=True)


def write_file(path: Path, content: bytes) -> None:
    """Write a file wholly or not at all: aside first, flushed to the disk, then renamed."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}{PART}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
        _flush_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise _cannot_write(path, error) from error


def _flush_folder(folder: Path) -> None:
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _cannot_write(path: Path, error: OSError) -> CannotWrite:
    hints = {
        errno.ENOSPC: "The disk is full: free some space",
        errno.EDQUOT: "The quota is used up: free some space",
        errno.EACCES: "The folder may not be written to: choose another with --folder",
        errno.EROFS: "The file system is read-only: choose another folder with --folder",
        errno.ENOTDIR: "A file stands where a folder is needed: choose another with --folder",
        errno.EEXIST: "A file stands where a folder is needed: choose another with --folder",
    }
    hint = hints.get(error.errno or 0, "Mend this")
    return CannotWrite(
        f"{path}: cannot be written ({error.strerror or error}). {hint}, and run the study again: "
        "what was stored is kept."
    )
