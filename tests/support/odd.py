"""Odd values, and every public callable with a valid call: for tests/core/test_odd_values.py."""

from __future__ import annotations

import datetime as dt
import enum
import inspect
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier

import stopwise as sw
from stopwise import evals
from stopwise.campaign.spec import KEYS
from stopwise.cells.cell import Cell
from stopwise.core import registry
from stopwise.core.functions import declared
from stopwise.engine.design import Setting, prepare
from stopwise.evals.sklearn import BestEstimator
from stopwise.sampling.strategy import Tracker


class Colour(enum.Enum):
    """Neither a number nor a word."""

    RED = "red"


class Level(enum.IntEnum):
    """A number with a name."""

    LOW = 1


class Anything:
    """A class that can be called with anything."""

    def __init__(self, *given: Any, **named: Any) -> None:
        pass


def fails(*names: str) -> Any:
    """An object whose special methods of these names raise."""

    def fail(*given: Any) -> Any:
        raise RuntimeError("of the object that was given")

    return type("Fails", (), dict.fromkeys(names, fail))()


def nested(depth: int) -> Any:
    found: Any = []
    for _ in range(depth):
        found = [found]
    return found


def _itself() -> Any:
    found: list[Any] = []
    found.append(found)
    return found


# each is made anew for every call
VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: float("-inf"),
    "-1": lambda: -1,
    "0": lambda: 0,
    "1.5": lambda: 1.5,
    "10**30": lambda: 10**30,
    "-10**30": lambda: -(10**30),
    "2**31": lambda: 2**31,
    "2**63": lambda: 2**63,
    "2**63 - 1": lambda: 2**63 - 1,
    "5e-324": lambda: 5e-324,
    "1e308": lambda: 1e308,
    "-1e308": lambda: -1e308,
    "5,000 digits": lambda: 10**4999,
    "1j": lambda: 1j,
    "Decimal": lambda: Decimal("0.1"),
    "Decimal sNaN": lambda: Decimal("sNaN"),
    "Decimal 1e999": lambda: Decimal("1e999"),
    "Fraction": lambda: Fraction(1, 3),
    "''": lambda: "",
    "'x'": lambda: "x",
    "NUL": lambda: "a\0b",
    "10,000 letters": lambda: "x" * 10_000,
    "escapes": lambda: "a\n\x1b[31m\t'\"\\b",
    "surrogate": lambda: "\ud800",
    "text of 5,000 digits": lambda: "9" * 5_000,
    "'1e400'": lambda: "1e400",
    "spelled, deep": lambda: "best-arm:epsilon=" + "[" * 100_000,
    "spelled, digits": lambda: "best-arm:epsilon=" + "9" * 5_000,
    "bytes": lambda: b"x\xff",
    "bytearray": lambda: bytearray(b"x"),
    "memoryview": lambda: memoryview(b"x"),
    "[]": list,
    "[[]]": lambda: [[]],
    "[None]": lambda: [None],
    "[nan, nan]": lambda: [float("nan")] * 2,
    "[10**30, 1]": lambda: [10**30, 1],
    "[5,000 digits, 1]": lambda: [10**4999, 1],
    "['a', 1]": lambda: ["a", 1],
    "[Decimal, Decimal]": lambda: [Decimal("0.2"), Decimal("0.1")],
    "ragged": lambda: [[1.0], [1.0, 2.0]],
    "ragged 3": lambda: [1.0, [1.0, 2.0]],
    "nested 1,000": lambda: nested(1_000),
    "nested 100,000": lambda: nested(100_000),
    "contains itself": _itself,
    "()": tuple,
    "(1,)": lambda: (1,),
    "((),)": lambda: ((),),
    "(1, 2, 3)": lambda: (1, 2, 3),
    "set": lambda: {1, 2},
    "frozenset": lambda: frozenset("ab"),
    "{}": dict,
    "{1: 2}": lambda: {1: 2},
    "{None: None}": lambda: {None: None},
    "{'kind': []}": lambda: {"kind": []},
    "{'a': nan}": lambda: {"a": float("nan")},
    "generator": lambda: (k for k in (0.2, 0.1)),
    "range": lambda: range(3),
    "range(10**12)": lambda: range(10**12),
    "function": lambda: lambda *given, **named: None,
    "class": lambda: Anything,
    "object": object,
    "module": lambda: inspect,
    "mock": MagicMock,
    "enum": lambda: Colour.RED,
    "IntEnum": lambda: Level.LOW,
    "Path": lambda: Path("x"),
    "datetime": lambda: dt.datetime(2026, 1, 1),
    "timedelta": lambda: dt.timedelta(seconds=1),
    "UUID": lambda: uuid.UUID(int=1),
    "family": lambda: sw.Bernoulli(),
    "problem of 3 arms": lambda: sw.BestArm(3),
    "strategy": lambda: sw.Uniform(),
    "repr fails": lambda: fails("__repr__"),
    "str fails": lambda: fails("__str__", "__repr__"),
    "len fails": lambda: fails("__len__"),
    "float fails": lambda: fails("__float__", "__index__"),
    "eq fails": lambda: fails("__eq__", "__hash__"),
    "bool fails": lambda: fails("__bool__"),
    "iter fails": lambda: fails("__iter__", "__len__", "__getitem__"),
    "array fails": lambda: fails("__array__"),
    "getattr fails": lambda: fails("__getattr__"),
    "fspath fails": lambda: fails("__fspath__"),
    "np.int64 max": lambda: np.int64(2**63 - 1),
    "np.int64 min": lambda: np.int64(-(2**63)),
    "np.uint64 max": lambda: np.uint64(2**64 - 1),
    "np.float32": lambda: np.float32(0.1),
    "np.longdouble": lambda: np.longdouble("1e400"),
    "np.bool": lambda: np.bool_(True),
    "np.str": lambda: np.str_("x"),
    "np.datetime64": lambda: np.datetime64("2026-01-01"),
    "np 0-d": lambda: np.array(0.5),
    "np 0-d object": lambda: np.array(None),
    "np empty": lambda: np.array([]),
    "np empty 2-d": lambda: np.zeros((0, 2)),
    "np 3-d": lambda: np.zeros((1, 2, 3)),
    "np bool": lambda: np.array([True, False]),
    "np float16": lambda: np.array([0.2, 0.1], dtype=np.float16),
    "np uint64": lambda: np.array([2**64 - 1, 0], dtype=np.uint64),
    "np object": lambda: np.array([0.2, None], dtype=object),
    "np complex": lambda: np.array([1j, 2.0]),
    "np structured": lambda: np.zeros(2, dtype=[("a", float)]),
    "np text": lambda: np.array(["a", "b"]),
    "np dates": lambda: np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]"),
    "np masked": lambda: np.ma.masked_array([0.2, 0.1], mask=[True, False]),
    "np matrix": lambda: np.asmatrix([[0.2, 0.1]]),
    "np read-only": lambda: np.broadcast_to(np.array(0.2), 2),
    "np 10**12": lambda: np.broadcast_to(np.array(0.2), 10**12),
    "Series": lambda: pd.Series([0.2, 0.1], index=[5, 6]),
    "Series of text": lambda: pd.Series(["max", "min"]),
    "DataFrame": lambda: pd.DataFrame({"a": [0.2, 0.1], "b": [0.1, 0.3]}),
    "DataFrame empty": pd.DataFrame,
    "Categorical": lambda: pd.Categorical(["a", "b"]),
    "NA": lambda: pd.NA,
    "NaT": lambda: pd.NaT,
}


