"""Strategies of the literature, each in a file with the stopping rule that was published with it."""
