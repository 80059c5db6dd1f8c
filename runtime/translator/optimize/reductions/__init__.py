"""Rewrites of reductions."""
