"""NumPy's functions on traced tensors, a file per kind."""
