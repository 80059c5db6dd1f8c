"""ipu-to-host: supersteps become the same program for one memory, without tiles."""
