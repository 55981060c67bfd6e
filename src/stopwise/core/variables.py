"""Variables that are assigned once are values, not places in memory.

numba knows that of variables that are used in one block only; the others, tuples of arrays among them,
it writes to memory and reads anew at each use, and LLVM takes a fifth of its time to undo that. Where no
references are counted nothing is to be done at the end of a variable's life either.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable
from typing import Any


def replacements() -> list[tuple[Any, str, Any]]:
    """What of numba is replaced, and by what."""
    lower: Any = importlib.import_module("numba.core.lowering").Lower
    singly = "_find_singly_assigned_variable"
    return [
        (lower, singly, finding(getattr(lower, singly))),
        (lower, "storevar", storing(lower.storevar)),
        (lower, "delvar", deleting(lower.delvar)),
    ]


def finding(plain: Callable[..., None]) -> Any:
    """Which variables are assigned once, before all uses."""
    analysis: Any = importlib.import_module("numba.core.analysis")

    def find(self: Any) -> None:
        plain(self)
        blocks = self.func_ir.blocks
        if (
            not self.context.enable_nrt
            and not self.func_ir.func_id.is_generator
            and len(blocks) > 1
        ):
            self._singly_assigned_vars |= _assigned_before(blocks, analysis)

    return find


def _assigned_before(blocks: dict[int, Any], analysis: Any) -> set[str]:
    """Variables with one assignment, in a block through which every way to a use leads."""
    known, allocated = analysis.compute_use_defs(blocks), analysis.must_use_alloca(blocks)
    dominators = analysis.compute_cfg_from_blocks(blocks).dominators()
    ir: Any = importlib.import_module("numba.core.ir")
    assigned = [
        (each.target.name, label)
        for label, block in blocks.items()
        for each in block.find_insts(ir.Assign)
    ]
    times = Counter(name for name, _ in assigned)
    place = {name: label for name, label in assigned if times[name] == 1 and name not in allocated}
    for label, names in known.usemap.items():
        for name in names:
            before = place.get(name)
            # blocks are lowered in the order of their labels
            if before is not None and (before >= label or before not in dominators.get(label, ())):
                del place[name]
    return set(place)


def storing(plain: Callable[..., None]) -> Any:
    """A value for a variable; the one before needs no look where no references are counted."""

    def store(self: Any, value: Any, name: str, argidx: int | None = None) -> None:
        if self.context.enable_nrt or argidx is not None or name in self._singly_assigned_vars:
            plain(self, value, name, argidx)
            return
        self._alloca_var(name, self.typeof(name))
        place = self.getvar(name)
        if value.type != place.type.pointee:
            raise AssertionError(f"storing {value.type} to {name}, which is {place.type.pointee}")
        self.builder.store(value, place)

    return store


def deleting(plain: Callable[..., None]) -> Any:
    """The end of a variable's life, where references are counted."""

    def delete(self: Any, name: str) -> None:
        if self.context.enable_nrt:
            plain(self, name)

    return delete
