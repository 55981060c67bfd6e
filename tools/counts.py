"""How large the numerical half of stopwise is, and how much of it one round passes through.

``python tools/counts.py [FOLDER] [--against FOLDER] [--quick]``: each FOLDER is a checkout. Most counts
are read from the source; the last ones need a short simulation, an oracle and a compilation, each in a
process of its own (``--quick`` leaves them out). The report never fails: it says which targets are met.

The rules, all about the numerical rooms alone:

- *Lines*: all lines of a file, docstrings and blank lines included.
- *Parameters*: the named ones of a function, and one each for ``*`` and ``**``, without ``self`` and
  ``cls``.
- *Any*: every mention in an annotation of a parameter, a result, a variable or a field.
- *numba's internals*: all lines of a module that imports a module of numba beside those in ``PUBLIC``,
  by a statement or by ``import_module``. The module *replaces* internals if it calls ``setattr`` or
  defines ``replacements``, a list of attributes for another module to set; otherwise it *reads* them.
- *Verbs*: functions decorated with ``@verb``. *Registrations*: calls of a method ``register``.
- *Twins*: NamedTuple classes with a leading underscore that another class of the file inherits.
- *A round*: the functions that are called between one sample and the next, and their callers, in plain
  Python. Rounds differ a little: the most frequent set counts. An *oracle* likewise, all of it.
- *Compiled functions*: distinct functions that numba compiles for one ``sw.run`` with an empty cache.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

ROOMS = (
    *("core", "families", "cells", "problems", "oracles", "sampling", "stopping", "baselines"),
    *("engine", "paired", "pairs"),
)
MANY = 7  # parameters
PUBLIC = {"numba", "numba.extending", "numba.types", "numba.typed", "numba.experimental"}
ROUNDS, FIRST = 400, 20  # of the simulation; the first ones are not ordinary


class Target(NamedTuple):
    """What is counted, and the most that it should be."""

    name: str
    most: int | None = None


LINES = {room: Target(f"lines of {room}") for room in ROOMS}
ALL_LINES = Target("lines of the numerical rooms", 19_500)
PARAMETERS = Target(f"functions with {MANY} parameters or more", 20)
ANY = Target("Any in annotations", 250)
REPLACED = Target("lines of modules that replace numba's internals", 330)
READ = Target("lines of modules that read numba's internals")
VERBS = Target("verbs")
REGISTRATIONS = Target("registrations")
TWINS = Target("twins of fields")
ROUND_FILES = Target("files in a round of best arm", 12)
ROUND_FUNCTIONS = Target("functions in a round of best arm")
ORACLE_FILES = Target("files in an oracle of best arm")
ORACLE_FUNCTIONS = Target("functions in an oracle of best arm")
COMPILED = Target("compiled functions for best arm", 62)
COMPILED_OWN = Target("compiled functions for best arm, stopwise's own")

Counts = dict[Target, int]


class Module(NamedTuple):
    """A file of a numerical room."""

    room: str
    lines: int
    tree: ast.Module


def modules(checkout: Path) -> list[Module]:
    """All files of the numerical rooms."""
    found = []
    for room in ROOMS:
        for path in sorted((checkout / "src" / "stopwise" / room).rglob("*.py")):
            text = path.read_text()
            found.append(Module(room, len(text.splitlines()), ast.parse(text)))
    return found


def from_source(checkout: Path) -> Counts:
    """What can be counted without running anything."""
    found = modules(checkout)
    trees = [module.tree for module in found]
    counts = {
        LINES[room]: sum(module.lines for module in found if module.room == room) for room in ROOMS
    }
    touching = [module for module in found if imports_internals(module.tree)]
    replacing = [module for module in touching if replaces(module.tree)]
    return {
        **{target: count for target, count in counts.items() if count},
        ALL_LINES: sum(counts.values()),
        PARAMETERS: sum(parameters(each) >= MANY for tree in trees for each in functions(tree)),
        ANY: sum(map(mentions_of_any, trees)),
        REPLACED: sum(module.lines for module in replacing),
        READ: sum(module.lines for module in touching) - sum(each.lines for each in replacing),
        VERBS: sum(is_verb(each) for tree in trees for each in functions(tree)),
        REGISTRATIONS: sum(map(registrations, trees)),
        TWINS: sum(map(twins, trees)),
    }


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions and methods, inner ones included; lambdas do not count."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    """All of a function, ``self`` and ``cls`` included."""
    given = function.args
    several = [each for each in (given.vararg, given.kwarg) if each is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *several]


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many a caller may give."""
    return sum(each.arg not in ("self", "cls") for each in arguments(function))


