"""Rewrites of ``ipu-normalize-indices``: ops whose operands are indexed by more than loops and their sums."""
