"""Random numbers from explicit keys, and generators that keep one: ``ipu.random``.

key = ipu.random.key(7)
noise = ipu.random.normal(ipu.random.fold_in(key, step), (4, 3))
"""

from ipu_mlir.programs.random_numbers import (
    Generator,
    bernoulli,
    bits,
    categorical,
    dropout,
    fold_in,
    integers,
    key,
    normal,
    permutation,
    split,
    truncated_normal,
    uniform,
)

__all__ = [
    "Generator",
    "bernoulli",
    "bits",
    "categorical",
    "dropout",
    "fold_in",
    "integers",
    "key",
    "normal",
    "permutation",
    "split",
    "truncated_normal",
    "uniform",
]