def mentions_of_any(tree: ast.AST) -> int:
    """How often annotations say Any."""
    annotations: list[ast.expr | None] = [
        node.annotation for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)
    ]
    for function in functions(tree):
        annotations += [function.returns, *(each.annotation for each in arguments(function))]
    inside = [node for each in annotations if each is not None for node in ast.walk(each)]
    named = sum(isinstance(node, ast.Name) and node.id == "Any" for node in inside)
    dotted = sum(isinstance(node, ast.Attribute) and node.attr == "Any" for node in inside)
    return named + dotted


def calls(tree: ast.AST, *names: str) -> Iterator[ast.Call]:
    """Calls of functions and methods with these names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in names:
                yield node


def imported(tree: ast.AST) -> Iterator[str]:
    """Modules that a file imports; of a computed name the part that is known."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "numba":
            yield from (f"numba.{alias.name}" for alias in node.names if alias.name != "njit")
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
    for call in calls(tree, "import_module"):
        known = [node for node in ast.walk(call.args[0]) if isinstance(node, ast.Constant)]
        yield str(known[0].value) if known else ""
    for _ in calls(tree, "internal"):
        yield "numba.internal"  # ``numba_objects.internal`` imports one


def imports_internals(tree: ast.AST) -> bool:
    """Whether a file imports what numba does not promise to keep."""
    return any(name.startswith("numba.") and name not in PUBLIC for name in imported(tree))


def replaces(tree: ast.AST) -> bool:
    """Whether a file, of those that import internals, puts something in their place."""
    said = any(function.name == "replacements" for function in functions(tree))
    return said or any(True for _ in calls(tree, "setattr"))


def is_verb(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it is decorated with ``@verb`` or ``@verb(...)``."""
    plain = [getattr(each, "func", each) for each in function.decorator_list]
    return any(isinstance(each, ast.Name) and each.id == "verb" for each in plain)


def registrations(tree: ast.AST) -> int:
    """How often something is registered for a type."""
    return sum(isinstance(call.func, ast.Attribute) for call in calls(tree, "register"))


def twins(tree: ast.AST) -> int:
    """NamedTuple classes that only hold the fields of another class."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    bases = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for node in classes
    }
    inherited = set().union(*bases.values()) if bases else set()
    return sum(
        name.startswith("_") and "NamedTuple" in own and name in inherited
        for name, own in bases.items()
    )


def from_running(checkout: Path) -> Counts:
    """What only a run can tell: what a round calls, and what is compiled."""
    targets = {
        "rounds": (ROUND_FILES, ROUND_FUNCTIONS),
        "oracle": (ORACLE_FILES, ORACLE_FUNCTIONS),
        "compiled": (COMPILED, COMPILED_OWN),
    }
    return {
        target: count
        for what, pair in targets.items()
        for target, count in zip(pair, in_process(what, checkout), strict=True)
    }