class Door(NamedTuple):
    """A public callable, one of its parameters, and how a valid call of it is made."""

    name: str
    parameter: str
    call: Callable[[], tuple[Callable[..., Any], dict[str, Any]]]

    def parameters(self) -> set[str]:
        """Its own and the others of the same call."""
        function, valid = self.call()
        return {*_parameters(function), *valid}

    def knock(self, value: Any) -> Any:
        """Call it with this value for the parameter."""
        function, valid = self.call()
        found = function(**{**valid, self.parameter: value})
        use(found)
        return found


def use(found: Any) -> None:
    """Some check what they were given only when they are used."""
    if isinstance(found, BestEstimator):
        found.fit(*DATA)
    elif isinstance(found, sw.Polyhedron | sw.Ball | sw.OutsideBall):
        sw.Cells(2, {"a": found, "b": sw.Polyhedron([[1, 0]])})
    elif isinstance(found, sw.Strategy | sw.StoppingRule):
        rule = isinstance(found, sw.StoppingRule)
        both = (sw.Uniform(), found) if rule else (found, sw.Wealth())
        with suppress(sw.NotDefined):  # some are for other problems
            prepare(Setting(best, normal, *both), [0.0, 9.0], (0.1,), 1000)


DATA = np.zeros((20, 1)), np.arange(20) % 2
best = sw.BestArm(2)
normal = sw.Gaussian()
coin = sw.Bernoulli()
INSTANCE = {"problem": best, "means": [0.0, 9.0], "family": normal}
TABLE = [[1, 0], [1, 0], [1, 0]]
LEAGUE = {"instances": ["gk1"], "strategies": ["uniform"], "repetitions": 2}
SPEC = {"question": "best-arm", "arms": ["A", "B"], "family": "bernoulli", "delta": 0.1}


