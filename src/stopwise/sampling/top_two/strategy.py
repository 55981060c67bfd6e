"""Top-Two: who leads, who challenges, and which of the two is sampled; and the members with a name.

The leader is an answer, its challenger the cheapest way to refute it: a cell of its alternative. The
arms between which the samples are shared are those that the closest model of that cell moves. For the
best arm these are the leader and one rival, as in the literature. docs/strategies.md says which parts
serve which questions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from stopwise.core.arrays import Rng
from stopwise.core.checks import finite, not_negative, positive
from stopwise.core.data import State
from stopwise.core.errors import BadArgument
from stopwise.core.options import NOT_NEGATIVE, POSITIVE, Option
from stopwise.core.values import Value
from stopwise.problems.rounds import fitted
from stopwise.problems.verbs import check, contest, with_slack
from stopwise.sampling.top_two.challengers import Resampling, TransportCost, challenge
from stopwise.sampling.top_two.duel import (
    Duel,
    ExpectedImprovement,
    needs_contest,
    new_duel,
    steady,
)
from stopwise.sampling.top_two.leaders import EmpiricalBest, ThompsonDraw, UpperBound, lead
from stopwise.sampling.top_two.shares import Fixed, Information, Tracked, split
from stopwise.sampling.verbs import Direct, Question, bind, notes, pick, pursues

LEADERS = {
    "eb": EmpiricalBest(),
    "ts": ThompsonDraw(),
    "ucb": UpperBound(),
    "ei": ExpectedImprovement(),
}
CHALLENGERS = {
    "tc": TransportCost(0.0),
    "tci": TransportCost(1.0),
    "rs": Resampling(),
    "ei": ExpectedImprovement(),
}
SHARES = {"ids": Information(), "tracked": Tracked(0.5)}
SHARE = Option(
    {"anyOf": [{"enum": list(SHARES)}, POSITIVE]},
    "The leader's: a probability; ids: by what each arm tells; tracked: half, without chance",
)


class _TopTwo(NamedTuple):
    leader: Any
    challenger: Any
    share: Any
    slack: float


class TopTwo(_TopTwo, Direct):
    """A leading answer and the cheapest way to refute it: sample the arms that decide between them.

    ``leader`` "ts", "eb", "ucb" or "ei"; ``challenger`` "tc", "tci", "rs" or "ei"; ``share`` "ids",
    "tracked" or the leader's probability; ``slack`` is added to the question's epsilon when costs are
    compared. Each may be a value with verbs of its own (stopwise.sampling.top_two).
    """

    __slots__ = ()
    title = "the leading answer against the one that is the easiest to mistake for it"
    reason = (
        "Top-Two compares the answer that leads with the one that is the easiest to mistake for it, and "
        "samples the arms that decide between them."
    )
    because = ("it led once every arm had a sample", "it took the lead from “{before}”")
    options = {
        "leader": Option({"enum": list(LEADERS)}, "ts: by a posterior draw; eb: by the means"),
        "challenger": Option({"enum": list(CHALLENGERS)}, "tc: the cheapest to mistake for it"),
        "share": SHARE,
        "slack": Option(NOT_NEGATIVE, "Added to epsilon when costs are compared; 0 if empty"),
    }

    def __new__(
        cls, leader: Any = "ts", challenger: Any = "tc", share: Any = "ids", slack: float = 0.0
    ) -> TopTwo:
        return cls._made(leader, challenger, share, slack)

    @classmethod
    def _made(cls, leader: Any, challenger: Any, share: Any, slack: float = 0.0) -> Any:
        return tuple.__new__(
            cls,
            (
                _part("leader", leader, LEADERS),
                _part("challenger", challenger, CHALLENGERS),
                _share(share),
                not_negative("slack", slack),
            ),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple.__new__, (type(self), tuple(self))


def _part(name: str, given: Any, known: dict[str, Any]) -> Any:
    """A part by its name, or a value of the user's own."""
    if isinstance(given, str) and given in known:
        return known[given]
    if isinstance(given, Value):
        return given
    listed = ", ".join(f'"{each}"' for each in known)
    raise BadArgument(name, given, f"{listed}, or a value with verbs of its own")


def _share(given: Any) -> Any:
    if isinstance(given, str | Value):
        return _part("share", given, SHARES)
    beta = finite("share", given)
    if not 0.0 < beta < 1.0:
        allowed = 'a probability strictly between 0 and 1, "ids" or "tracked"'
        raise BadArgument("share", given, allowed)
    return Fixed(beta)


