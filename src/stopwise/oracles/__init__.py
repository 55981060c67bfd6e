"""What is generic about oracles: the saddle-point solver, witnesses, bounds, defaults."""
