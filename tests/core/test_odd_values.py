"""Odd values at every public door: an argument is taken, or refused by its name.

tests/support/odd.py has the values, the doors (every parameter of every public callable, found from the
public names) and a valid call of each, in which one argument at a time is replaced.
"""

from __future__ import annotations

import os
import pickle
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import Any

import pytest

import odd
import stopwise as sw
from odd import DOORS, VALUES, Door
from stopwise.campaign.errors import StorageError
from stopwise.core.errors import BadArgument, StopwiseError, shown

SAMPLED = 8  # values for each door, without the slow tests
PATIENCE = 10.0  # seconds: all calls take milliseconds
LONGEST = 3000  # characters of a message

# a service that is not there is waited for as long as it says
FOREVER = {"None", "10**30", "2**31", "2**63", "2**63 - 1", "np.int64 max", "np.uint64 max"}
ENDLESS = {("RemoteCampaign.wait", "timeout"): FOREVER}
# commands and errors call it so, too
ALIASES = (
    {("Study.load", "path"): "file"}
    | {
        (f"{kind}.import_results", name): word
        for kind in ("Campaign", "RemoteCampaign")
        for name, word in (
            ("path", "file"),
            ("id", "column"),
            ("time", "column"),
            ("arm", "column"),
        )
    }
    | {("Campaign.import_results", "value"): "column"}
)


class TooSlow(BaseException):
    """A call that does not end."""


@contextmanager
def time_guard() -> Iterator[None]:
    """End a call that takes too long."""

    def end(*given: Any) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module", autouse=True)
