"""Scalar operations on one tile."""
