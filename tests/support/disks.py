"""Disks with little room."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def small_disk(folder: Path, how: str, room: int = 400_000) -> Iterator[Callable[[], None]]:
    """A place with little room, and what makes more: a file system, or a limit on files."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={room // 1000}k", "tmpfs", str(folder)]
    if how == "disk" and subprocess.run(command, capture_output=True).returncode == 0:
        more = ["mount", "-o", "remount,size=20m", str(folder)]
        try:
            yield lambda: subprocess.run(more, check=True)
        finally:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
    else:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
        try:
            yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
