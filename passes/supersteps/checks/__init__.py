"""Passes that check supersteps."""
