"""Passes that run before tensors are placed."""
