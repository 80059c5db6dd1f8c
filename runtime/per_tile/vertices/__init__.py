"""Vertices: the code of one part."""
