"""The settings of NumPy in every thread that runs programs."""

import numpy as np

UFUNC_BUFFER = 1024
"""Elements. To apply a ufunc to a matrix and a row or column that is spread over it, NumPy's iterator (2.3 and later)
takes as many rows at once as fit into its buffer and copies the spread operand for them; it copies nothing where no two
rows fit. With 1024 instead of the usual 8192, ``add(matrix, column, matrix)`` on 256 rows of 1024 f32 takes 24 us, not
46; shorter rows take the same time, maxima along rows up to a fifth more. NumPy 2.4, AVX-512."""


def prepare_numpy() -> None:
    """Set this thread (or context) up for generated source."""
    np.seterr(all="ignore")  # overflow and NaN are values like others to a compiled program
    np.setbufsize(UFUNC_BUFFER)
