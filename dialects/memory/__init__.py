"""Needs of a superstep program of the memory of every tile: buffers while they live, code, state, gaps."""
