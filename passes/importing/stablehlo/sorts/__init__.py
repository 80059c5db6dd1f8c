"""Sorts of StableHLO, and what is chosen by order."""
