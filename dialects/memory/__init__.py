"""What a superstep program needs of the memory of every tile: buffers while they live, code, state, gaps."""