def design() -> Any:
    asked = Setting(best, coin, sw.TrackAndStop(), sw.Wealth())
    return prepare(asked, None, (0.1,), 1000)


def session() -> sw.Session:
    """A session with one ticket out."""
    made = sw.Session(design())
    made.ask()
    return made


def paired_session() -> sw.PairedSession:
    """A comparison with one item asked."""
    made = sw.PairedSession(coin, 2)
    made.ask()
    return made


def study() -> sw.Study:
    """A study of one run."""
    return sw.Study(best, [0.0, 9.0], family=normal, strategies=sw.Uniform(), repetitions=1)


def study_that_ran() -> sw.Study:
    """The same, with its run stored."""
    made = study()
    made.run(workers=1)
    return made


def campaign(**more: Any) -> sw.Campaign:
    """A campaign in memory, with nothing asked."""
    return sw.Campaign.create({**SPEC, **more}, "memory:", "one")


TOKENS = ["t"]  # the last that a campaign gave out


def asked_campaign() -> sw.Campaign:
    """A campaign with one ticket out."""
    made = campaign()
    TOKENS.append(made.ask()[0].token)
    return made


def paused_campaign() -> sw.Campaign:
    """Paused and archived."""
    made = campaign()
    made.pause("lunch")
    made.archive()
    return made


def closed_campaign() -> sw.Campaign:
    """Closed."""
    made = campaign()
    made.close("enough")
    return made


def client() -> sw.Client:
    """Of a service that is not there: what is wrong with an argument is said before it is called."""
    return sw.Client("http://127.0.0.1:9", patience=0.0)


def _quick() -> None:
    pass


def _slow() -> None:
    for _ in range(3000):
        pass


def _ends(option: float, item: Any) -> float:
    return option


