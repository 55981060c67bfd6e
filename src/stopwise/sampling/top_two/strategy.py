"""Top-Two: who leads, who challenges, and which of the two is sampled; and the members with a name.

The leader is an answer, its challenger the cheapest way to refute it: a cell of its alternative. The
arms between which the samples are shared are those that the closest model of that cell moves. For the
best arm these are the leader and one rival, as in the literature. docs/strategies.md says which parts
serve which questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from stopwise.core.arrays import Rng
from stopwise.core.checks import finite, not_negative, positive
from stopwise.core.data import State
from stopwise.core.errors import BadArgument
from stopwise.core.options import NOT_NEGATIVE, POSITIVE, Option
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Problem
from stopwise.sampling.strategy import Direct
from stopwise.sampling.top_two.parts import (
    Challenger,
    Duel,
    EmpiricalBest,
    ExpectedImprovement,
    Fixed,
    Information,
    Leader,
    Resampling,
    Share,
    ThompsonDraw,
    TopTwoPart,
    Tracked,
    TransportCost,
    UpperBound,
    new_duel,
)

if TYPE_CHECKING:
    from typing import Self

Kind = TypeVar("Kind", bound=TopTwoPart)

LEADERS: dict[str, Leader] = {
    "eb": EmpiricalBest(),
    "ts": ThompsonDraw(),
    "ucb": UpperBound(),
    "ei": ExpectedImprovement(),
}
CHALLENGERS: dict[str, Challenger] = {
    "tc": TransportCost(0.0),
    "tci": TransportCost(1.0),
    "rs": Resampling(),
    "ei": ExpectedImprovement(),
}
SHARES: dict[str, Share] = {"ids": Information(), "tracked": Tracked(0.5)}
SHARE = Option(
    {"anyOf": [{"enum": list(SHARES)}, POSITIVE]},
    "The leader's: a probability; ids: by what each arm tells; tracked: half, without chance",
)


class TopTwo(Direct):
    """A leading answer and the cheapest way to refute it: sample the arms that decide between them.

    ``leader`` "ts", "eb", "ucb" or "ei"; ``challenger`` "tc", "tci", "rs" or "ei"; ``share`` "ids",
    "tracked" or the leader's probability; ``slack`` is added to the question's epsilon when costs are
    compared. Each may be a value with methods of its own (stopwise.sampling.top_two).
    """

    leader: Leader
    challenger: Challenger
    share: Share
    slack: float
    title = "the leading answer against the one that is the easiest to mistake for it"
    reason = (
        "Top-Two compares the answer that leads with the one that is the easiest to mistake for it, and "
        "samples the arms that decide between them."
    )
    uses_randomness = True
    because = ("it led once every arm had a sample", "it took the lead from “{before}”")
    options = {
        "leader": Option({"enum": list(LEADERS)}, "ts: by a posterior draw; eb: by the means"),
        "challenger": Option({"enum": list(CHALLENGERS)}, "tc: the cheapest to mistake for it"),
        "share": SHARE,
        "slack": Option(NOT_NEGATIVE, "Added to epsilon when costs are compared; 0 if empty"),
    }

    def __new__(
        cls,
        leader: Leader | str = "ts",
        challenger: Challenger | str = "tc",
        share: Share | str | float = "ids",
        slack: float = 0.0,
    ) -> Self:
        chosen = _part("leader", leader, LEADERS), _part("challenger", challenger, CHALLENGERS)
        return cls._make((*chosen, _share(share), not_negative("slack", slack)))

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple.__new__, (type(self), tuple(self))

    def init(self, question: Question) -> Duel:
        problem = question.problem
        if problem.best_arm_sign() == 0.0:
            _refuse_contests(self, problem)
        if self.slack == 0.0:
            return new_duel(problem)
        slackened = problem.with_slack(self.slack)
        if slackened is None:
            allowed = f"0 for {problem!r}, which has no epsilon to add it to"
            raise BadArgument("slack", self.slack, allowed)
        slackened.check(question.family)
        return new_duel(slackened)

    def pursues(self) -> bool:
        return self.leader.steady()

    def next_arm(self, instance: Instance, state: State, rounds: int, rng: Rng) -> int:
        duel: Duel = state.strategy_state
        _, family, data, cache = instance
        asked = Instance(duel.problem, family, data, cache)
        duel.problem.fitted(family, data, duel.means)
        self.leader.lead(asked, state, rounds, rng)
        self.challenger.challenge(asked, state, rng)
        return self.share.split(asked, state, rng)


def _part(name: str, given: object, known: Mapping[str, Kind]) -> Kind:
    """A part by its name, or a value of the user's own."""
    if isinstance(given, str) and given in known:
        return known[given]
    if isinstance(given, TopTwoPart):
        return cast("Kind", given)
    listed = ", ".join(f'"{each}"' for each in known)
    raise BadArgument(name, given, f"{listed}, or a value with methods of its own")


