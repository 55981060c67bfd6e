"""Top-Two strategies: a leader, a challenger, and a share of the samples for each."""

from stopwise.sampling.top_two.strategy import (
    EbTc as EbTc,
    EbTcEpsilon as EbTcEpsilon,
    EbTci as EbTci,
    T3c as T3c,
    TopTwo as TopTwo,
    Ttei as Ttei,
    Ttts as Ttts,
    Ttucb as Ttucb,
)