# Arguments of a valid and quick call. Those without a default must be here; others may be.
VALID: dict[str, Callable[[], dict[str, Any]]] = {
    "run": lambda: {**INSTANCE, "strategy": sw.Uniform()},
    "simulate": lambda: {**INSTANCE, "strategy": sw.Uniform(), "repetitions": 2, "workers": 1},
    "plan": lambda: {**INSTANCE, "strategies": [sw.Uniform()], "repetitions": 2, "workers": 1},
    "simulate_paired": lambda: {"table": TABLE, "family": coin, "repetitions": 2},
    "oracle": lambda: dict(INSTANCE),
    "lower_bound": lambda: dict(INSTANCE),
    "track_and_stop_bound": lambda: dict(INSTANCE),
    "witness": lambda: {**INSTANCE, "answer": 1},
    "cost": lambda: {**INSTANCE, "weights": [1, 1], "answer": 1},
    "evidence": lambda: {**INSTANCE, "counts": [1, 1]},
    "reachable_answers": lambda: {**INSTANCE, "counts": [1, 1], "level": 1.0},
    "answers": lambda: {"problem": best},
    "correct_answers": lambda: {"problem": best, "means": [0.0, 1.0]},
    "rank": lambda: {"problem": best},
    "union_bound": lambda: {"problem": best},
    "bench": lambda: {
        "functions": {"a": _quick, "b": _slow},
        "budget": 0.01,
        "warmup": 0,
        "minimum": 2,
    },
    "best_of": lambda: {"options": [0.0, 1.0], "items": list(range(60)), "score": _ends},
    "Study": lambda: {
        "problem": best,
        "instances": [0.0, 9.0],
        "family": normal,
        "strategies": sw.Uniform(),
        "repetitions": 1,
    },
    "Study.load": lambda: {"path": "study.toml"},
    "PairedSession": lambda: {"family": coin, "arms": 2},
    "PairedSession.tell": lambda: {"item": 0, "arm": 0, "value": 1.0},
    "PairedSession.release": lambda: {"item": 0, "arm": 0},
    "PairedSession.require": lambda: {"minimum": 3},
    "PairedSession.is_in": lambda: {"arm": 0},
    "PairedSession.differences": lambda: {"arm": 0, "other": 1},
    "PairedSession.at_least": lambda: {"arm": 0, "other": 1},
    "Session": lambda: {"design": design()},
    "Session.asks": lambda: {"count": 1},
    "Session.tell": lambda: {"ticket": sw.Ticket("1", 0, "0"), "value": 1.0},
    "Session.release": lambda: {"ticket": sw.Ticket("1", 0, "0")},
    "Session.record": lambda: {"arm": 0, "value": 1.0},
    "Session.require": lambda: {"minimum": 3},
    "Session.evidence_for": lambda: {"answer": 0},
    "Ball": lambda: {"center": [0.0, 0.0], "radius": 1.0},
    "OutsideBall": lambda: {"center": [0.0, 0.0], "radius": 1.0},
    "Binomial": lambda: {"trials": 3},
    "NegativeBinomial": lambda: {"successes": 3.0},
    "AnyLowArm": lambda: {"arms": 2, "threshold": 0.5},
    "AnySign": lambda: {"arms": 2},
    "BestArm": lambda: {"arms": 2},
    "TopArms": lambda: {"arms": 3, "m": 1},
    "Cells": lambda: {"arms": 2, "alternatives": {"a": sw.Polyhedron([[1, 0]])}},
    "AnyBetterThan": lambda: {"arms": 2},
    "BetterThan": lambda: {"arms": 2},
    "AllHalfSpaces": lambda: {"normals": [[1.0, 0.0]], "offsets": [0.0]},
    "AnyHalfSpace": lambda: {"normals": [[1.0, 0.0]], "offsets": [0.0]},
    "Linear": lambda: {"features": [[1.0, 0.0], [0.0, 1.0]]},
    "Linear.means": lambda: {"theta": [1.0, 0.0]},
    "MinimumThreshold": lambda: {"arms": 2, "threshold": 0.5},
    "Product": lambda: {"parts": [(best, [0, 1])]},
    "Sphere": lambda: {"arms": 2},
    "Thresholding": lambda: {"arms": 2, "threshold": 0.5},
    "FixedWeights": lambda: {"weights": [1.0, 1.0]},
    "Explored": lambda: {"tracker": sw.CTracking()},
    "Forecast.detectable": lambda: {"samples": 100},
    "Results.to_parquet": lambda: {"path": "results.parquet"},
    "StudyResults.to_parquet": lambda: {"path": "results.parquet"},
    "League": lambda: dict(LEAGUE),
    "BenchReport.shown": lambda: {"value": 1.0},
    "Campaign.create": lambda: {"spec": SPEC, "storage": "memory:", "name": "one"},
    "Campaign.open": lambda: {"name": "one", "storage": "campaigns.db"},
    "Campaign.add_arm": lambda: {"label": "C"},
    "Campaign.close": lambda: {"reason": "enough"},
    "Campaign.export": lambda: {"path": "events.csv"},
    "Campaign.heartbeat": lambda: {"token": TOKENS[-1]},
    "Campaign.import_results": lambda: {"path": "results.csv"},
    "Campaign.note": lambda: {"text": "words"},
    "Campaign.record": lambda: {"arm": 0, "value": 1.0},
    "Campaign.record_all": lambda: {"records": [(0, 1.0, "one")]},
    "Campaign.release": lambda: {"token": TOKENS[-1]},
    "Campaign.rename": lambda: {"name": "two"},
    "Campaign.tell": lambda: {"token": TOKENS[-1], "value": 1.0},
    "Campaign.tell_all": lambda: {"tells": [(TOKENS[-1], 1.0)]},
    "Client": lambda: {"url": "http://127.0.0.1:9"},
    "Client.create": lambda: {"spec": SPEC, "name": "one"},
    "Client.open": lambda: {"name": "one"},
    "RemoteCampaign": lambda: {"client": client(), "name": "one"},
    "RemoteCampaign.add_arm": lambda: {"label": "C"},
    "RemoteCampaign.change": lambda: {
        "budget": 3,
        "minimum": 2,
        "labels": None,
        "losses": "at random",
    },
    "RemoteCampaign.close": lambda: {"reason": "enough"},
    "RemoteCampaign.export": lambda: {"path": "events.csv"},
    "RemoteCampaign.heartbeat": lambda: {"token": "t"},
    "RemoteCampaign.import_results": lambda: {"path": "results.csv"},
    "RemoteCampaign.note": lambda: {"text": "words"},
    "RemoteCampaign.record": lambda: {"arm": 0, "value": 1.0},
    "RemoteCampaign.release": lambda: {"token": "t"},
    "RemoteCampaign.rename": lambda: {"name": "two"},
    "RemoteCampaign.tell": lambda: {"token": "t", "value": 1.0},
    "RemoteCampaign.wait": lambda: {"timeout": 0.0},
    "Decision.from_dict": lambda: {"found": {}},
    "Decision.from_json": lambda: {"text": "{}"},
    "Explanation.from_dict": lambda: {"found": {}},
    "Recommendation.from_dict": lambda: {"found": {}},
    "Status.from_dict": lambda: {"found": {}},
    "Verification.from_dict": lambda: {"found": {}},
    "BestEstimator": lambda: {
        "estimators": [("a", DummyClassifier()), ("b", DummyClassifier(strategy="uniform"))],
        "max_splits": 2,
    },
    "Campaign.wait": lambda: {"timeout": 0.0},
}


