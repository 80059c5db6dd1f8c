"""Rewrites of array programs."""
