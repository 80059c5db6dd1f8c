"""What decides the code of a vertex."""

from ipu_mlir.dialects.costs.work import Rank
from ipu_mlir.dialects.memory.vertices import code_identity


def test_ranks_by_other_keys_have_other_code():
    one, same = (Rank("f32", 1, (rows,), (1,), (2,)) for rows in (0, 3))
    two, half = Rank("f32", 2, (0,), (1,), (2,)), Rank("f16", 1, (0,), (1,), (2,))
    assert code_identity(one) == code_identity(same)
    assert len({code_identity(one), code_identity(two), code_identity(half)}) == 3
