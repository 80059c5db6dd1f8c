"""Products of large matrices in place of BLAS: their functions, and the calls of them."""
