"""Machines: tiles, memory, clock, links."""