def _share(given: Share | str | float) -> Share:
    if isinstance(given, str | Share):
        return _part("share", given, SHARES)
    beta = finite("share", given)
    if not 0.0 < beta < 1.0:
        allowed = 'a probability strictly between 0 and 1, "ids" or "tracked"'
        raise BadArgument("share", given, allowed)
    return Fixed(beta)


class Preset(TopTwo, listed=False):
    """A Top-Two strategy with a name: leader and challenger are given, the share is not."""

    parts: ClassVar[tuple[str, str]]
    options = {"share": SHARE}

    def __new__(cls, share: Share | str | float = 0.5) -> Self:
        return TopTwo.__new__(cls, *cls.parts, share)


class Ttts(Preset):
    """Top-Two Thompson sampling (Russo 2016): a posterior draw leads, the next draw challenges."""

    title = "Top-Two Thompson sampling: two posterior draws"
    parts = ("ts", "rs")


class T3c(Preset):
    """T3C (Shang et al. 2020): a posterior draw leads, the cheapest to mistake for it challenges."""

    title = "T3C: a posterior draw against the cheapest challenger"
    parts = ("ts", "tc")


class Ttei(Preset):
    """TTEI (Qin, Klabjan & Russo 2017): leader and challenger by expected improvement."""

    title = "TTEI: expected improvement"
    parts = ("ei", "ei")


class EbTc(Preset):
    """EB-TC: the empirical best against the cheapest challenger. Nothing explores: it may never stop."""

    title = "EB-TC: the best so far against the cheapest challenger; may never stop"
    parts = ("eb", "tc")


class EbTci(Preset):
    """EB-TCI (Jourdan et al. 2022): EB-TC with log N added to a challenger's cost."""

    title = "EB-TCI: the best so far against the cheapest challenger, with a penalty"
    parts = ("eb", "tci")


class Ttucb(Preset):
    """TTUCB (Jourdan & Degenne 2023): the highest confidence bound against the cheapest challenger."""

    title = "TTUCB: the highest confidence bound against the cheapest challenger"
    parts = ("ucb", "tc")

    def __new__(cls, share: Share | str | float = "tracked") -> Self:
        return TopTwo.__new__(cls, *cls.parts, share)


class EbTcEpsilon(TopTwo):
    """EB-TC with slack (Jourdan et al. 2023): ``slack`` is added to the gap when costs are compared."""

    title = "EB-TC with slack: it explores arms within the slack of the best"
    options = {
        "slack": Option(POSITIVE, "How much is added to every gap; 0.1 if empty"),
        "share": SHARE,
    }

    def __new__(cls, slack: float = 0.1, share: Share | str | float = "tracked") -> Self:
        return TopTwo.__new__(cls, "eb", "tc", share, positive("slack", slack))


def _refuse_contests(strategy: TopTwo, problem: Problem) -> None:
    """Refuse parts that compare arm with arm."""
    allowed = (
        f'for {problem!r} one that does not compare arm with arm: leader "eb" or "ts", challenger "tc" or '
        '"tci", share "ids" or 0.5'
    )
    hint = "The others are for questions such as BestArm, whose answers are the arms."
    for name in ("leader", "challenger", "share"):
        part: TopTwoPart = getattr(strategy, name)
        if part.needs_contest():
            raise BadArgument(name, part, allowed, hint)
