"""stopwise: which experiment next, and when may I stop?

Fixed-confidence pure exploration with multiple correct answers (Degenne & Koolen, 2019).

Importing this loads nothing else: names are loaded when one of them is first used.
"""

import os
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# numba's colours replace sys.stdout for moments while it compiles, for all threads
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")

if TYPE_CHECKING:
    from stopwise.campaign import *  # noqa: F403
    from stopwise.public import *  # noqa: F403

_CAMPAIGN = {
    "BudgetSpent",
    "Campaign",
    "CampaignDecided",
    "CampaignExists",
    "Client",
    "Conflict",
    "Decision",
    "Event",
    "NewerSchema",
    "Receipt",
    "RemoteCampaign",
    "Session",
    "StorageAway",
    "StorageError",
    "Ticket",
    "UnknownCampaign",
    "UnknownToken",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    room = import_module("stopwise.campaign" if name in _CAMPAIGN else "stopwise.public")
    globals()[name] = getattr(room, name)
    return globals()[name]


def __dir__() -> list[str]:
    return ["__version__", *__all__]


__all__ = [  # noqa: F405  (loaded when used)
    "AllHalfSpaces",
    "AnswerValue",
    "AnyHalfSpace",
    "AnyLowArm",
    "AnySign",
    "BadArgument",
    "Ball",
    "Bernoulli",
    "BestArm",
    "Binomial",
    "Bound",
    "Bounded",
    "BudgetSpent",
    "CTracking",
    "Campaign",
    "CampaignDecided",
    "CampaignExists",
    "Cells",
    "Client",
    "Conflict",
    "Conservative",
    "Cost",
    "DTracking",
    "Decision",
    "Event",
    "Explored",
    "Exponential",
    "FixedWeights",
    "Forecast",
    "Gamma",
    "Gaussian",
    "Geometric",
    "InverseGaussian",
    "MinimumThreshold",
    "MissingVerb",
    "Mixture",
    "MixtureMartingale",
    "NegativeBinomial",
    "NewerSchema",
    "NotComplete",
    "NotDefined",
    "Oracle",
    "OracleWeights",
    "OutsideBall",
    "Poisson",
    "Polyhedron",
    "Product",
    "Receipt",
    "RemoteCampaign",
    "Results",
    "Run",
    "RunFailed",
    "RunTrace",
    "Session",
    "Sphere",
    "Status",
    "StickyTrackAndStop",
    "StopwiseError",
    "StorageAway",
    "StorageError",
    "Study",
    "StudyResults",
    "Stylized",
    "Summary",
    "Thresholding",
    "Ticket",
    "TrackAndStop",
    "Uniform",
    "UnknownCampaign",
    "UnknownToken",
    "Witness",
    "answers",
    "correct_answers",
    "cost",
    "events",
    "evidence",
    "oracle",
    "plan",
    "rank",
    "reachable_answers",
    "run",
    "simulate",
    "track_and_stop_bound",
    "witness",
]