def in_process(what: str, checkout: Path) -> list[int]:
    """What ``INSIDE[what]`` prints in a process of its own, with the checkout's package."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "PYTHONPATH": str((checkout / "src").resolve()),
            "STOPWISE_CACHE_DIR": folder,
            "STOPWISE_QUIET": "1",
            "NUMBA_DISABLE_JIT": "0" if what == "compiled" else "1",
        }
        command = [sys.executable, str(Path(__file__).resolve()), "--inside", what]
        done = subprocess.run(
            command, env=environment, cwd=folder, stdout=subprocess.PIPE, text=True, check=True
        )
    found: list[int] = json.loads(done.stdout)
    return found


def best_arm(**options: Any) -> None:
    """One run."""
    import stopwise as sw

    sw.run(sw.BestArm(3), [0.5, 0.4, 0.3], family=sw.Bernoulli(), seed=1, **options)


def ordinary_round() -> list[int]:
    """How many files and functions most rounds pass."""
    import numpy as np

    rounds: list[frozenset[CodeType]] = []
    called: set[CodeType] = set()

    class Marking(np.random.Generator):
        """Every sample of a coin is one random number, which ends a round and begins the next."""

        def random(self, *given: Any, **options: Any) -> Any:
            rounds.append(frozenset(called))
            called.clear()
            return super().random(*given, **options)

    np.random.Generator = Marking  # type: ignore[misc]
    import stopwise as sw

    setting = {"strategy": sw.TrackAndStop(), "stopping": sw.Wealth()}
    run = partial(best_arm, **setting, delta=1e-3, max_rounds=ROUNDS)
    traced(run, rounds, called)
    return sizes(Counter(rounds[FIRST:]).most_common(1)[0][0])


def whole_oracle() -> list[int]:
    """How many files and functions an oracle passes, from the call to its result."""
    import stopwise as sw

    called: set[CodeType] = set()
    traced(lambda: sw.oracle(sw.BestArm(3), [0.5, 0.4, 0.3], family=sw.Bernoulli()), called)
    return sizes(frozenset(called))


def traced(function: Callable[[], object], *found: Any) -> None:
    """Call it twice; the second time, when all is imported, ``found[-1]`` gets what is called."""
    import stopwise as sw

    root, called = str(Path(sw.__file__).parent), found[-1]

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(root):
            called.add(frame.f_code)
            if frame.f_back is not None and frame.f_back.f_code.co_filename.startswith(root):
                called.add(frame.f_back.f_code)

    function()
    for each in found:
        each.clear()
    threading.setprofile(note)
    sys.setprofile(note)
    function()
    sys.setprofile(None)
    threading.setprofile(None)


def sizes(called: frozenset[CodeType]) -> list[int]:
    """Files, and functions."""
    return [len({code.co_filename for code in called}), len(called)]


def compiled_functions() -> list[int]:
    """How many distinct functions numba compiles: all, and those of this package."""
    from numba.core import event

    found: set[CodeType] = set()

    class Listener(event.Listener):
        def on_start(self, happened: Any) -> None:
            found.add(happened.data["dispatcher"].py_func.__code__)

        def on_end(self, happened: Any) -> None:
            """What is compiled is known at the start."""

    register: Any = event.register  # numba has no types
    register("numba:compile", Listener())
    best_arm(delta=0.1)
    own = [code for code in found if "numba" not in Path(code.co_filename).parts]
    return [len(found), len(own)]


INSIDE = {"rounds": ordinary_round, "oracle": whole_oracle, "compiled": compiled_functions}


def report(before: Counts | None, after: Counts) -> str:
    """A table: what was counted, before and after, and whether the target is met."""
    names = [*after, *(target for target in before or () if target not in after)]
    order = [*LINES.values(), *(target for target in names if target not in LINES.values())]
    heads = ["counted", *(["before"] if before is not None else []), "after", "target", "met"]
    table = [heads]
    for target in order:
        if target not in names:
            continue
        cells = [] if before is None else [f"{before.get(target, 0):,}"]
        count, most = after.get(target, 0), target.most
        limit = ["-", ""] if most is None else [f"<= {most:,}", "yes" if count <= most else "no"]
        table.append([target.name, *cells, f"{count:,}", *limit])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(
            text.ljust(width) if place == 0 else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
    return "\n".join([lines[0], "-" * (sum(widths) + 2 * len(widths) - 2), *lines[1:]])


def counted(checkout: Path, quick: bool) -> Counts:
    """Everything about a checkout."""
    if not (checkout / "src" / "stopwise").is_dir():
        sys.exit(f"{checkout} is not a checkout: it has no folder src/stopwise")
    return {**from_source(checkout), **({} if quick else from_running(checkout))}


def main() -> None:
    """Count, and print the table."""
    parser = argparse.ArgumentParser(description="Count what the code's targets are about.")
    here = Path(__file__).resolve().parent.parent
    parser.add_argument("folder", nargs="?", type=Path, default=here, help="a checkout")
    parser.add_argument("--against", type=Path, help="an older checkout, for a column before")
    parser.add_argument("--quick", action="store_true", help="run and compile nothing")
    parser.add_argument("--inside", choices=INSIDE, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        print(json.dumps(INSIDE[given.inside]()))
        return
    before = counted(given.against, given.quick) if given.against else None
    print(report(before, counted(given.folder, given.quick)))


if __name__ == "__main__":
    main()