def files() -> None:
    """Files that valid calls read, in the folder where we are."""
    Path("results.csv").write_text("arm,value\nA,1\n")
    Path("study.toml").write_text(
        'name = "one"\nproblem = "best-arm"\nfamily = "gaussian"\nstrategies = ["uniform"]\n'
        "repetitions = 1\n[[instances]]\nmeans = [0.0, 9.0]\n"
    )
    sw.Campaign.create(SPEC, "campaigns.db", "one")


LOOSE = {"RemoteCampaign.change"}  # its parameters have no names of their own

# An instance of each class whose methods are doors.
INSTANCES: dict[str, Callable[[], Any]] = {
    "Study": study,
    "Study.collect": study_that_ran,  # whatever was tested before
    "Study.report": study_that_ran,
    "StudyResults": lambda: _collected(),
    "Results": lambda: _results(),
    "RunTrace": lambda: _trace(),
    "Forecast": lambda: _forecast(),
    "BenchReport": lambda: _timed(),
    "League": lambda: sw.League(**LEAGUE),
    "PairedSession": paired_session,
    "Session": session,
    "Linear": lambda: sw.Linear([[1.0, 0.0], [0.0, 1.0]]),
    "Campaign": campaign,
    "Campaign.add_arm": lambda: campaign(room=3),
    "Campaign.tell": asked_campaign,
    "Campaign.tell_all": asked_campaign,
    "Campaign.release": asked_campaign,
    "Campaign.heartbeat": asked_campaign,
    "Campaign.resume": paused_campaign,
    "Campaign.unarchive": paused_campaign,
    "Campaign.wait": closed_campaign,  # nothing to wait for
    "Client": client,
    "RemoteCampaign": lambda: sw.RemoteCampaign(client(), "one"),
}


@cache
def _results() -> Any:
    return sw.simulate(**INSTANCE, strategy=sw.Uniform(), repetitions=2, workers=1)


@cache
def _collected() -> Any:
    return study_that_ran().collect()


@cache
def _trace() -> Any:
    return sw.run(**INSTANCE, strategy=sw.Uniform(), trace=True).trace


@cache
def _forecast() -> Any:
    return sw.plan(**INSTANCE, strategies=[sw.Uniform()], repetitions=2, workers=1)


@cache
def _timed() -> Any:
    return sw.bench(**VALID["bench"]())


