"""Reading through a transpose."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ipu_mlir.passes.normalize.fold_transposes import untransposed_index


@given(st.integers(0, 4).flatmap(lambda rank: st.permutations(range(rank))), st.randoms(use_true_random=False))
def test_element_of_the_transpose_is_that_element_of_its_source(permutation, random):
    shape = tuple(range(2, 2 + len(permutation)))
    source = np.arange(int(np.prod(shape))).reshape(shape)
    transposed = source.transpose(permutation)
    at = [random.randrange(size) for size in transposed.shape]
    assert transposed[tuple(at)] == source[tuple(untransposed_index(at, permutation))]
