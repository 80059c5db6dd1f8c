"""Runs translated programs."""
