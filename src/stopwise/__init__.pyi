# Every public name and the module that it lives in, once. Type checkers read this file, and at run time
# stopwise.core.registry does: it is also what files, commands and forms know by name.

from stopwise.baselines.apgai import APGAI as APGAI, JourdanReda as JourdanReda
from stopwise.baselines.apt import APT as APT
from stopwise.baselines.good_arm import HDOC as HDOC, LUCBG as LUCBG, BeyondLimit as BeyondLimit
from stopwise.baselines.lil_ucb import LilUCB as LilUCB, MostSampled as MostSampled
from stopwise.baselines.lin_gape import ClearGaps as ClearGaps, LinGapE as LinGapE
from stopwise.baselines.lucb import KLLUCB as KLLUCB, UGAPE as UGAPE, BoundsApart as BoundsApart
from stopwise.baselines.racing import (
    ChernoffRacing as ChernoffRacing,
    KLRacing as KLRacing,
    LastLeft as LastLeft,
    SuccessiveElimination as SuccessiveElimination,
)
from stopwise.baselines.see import SEE as SEE, QualifiedArm as QualifiedArm
from stopwise.campaign.campaign import Campaign as Campaign
from stopwise.campaign.client import Client as Client, RemoteCampaign as RemoteCampaign
from stopwise.campaign.errors import (
    BudgetSpent as BudgetSpent,
    CampaignClosed as CampaignClosed,
    CampaignDecided as CampaignDecided,
    CampaignExists as CampaignExists,
    CampaignPaused as CampaignPaused,
    CampaignUnreadable as CampaignUnreadable,
    Conflict as Conflict,
    NewerSchema as NewerSchema,
    NothingToAsk as NothingToAsk,
    NotPossible as NotPossible,
    StorageAway as StorageAway,
    StorageDamaged as StorageDamaged,
    StorageError as StorageError,
    UnknownCampaign as UnknownCampaign,
    UnknownToken as UnknownToken,
)
from stopwise.campaign.events import (
    Decision as Decision,
    Event as Event,
    Receipt as Receipt,
    Ticket as Ticket,
)
from stopwise.campaign.explain import Explanation as Explanation
from stopwise.campaign.remaining import Remaining as Remaining
from stopwise.campaign.session import Session as Session
from stopwise.campaign.status import Recommendation as Recommendation, Status as Status
from stopwise.campaign.verify import Verification as Verification
from stopwise.cells.gap import Gap as Gap, pair_cost as pair_cost, separation as separation
from stopwise.cells.polyhedra import (
    Ball as Ball,
    OutsideBall as OutsideBall,
    Polyhedron as Polyhedron,
)
from stopwise.core.data import Data as Data
from stopwise.core.errors import (
    BadArgument as BadArgument,
    MissingMethod as MissingMethod,
    NotDefined as NotDefined,
    StopwiseError as StopwiseError,
)
from stopwise.core.functions import jitable as jitable
from stopwise.core.options import Option as Option
from stopwise.families.bounded import Bounded as Bounded, BoundedCoin as BoundedCoin
from stopwise.families.coins import (
    Bernoulli as Bernoulli,
    Binomial as Binomial,
    Geometric as Geometric,
    NegativeBinomial as NegativeBinomial,
)
from stopwise.families.family import Family as Family
from stopwise.families.gamma import Exponential as Exponential, Gamma as Gamma
from stopwise.families.gaussian import Gaussian as Gaussian
from stopwise.families.inverse_gaussian import InverseGaussian as InverseGaussian
from stopwise.families.poisson import Poisson as Poisson
from stopwise.oracles.quantities import (
    answers as answers,
    correct_answers as correct_answers,
    cost as cost,
    evidence as evidence,
    lower_bound as lower_bound,
    oracle as oracle,
    rank as rank,
    reachable_answers as reachable_answers,
    track_and_stop_bound as track_and_stop_bound,
    union_bound as union_bound,
    witness as witness,
)
from stopwise.oracles.values import (
    AnswerValue as AnswerValue,
    Bound as Bound,
    Cost as Cost,
    Oracle as Oracle,
    Witness as Witness,
)
from stopwise.paired.session import PairedSession as PairedSession, Verdict as Verdict
from stopwise.problems.any_low_arm import AnyLowArm as AnyLowArm
from stopwise.problems.any_sign import AnySign as AnySign
from stopwise.problems.best_arm import BestArm as BestArm
from stopwise.problems.cells import Cells as Cells
from stopwise.problems.control import AnyBetterThan as AnyBetterThan, BetterThan as BetterThan
from stopwise.problems.half_spaces import (
    AllHalfSpaces as AllHalfSpaces,
    AnyHalfSpace as AnyHalfSpace,
)
from stopwise.problems.linear import Linear as Linear
from stopwise.problems.minimum_threshold import MinimumThreshold as MinimumThreshold
from stopwise.problems.problem import Problem as Problem
from stopwise.problems.product import Product as Product
from stopwise.problems.sphere import Sphere as Sphere
from stopwise.problems.thresholding import Thresholding as Thresholding
from stopwise.problems.top_arms import TopArms as TopArms
from stopwise.reproduce.league.league import League as League
from stopwise.sampling.fixed import (
    FixedWeights as FixedWeights,
    OracleWeights as OracleWeights,
    Uniform as Uniform,
)
from stopwise.sampling.games import (
    AdaHedge as AdaHedge,
    FrankWolfe as FrankWolfe,
    LazyMirrorAscent as LazyMirrorAscent,
)
from stopwise.sampling.murphy import MurphySampling as MurphySampling
from stopwise.sampling.sticky import StickyTrackAndStop as StickyTrackAndStop
from stopwise.sampling.strategy import (
    CTracking as CTracking,
    Direct as Direct,
    DTracking as DTracking,
    Explored as Explored,
    Strategy as Strategy,
)
from stopwise.sampling.top_two import (
    EbTc as EbTc,
    EbTcEpsilon as EbTcEpsilon,
    EbTci as EbTci,
    T3c as T3c,
    TopTwo as TopTwo,
    Ttei as Ttei,
    Ttts as Ttts,
    Ttucb as Ttucb,
)
from stopwise.sampling.track_and_stop import TrackAndStop as TrackAndStop
from stopwise.stopping.likelihood import Threshold as Threshold
from stopwise.stopping.rule import StoppingRule as StoppingRule
from stopwise.stopping.thresholds import (
    Conservative as Conservative,
    Mixture as Mixture,
    MixtureMartingale as MixtureMartingale,
    Stylized as Stylized,
)
from stopwise.stopping.wealth import Wealth as Wealth
from stopwise.studies.detectable import Detectable as Detectable
from stopwise.studies.forecast import Forecast as Forecast
from stopwise.studies.paired import (
    PairedResults as PairedResults,
    simulate_paired as simulate_paired,
)
from stopwise.studies.planning import plan as plan
from stopwise.studies.results import Results as Results, Summary as Summary
from stopwise.studies.simulation import (
    Run as Run,
    RunFailed as RunFailed,
    RunTrace as RunTrace,
    run as run,
    simulate as simulate,
)
from stopwise.studies.study import NotComplete as NotComplete, Study as Study
from stopwise.studies.study_results import StudyResults as StudyResults, StudyStatus as StudyStatus
from stopwise.timing.commands import CommandFailed as CommandFailed
from stopwise.timing.functions import bench as bench
from stopwise.timing.report import BenchReport as BenchReport

__version__: str
