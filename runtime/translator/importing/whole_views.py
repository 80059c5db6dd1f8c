"""Whole buffers as loop nests see them: their access, and copies from one to another."""

from ipu_mlir.runtime.translator.importing.read_memref import BufferView
from ipu_mlir.runtime.translator.statements.access import Access
from ipu_mlir.runtime.translator.statements.expression import Read
from ipu_mlir.runtime.translator.statements.statements import Elementwise, Origin


def whole(view: BufferView) -> Access:
    """The access of a loop nest that has one loop per dimension of ``view``."""
    return Access(view.buffer, view.offset, view.strides)


def copy_of(source: BufferView, dest: BufferView, origin: Origin) -> Elementwise:
    """The copy of all that ``source`` shows to ``dest``."""
    return Elementwise(source.shape, origin, (whole(dest),), (Read(source.buffer.dtype, whole(source)),))
