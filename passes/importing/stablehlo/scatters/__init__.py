"""Scatters of StableHLO as loops, and gradients of poolings."""