# Values that the library returns, and the roots of the roles: nobody builds them. Functions for
# compiled code, which take what the library gives, are no doors either.
RETURNED = {
    *("Decision", "Event", "Receipt", "Explanation", "Remaining", "Recommendation", "Status"),
    *("Verification", "AnswerValue", "Bound", "Cost", "Oracle", "Witness", "Verdict"),
    *("Detectable", "Forecast", "PairedResults", "Results", "Summary", "Run", "RunTrace"),
    *("StudyResults", "StudyStatus", "BenchReport", "Ticket", "Campaign"),
    *("Family", "Problem", "StoppingRule", "Strategy", "Direct", "Threshold"),
    *("Data", "Gap", "Option", "jitable"),  # for those who write such a class
}
# Methods of these are called by the library, which has checked what it gives them; doors are those
# with a valid call above.
ROLES = (sw.Family, sw.Problem, sw.StoppingRule, sw.Strategy, Tracker, Cell)
# Methods that only the library itself calls: their callers have checked the arguments.
INTERNAL = {
    *("Campaign.leads", "Campaign.look", "Campaign.newest", "Campaign.import_table"),
    *("Session.take", "Session.replay", "Session.grow", "Session.load", "Session.fits"),
    *("Session.give_up", "Session.item"),
    *("PairedSession.after", "PairedSession.enter", "PairedSession.worst_differences"),
    *("Cells.from_table", "Product.from_table", "Client.call"),
    # scikit-learn's: the estimators that are given check them
    *("BestEstimator.fit", "BestEstimator.predict", "BestEstimator.predict_proba"),
    *("BestEstimator.decision_function", "BestEstimator.score"),
    *("Explanation.of", "Recommendation.of", "Status.of", "Verification.of"),
}


def doors() -> Iterator[Door]:
    """Every parameter of every public callable."""
    for name, function in callables():
        owner, _, method = name.rpartition(".")
        names = sorted(VALID[name]()) if name in LOOSE else list(_parameters(function))
        for parameter in names:
            yield Door(name, parameter, partial(_call, function, owner, method, name))
    for key in KEYS:  # of a campaign's spec: as good as parameters
        yield Door("Campaign.create(spec)", key, lambda: (_create, dict(SPEC)))


def _create(**spec: Any) -> Any:
    return sw.Campaign.create(spec, "memory:", "one")


def _call(
    function: Any, owner: str, method: str, name: str
) -> tuple[Callable[..., Any], dict[str, Any]]:
    if not owner or inspect.ismethod(function):  # a classmethod is bound to its class
        return function, VALID.get(name, dict)()
    bound = getattr(INSTANCES.get(name, INSTANCES[owner])(), method)
    return bound, VALID.get(name, dict)()


def callables() -> Iterator[tuple[str, Any]]:
    """Public functions, classes and methods that have parameters, by name."""
    found = {name: getattr(sw, name) for name in registry.public()}
    found |= {"best_of": evals.best_of}
    yield "BestEstimator", BestEstimator
    for name, kind in found.items():
        if name not in RETURNED and kind not in declared and not inspect.isclass(kind):
            yield name, kind
        elif inspect.isclass(kind) and not issubclass(kind, BaseException):
            yield from _of_class(name, kind)


def _of_class(name: str, kind: type) -> Iterator[tuple[str, Any]]:
    if name not in RETURNED and _parameters(kind):
        yield name, kind
    for each in dir(kind):
        method = getattr(kind, each)
        ours = (getattr(method, "__module__", None) or "").startswith("stopwise")
        inside = issubclass(kind, ROLES) and f"{name}.{each}" not in VALID
        known = each.startswith("_") or f"{name}.{each}" in INTERNAL or inside
        if ours and not known and inspect.isroutine(method) and _parameters(method):
            yield f"{name}.{each}", method


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    if inspect.isclass(function) and "__new__" in vars(function):
        found = dict(list(inspect.signature(function.__new__).parameters.items())[1:])
    else:
        found = dict(inspect.signature(function).parameters)
    found.pop("self", None)
    return found


# Calls that need more than arguments: a service, a whole status, a league that was run.
NOT_VALID = {
    *("Client.create", "Client.open", "League.page"),
    *("Decision.from_dict", "Decision.from_json", "Explanation.from_dict"),
    *("Recommendation.from_dict", "Status.from_dict", "Verification.from_dict"),
    *(f"RemoteCampaign.{name}" for name in dir(sw.RemoteCampaign)),
}
DOORS = list(doors())
