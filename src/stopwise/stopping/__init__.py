"""When to stop: thresholds for the evidence."""

from stopwise.stopping.thresholds import Conservative, Mixture, MixtureMartingale, Stylized

__all__ = ["Conservative", "Mixture", "MixtureMartingale", "Stylized"]
