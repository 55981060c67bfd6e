"""Every public name but campaigns'; ``stopwise`` hands them out when they are first asked for."""

from stopwise.errors import (
    BadArgument as BadArgument,
    MissingVerb as MissingVerb,
    NotDefined as NotDefined,
    StopwiseError as StopwiseError,
)
from stopwise.families import (
    Bernoulli as Bernoulli,
    Binomial as Binomial,
    Bounded as Bounded,
    Exponential as Exponential,
    Gamma as Gamma,
    Gaussian as Gaussian,
    Geometric as Geometric,
    InverseGaussian as InverseGaussian,
    NegativeBinomial as NegativeBinomial,
    Poisson as Poisson,
)
from stopwise.problems import (
    AllHalfSpaces as AllHalfSpaces,
    AnyHalfSpace as AnyHalfSpace,
    AnyLowArm as AnyLowArm,
    AnySign as AnySign,
    Ball as Ball,
    BestArm as BestArm,
    Cells as Cells,
    MinimumThreshold as MinimumThreshold,
    OutsideBall as OutsideBall,
    Polyhedron as Polyhedron,
    Product as Product,
    Sphere as Sphere,
    Thresholding as Thresholding,
)
from stopwise.quantities import (
    AnswerValue as AnswerValue,
    Bound as Bound,
    Cost as Cost,
    Oracle as Oracle,
    Witness as Witness,
    answers as answers,
    correct_answers as correct_answers,
    cost as cost,
    events as events,
    evidence as evidence,
    oracle as oracle,
    rank as rank,
    reachable_answers as reachable_answers,
    track_and_stop_bound as track_and_stop_bound,
    witness as witness,
)
from stopwise.results import (
    Results as Results,
    Summary as Summary,
)
from stopwise.sampling import (
    CTracking as CTracking,
    DTracking as DTracking,
    Explored as Explored,
    FixedWeights as FixedWeights,
    OracleWeights as OracleWeights,
    StickyTrackAndStop as StickyTrackAndStop,
    TrackAndStop as TrackAndStop,
    Uniform as Uniform,
)
from stopwise.simulation import (
    Run as Run,
    RunFailed as RunFailed,
    RunTrace as RunTrace,
    run as run,
    simulate as simulate,
)
from stopwise.stopping import (
    Conservative as Conservative,
    Mixture as Mixture,
    MixtureMartingale as MixtureMartingale,
    Stylized as Stylized,
)
from stopwise.studies import (
    Forecast as Forecast,
    NotComplete as NotComplete,
    Status as Status,
    Study as Study,
    StudyResults as StudyResults,
    plan as plan,
)
