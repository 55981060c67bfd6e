"""Which arm next: strategies and trackers."""

from stopwise.sampling.sticky import StickyTrackAndStop
from stopwise.sampling.strategies import FixedWeights, OracleWeights, TrackAndStop, Uniform
from stopwise.sampling.tracking import CTracking, DTracking, Explored

__all__ = [
    "CTracking",
    "DTracking",
    "Explored",
    "FixedWeights",
    "OracleWeights",
    "StickyTrackAndStop",
    "TrackAndStop",
    "Uniform",
]
