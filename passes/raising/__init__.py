"""Passes that find one operation in loops or bodies."""
