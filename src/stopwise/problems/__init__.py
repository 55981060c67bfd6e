"""Identification problems: each in a file or folder that holds all of it."""
