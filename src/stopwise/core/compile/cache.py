"""Kernels on disk, used again as long as nothing that they were compiled from has changed.

A kernel's file is named by its function and the types of its arguments. The file lists every function
and method that the kernel was compiled from, with a digest; a kernel is loaded only while the same
ones would be compiled and none of them has changed. So an edit is never missed, whether of a function,
of a helper or of a global, and an edit of one strategy leaves the kernels of all others alone.

A kernel's file can make whoever loads it do anything. So it is loaded only if nobody but its user (and
the administrator) can have written it.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import io
import os
import pickle
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from stopwise.core.compile import numba_objects as nb
from stopwise.core.compile.digest import Unclear, digest
from stopwise.core.compile.methods import finder
from stopwise.core.functions import Function, Use

Name = tuple[str, str]  # a module, and what is meant of it


class KernelCache:
    """What numba asks of a cache, for one function: ``load_overload`` and ``save_overload``."""

    def __init__(self, folder: Path, function: Function, options: dict[str, Any]) -> None:
        self.folder, self.function, self.options = folder, function, options
        self.uses: list[Use] | None = None  # of what is to be saved, if known

    def load_overload(self, types: nb.Types, context: nb.TargetContext) -> nb.CompileResult | None:
        """The kernel, ready to run; None if there is none, or something else would be compiled now."""
        compiler = importlib.import_module("numba.core.compiler")
        typing = importlib.import_module("numba.core.typing")
        _load_runtime(context)
        if not _usable(self.folder):
            return None
        try:
            with self._path(types, context).open("rb") as file:
                if not _ours(os.fstat(file.fileno())):
                    _warn(self._path(types, context))
                    return None
                made_from, result = pickle.load(file)
                if made_from != [_entry(_found(*name)) for name, _ in made_from]:
                    return None
                payload = _Unpickler(file, classes(types)).load()
        except Exception:  # not here, damaged, of other versions, or from what is no more
            return None
        payload[3] = typing.signature(result, *types)
        return compiler.CompileResult._rebuild(context, *payload)

    def save_overload(self, types: nb.Types, result: nb.CompileResult) -> None:
        """Keep the kernel, unless it depends on something of which no digest is known."""
        with suppress(Unclear, OSError, AttributeError, pickle.PicklingError):
            if self.uses is None or result.library.has_dynamic_globals:
                return
            if not _usable(self.folder):
                return
            own = _entry(Use(self.function, ()))
            made_from = [own, *(_entry(use) for use in self.uses)]
            payload = [*result._reduce()]
            payload[3] = None  # its types are in the file's name
            buffer = io.BytesIO(pickle.dumps((made_from, result.signature.return_type)))
            buffer.seek(0, os.SEEK_END)
            _pickler(buffer, classes(types)).dump(payload)
            _write(self._path(types, result.target_context), buffer.getvalue())

    def _path(self, types: nb.Types, context: nb.TargetContext) -> Path:
        import numba

        versions = (numba.__version__, np.__version__, sys.version, os.name)
        function = (self.function.__module__, self.function.__qualname__)
        kernel = (function, sorted(self.options.items()), _spelled(types))
        key = repr((versions, context.codegen().magic_tuple(), kernel))
        name = hashlib.sha256(key.encode()).hexdigest()[:24]
        return self.folder / f"{self.function.__name__.strip('<>')}-{name}.kernel"

    def enable(self) -> None:
        """Always."""

    disable = flush = enable
    cache_path = property(lambda self: str(self.folder))


def _load_runtime(context: nb.TargetContext) -> None:
    """Load what machine code calls, without the compiler, which takes a third of a second to load."""
    try:
        importlib.import_module("numba.core.runtime").rtsys.initialize(context)
    except (ImportError, AttributeError):  # another numba
        context.refresh()


def make_folder(folder: Path) -> None:
    """The folder, for its user alone; OSError if there can be none."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _usable(folder: Path) -> bool:
    """Whether kernels may be kept in this folder; warns if other users may write there."""
    try:
        found = folder.stat()
    except OSError:  # not there yet
        return True
    if not _ours(found):
        _warn(folder)
        return False
    return True


def _ours(found: os.stat_result) -> bool:
    """Whether nobody but this user and the administrator may write it; Windows does not say."""
    if sys.platform == "win32":
        return True
    return found.st_uid in (os.geteuid(), 0) and not found.st_mode & 0o022


@functools.cache
def _warn(path: Path) -> None:
    """Once for each."""
    warnings.warn(
        f"{path}: other users may write here, so compiled code is not loaded from it, and is compiled "
        "again in every process. Make it yours (chown), take away the others' right to write "
        "(chmod go-w), or set STOPWISE_CACHE_DIR to a folder of your own.",
        stacklevel=2,
    )


def _entry(use: Use) -> tuple[tuple[Name, tuple[Name, ...]], str]:
    """How to find a use again, and a digest of what is chosen for it."""
    return (_name(use.function), tuple(map(_name, use.kinds))), digest(use.chosen)


def _name(thing: Function | type) -> Name:
    if "<" in thing.__qualname__:
        raise Unclear(f"{thing!r} is no global of its module")
    return thing.__module__, thing.__qualname__


def _found(function: Name, kinds: tuple[Name, ...]) -> Use:
    return Use(_thing(*function), tuple(_thing(*kind) for kind in kinds))


def _thing(module: str, name: str) -> Any:
    if module == finder.__module__:  # a method
        return finder(name)
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))


def classes(types: nb.Types) -> list[type]:
    """The classes of all values in the arguments; pickle might copy those of a script."""
    return list(dict.fromkeys(_walk(types)))


def _walk(types: nb.Types) -> Iterator[type]:
    for each in types:
        if hasattr(each, "instance_class"):
            yield each.instance_class
        yield from _walk(getattr(each, "types", ()))


def _spelled(types: nb.Types) -> list[object]:
    """Types with the modules and fields of their classes; a script is known by its file."""
    return [
        (_place(each), _spelled(each.types)) if hasattr(each, "types") else str(each)
        for each in types
    ]


def _place(kind: nb.Type) -> object:
    found = getattr(kind, "instance_class", None)
    if found is None:
        return "tuple"
    script = getattr(sys.modules.get(found.__module__), "__file__", "")
    module = script if found.__module__ == "__main__" else found.__module__
    # compiled code knows a field by its place: their order is part of the type
    return (module, found.__qualname__, found._fields)


def _pickler(file: io.BytesIO, classes: list[type]) -> pickle.Pickler:
    plain: Any = importlib.import_module("numba.core.serialize").NumbaPickler
    places = {kind: place for place, kind in enumerate(classes)}

    class Pickler(plain):  # type: ignore[misc]
        def persistent_id(self, thing: object) -> int | None:
            return places.get(thing) if isinstance(thing, type) else None

    return Pickler(file, protocol=4)


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BinaryIO, classes: list[type]) -> None:
        super().__init__(file)
        self.classes = classes

    def persistent_load(self, place: int) -> type:
        return self.classes[place]


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, even while other processes write it."""
    make_folder(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
