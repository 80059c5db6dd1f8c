"""Comparisons of all pairs become ranks."""
