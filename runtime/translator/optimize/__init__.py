"""Calls of NumPy and of kernels are chosen for statements."""
