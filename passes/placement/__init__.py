"""ipu-place: every tensor gets its mapping, every op its parts."""
