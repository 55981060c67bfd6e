"""Lower bounds and oracle weights that certify themselves."""
