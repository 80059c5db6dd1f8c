"""Code of numbers and vectors in kernels: its text, arithmetic, and functions by polynomials."""
