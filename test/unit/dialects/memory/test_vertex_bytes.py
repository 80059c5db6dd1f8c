"""What decides the code of a vertex."""

from ipu_mlir.dialects.codelets.codelet import CodeletCall
from ipu_mlir.dialects.codelets.rank import RANK
from ipu_mlir.dialects.memory.vertex_bytes import code_identity


def rank(*keys: str, rows: int = 4) -> CodeletCall:
    """Ranks of 8 elements of each of ``rows`` rows by keys of the given types."""
    loops = (*[(0, 2)] * len(keys), (1,), (0, 1))
    shapes = (*[(rows, 8)] * len(keys), (8,), (rows, 8))
    return CodeletCall(RANK, (*keys, "index", "index"), shapes, loops, kept=(0, 1), reduced=(2,))


def test_ranks_by_other_keys_have_other_code():
    assert code_identity(rank("f32")) == code_identity(rank("f32", rows=7))
    assert len({code_identity(rank("f32")), code_identity(rank("f32", "f32")), code_identity(rank("f16"))}) == 3