def _in_a_folder_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where files are written, and the files that valid calls read."""
    before, folder = os.getcwd(), tmp_path_factory.mktemp("odd")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        patch.setenv("MPLBACKEND", "Agg")
        os.chdir(folder)
        odd.files()
        yield
        os.chdir(before)


def complaint(door: Door, name: str) -> str:
    """What is wrong about how a door takes a value; nothing if it takes or refuses it well."""
    value = VALUES[name]()
    try:
        with time_guard():
            door.knock(value)
    except BadArgument as error:
        return _of_refusal(door, error)
    except StorageError as error:
        # what the database says of an argument that should not have come so far
        bare = type(error) is StorageError and door.parameter != "storage"
        return f"{name}: {error}" if bare else ""
    except StopwiseError:
        return ""
    except TooSlow:
        return f"{name}: takes more than {PATIENCE:g} seconds"
    except Exception as error:
        return f"{name}: {type(error).__name__}: {error}"
    return ""


def _of_refusal(door: Door, error: BadArgument) -> str:
    message, root = str(error), str(error.name).partition("[")[0].partition(".")[0]
    known = {door.parameter, ALIASES.get((door.name, door.parameter), door.parameter)}
    if len(message) > LONGEST:
        return f"a message of {len(message)} characters: {message[:200]}"
    # a value may be fine by itself, and make another argument wrong
    if not any(each in message for each in known) and root not in door.parameters():
        return f"does not name the argument: {message}"
    return ""


def complaints(door: Door, names: list[str]) -> list[str]:
    """About these values."""
    skipped = ENDLESS.get((door.name, door.parameter), set())
    return [found for name in names if name not in skipped and (found := complaint(door, name))]


def _title(door: Door) -> str:
    return f"{door.name} {door.parameter}"


@pytest.mark.parametrize("door", DOORS, ids=_title)
def test_odd_values_are_refused_by_name(door: Door) -> None:
    some = random.Random(_title(door)).sample(sorted(VALUES), SAMPLED)
    assert complaints(door, some) == []


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS, ids=_title)
def test_all_odd_values_are_refused_by_name(door: Door) -> None:
    assert complaints(door, list(VALUES)) == []


@pytest.mark.parametrize("name", sorted({door.name for door in DOORS}))
def test_every_public_callable_has_a_valid_call(name: str) -> None:
    door = next(door for door in DOORS if door.name == name)
    function, valid = door.call()
    if name not in odd.NOT_VALID:
        odd.use(function(**valid))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (10**4999, "a whole number of about 5,000 digits"),
        (-(10**4999), "a whole number of about 5,000 digits"),
        (odd.nested(100_000), "an object of type list"),
        (odd.fails("__repr__"), "an object of type Fails"),
        ("x" * 300, "(302 characters)"),
        ("a\n\x1b\ud800", r"'a\n\x1b\ud800'"),
    ],
    ids=range(6),
)
def test_a_message_shows_anything_briefly(given: Any, said: str) -> None:
    error = BadArgument("means", given, "numbers")
    assert str(error).startswith("means: got ")
    assert said in str(error)
    assert len(str(error)) < 400


def test_short_values_are_shown_as_they_are() -> None:
    assert shown([0.5, None]) == "[0.5, None]"
    assert shown("x" * 298) == repr("x" * 298)


def test_a_refusal_of_what_cannot_be_pickled_can_be_pickled() -> None:
    error = BadArgument("progress", (k for k in range(3)), "a function")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.name) == (str(error), "progress")


def test_a_tolerance_may_be_a_decimal() -> None:
    bound = sw.track_and_stop_bound(
        sw.BestArm(2), [0.0, 1.0], family=sw.Gaussian(), tolerance=Decimal("1e-6")
    )
    assert bound.time == pytest.approx(8.0)


def test_deviations_in_a_tuple_are_no_laws() -> None:
    given = {"family": sw.Gaussian(None), "strategies": [sw.Uniform()], "repetitions": 2}
    plans = [
        sw.plan(sw.BestArm(2), [0.0, 9.0], deviations=each, **given)
        for each in ((1.0, 2.0), [1.0, 2.0])
    ]
    assert plans[0].to_dict() == plans[1].to_dict()


def test_a_plan_of_one_run_can_be_shown() -> None:
    planned = sw.plan(
        sw.BestArm(2), [0.0, 9.0], family=sw.Gaussian(), strategies=[sw.Uniform()], repetitions=1
    )
    assert "Uniform" in repr(planned) or "uniform" in repr(planned)


def test_a_seed_that_is_no_number_does_not_end_the_process() -> None:
    with pytest.raises(BadArgument, match="seed: got "):
        sw.Session(odd.design(), seed=odd.nested(100_000))


def test_lists_of_lists_deep_in_a_spelling() -> None:
    spec = {**odd.SPEC, "question": "best-arm:epsilon=" + "[" * 100_000}
    with pytest.raises(BadArgument, match=r"question\.epsilon: got "):
        sw.Campaign.create(spec, "memory:", "deep")


def test_a_number_that_is_nearly_infinite_is_refused_where_it_would_overflow() -> None:
    for name in ("costs", "deviations"):
        with pytest.raises(BadArgument, match=f"{name}: got 1e"):
            sw.run(sw.BestArm(2), [0.0, 9.0], family=sw.Gaussian(), **{name: 1e300})


QUESTIONS = ("best-arm", {"kind": "thresholding", "threshold": 0.5}, {"kind": "top-arms", "m": 1})
FAMILIES = (
    "exponential",
    {"kind": "gaussian", "variance": 1.0},
    {"kind": "gaussian", "variance": "unknown"},
    {"kind": "inverse-gaussian", "shape": 1.0},
    {"kind": "bounded", "low": 0, "high": 1},
)


@pytest.mark.parametrize("family", FAMILIES, ids=str)
@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_samples_near_zero_have_a_status(question: Any, family: Any) -> None:
    for first, second in ((5e-324, 5e-324), (5e-324, 1e-310), (1e-100, 5e-324), (5e-324, 1.0)):
        campaign = sw.Campaign.create(
            {**odd.SPEC, "question": question, "family": family}, "memory:", "near zero"
        )
        for value in (first, second, first, second, first, second):
            for arm in (0, 1):
                campaign.record(arm, value if arm else first)
        assert "evidence" in "\n".join(campaign.status().lines())
        assert campaign.explain().text
        with suppress(sw.CampaignDecided):  # where the spread is tiny, too
            assert campaign.ask()[0].arm in (0, 1)


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_nothing_is_pursued_before_the_first_ask(question: Any) -> None:
    campaign = sw.Campaign.create({**odd.SPEC, "question": question}, "memory:", "recorded")
    for arm in (0, 1, 1, 0):
        campaign.record(arm, float(arm))
    assert campaign.status().pursued is None
    assert campaign.explain().pursued is None
    campaign.ask()
    assert campaign.status().pursued is not None


@pytest.mark.parametrize(
    ("problem", "family", "means"),
    [
        (sw.BestArm(2), sw.Gaussian(), [5e-324, 1e-100]),
        (sw.BestArm(2), sw.Gaussian(1e250), [0.0, 9.0]),
        (sw.BestArm(2), sw.Bernoulli(), [5e-324, 1e-100]),
        (sw.TopArms(2, 1), sw.Gaussian(), [5e-324, 1e-160]),
        (sw.AnyLowArm(2, 0.5), sw.Exponential(), [5e-324, 5e-324]),
        (sw.Sphere(2), sw.Gaussian(), [1e-310, -1e100]),
    ],
    ids=str,
)
def test_numbers_at_the_ends_of_their_range_bring_no_warnings(
    problem: Any, family: Any, means: list[float]
) -> None:
    found = sw.oracle(problem, means, family=family)
    assert found.value >= 0.0
    assert sw.lower_bound(problem, means, family=family) >= 0.0
    assert all(
        value >= 0.0 for value in sw.evidence(problem, means, family=family, counts=[1, 1]).values()
    )
