"""One round, one run, many runs."""
