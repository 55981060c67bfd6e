"""Simulations, studies from one file, the paper's experiments, and planning."""
