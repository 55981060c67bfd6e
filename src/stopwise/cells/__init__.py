"""Geometry: sets of models (bounds, gaps, half-spaces, balls, regions), and the closest point in each.

A function takes the family, the data and the set, writes the closest model and returns what it costs.
"""
