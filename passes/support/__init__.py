"""Helpers that passes of several phases share."""
