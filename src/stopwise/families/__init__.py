"""Families of reward distributions, one file each."""