class Ttts(TopTwo):
    """Top-Two Thompson sampling (Russo 2016): a posterior draw leads, the next draw challenges."""

    __slots__ = ()
    title = "Top-Two Thompson sampling: two posterior draws"
    options = {"share": SHARE}

    def __new__(cls, share: Any = 0.5) -> Any:
        return cls._made("ts", "rs", share)


class T3c(TopTwo):
    """T3C (Shang et al. 2020): a posterior draw leads, the cheapest to mistake for it challenges."""

    __slots__ = ()
    title = "T3C: a posterior draw against the cheapest challenger"
    options = {"share": SHARE}

    def __new__(cls, share: Any = 0.5) -> Any:
        return cls._made("ts", "tc", share)


class Ttei(TopTwo):
    """TTEI (Qin, Klabjan & Russo 2017): leader and challenger by expected improvement."""

    __slots__ = ()
    title = "TTEI: expected improvement"
    options = {"share": SHARE}

    def __new__(cls, share: Any = 0.5) -> Any:
        return cls._made("ei", "ei", share)


class EbTc(TopTwo):
    """EB-TC: the empirical best against the cheapest challenger. Nothing explores: it may never stop."""

    __slots__ = ()
    title = "EB-TC: the best so far against the cheapest challenger; may never stop"
    options = {"share": SHARE}

    def __new__(cls, share: Any = 0.5) -> Any:
        return cls._made("eb", "tc", share)


class EbTci(TopTwo):
    """EB-TCI (Jourdan et al. 2022): EB-TC with log N added to a challenger's cost."""

    __slots__ = ()
    title = "EB-TCI: the best so far against the cheapest challenger, with a penalty"
    options = {"share": SHARE}

    def __new__(cls, share: Any = 0.5) -> Any:
        return cls._made("eb", "tci", share)


class Ttucb(TopTwo):
    """TTUCB (Jourdan & Degenne 2023): the highest confidence bound against the cheapest challenger."""

    __slots__ = ()
    title = "TTUCB: the highest confidence bound against the cheapest challenger"
    options = {"share": SHARE}

    def __new__(cls, share: Any = "tracked") -> Any:
        return cls._made("ucb", "tc", share)


class EbTcEpsilon(TopTwo):
    """EB-TC with slack (Jourdan et al. 2023): ``slack`` is added to the gap when costs are compared."""

    __slots__ = ()
    title = "EB-TC with slack: it explores arms within the slack of the best"
    options = {
        "slack": Option(POSITIVE, "How much is added to every gap; 0.1 if empty"),
        "share": SHARE,
    }

    def __new__(cls, slack: float = 0.1, share: Any = "tracked") -> Any:
        return cls._made("eb", "tc", share, positive("slack", slack))


# ------------------------------------------------------------------------------------- in one round


class _Duellists(NamedTuple):
    leader: Any
    challenger: Any
    share: Any
    problem: Any  # whose costs are compared: the question, with the slack


class Duellists(_Duellists, Direct, listed=False):
    """The strategy once the question is known."""

    __slots__ = ()
    uses_randomness = True


@bind.register(TopTwo)
def _bind(strategy: TopTwo, question: Question) -> Duellists:
    problem = question.problem
    if contest(problem) == 0.0:
        for name in ("leader", "challenger", "share"):
            _refuse_contest(name, getattr(strategy, name), problem)
    if strategy.slack > 0.0:
        problem = with_slack(problem, strategy.slack)
        if problem is None:
            raise BadArgument(
                "slack",
                strategy.slack,
                f"0 for {question.problem!r}, which has no epsilon to add it to",
            )
        check(problem, question.family)
    return Duellists(strategy.leader, strategy.challenger, strategy.share, problem)


def _refuse_contest(name: str, part: Any, problem: Any) -> None:
    if needs_contest(part):
        raise BadArgument(
            name,
            part,
            f'for {problem!r} one that does not compare arm with arm: leader "eb" or "ts", challenger '
            '"tc" or "tci", share "ids" or 0.5',
            "The others are for questions such as BestArm, whose answers are the arms.",
        )


@notes.register(Duellists)
def _notes(strategy: Duellists, problem: Any) -> Duel:
    return new_duel(problem.arms)


@pursues.register(Duellists)
def _pursues(strategy: Duellists) -> bool:
    return bool(steady(strategy.leader))


@pick.register(Duellists)
def _pick(
    strategy: Duellists, problem: Any, family: Any, state: State, rounds: int, rng: Rng
) -> int:
    asked = strategy.problem
    fitted(asked, family, state.data, state.pursuit.notes.means)
    lead(strategy.leader, asked, family, state, rounds, rng)
    challenge(strategy.challenger, asked, family, state, rng)
    return split(strategy.share, asked, family, state, rng)
