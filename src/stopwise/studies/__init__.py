"""Studies: many simulations from one file, the paper's experiments, and planning."""
