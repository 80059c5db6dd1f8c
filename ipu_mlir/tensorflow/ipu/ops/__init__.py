"""Operators of the guide (21.15): a file per module there."""
