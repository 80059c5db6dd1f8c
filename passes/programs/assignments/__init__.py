"""Passes about the memory of variables that functions assign."""
