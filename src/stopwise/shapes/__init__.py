"""Shapes that cells have, as arithmetic: the closest point in a cell, and how the cost bends.

Every ``project_*`` writes the cell's closest model into ``closest`` and returns its cost,
min over lambda in the cell of sum_k w_k d(mu_k, lambda_k). Every ``add_*_hessian`` adds a multiple
of the second derivative of that cost in the weights; the first derivative is d(mu_k, closest_k).
"""
