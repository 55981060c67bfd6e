"""Compiling with numba: kernels, their cache, and how compiled code finds methods."""
