"""Iterations of loops at once, as replicas are."""
