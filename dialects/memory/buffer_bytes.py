"""Bytes of buffers on every tile, once per kind of buffer."""

from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.attributes.attributes import mapping_from_attr
from ipu_mlir.dialects.memory.assumptions import ALLOCATION_BYTES
from ipu_mlir.dialects.memory.per_tile import PerTile
from ipu_mlir.dialects.support.bindings import ir


@dataclass(frozen=True, eq=False)
class BufferBytes:
    """Bytes of one buffer.

    Attributes:
        data: of its elements, per tile.
        gaps: lost behind them, because the next buffer begins at a multiple of ``ALLOCATION_BYTES``.
    """

    data: PerTile
    gaps: PerTile


class BufferSizes:
    """The sizes of buffers on a machine of ``num_tiles`` tiles; buffers of equal mapping and type share one answer.

    >>> from ipu_mlir.dialects import ipu
    >>> with ipu.context():
    ...     buffer = ir.Type.parse("memref<5xf32, #ipu.mapping<5, [[2, 5, 1, 1]], 0, 0>>")
    ...     sizes = BufferSizes(4).of(buffer)
    >>> sizes.data.runs(), sizes.gaps.runs()
    ([(8, 2), (4, 1), (0, 1)], [(0, 2), (4, 1), (0, 1)])
    """

    def __init__(self, num_tiles: int) -> None:
        self._num_tiles = num_tiles
        self._known: dict[Any, BufferBytes] = {}

    def of(self, memref: ir.Type) -> BufferBytes:
        """The bytes of the whole allocation that a value of type ``memref``, or a view of it, shows."""
        memref = ir.MemRefType(memref)
        key = (memref.memory_space, memref.element_type)
        if key not in self._known:
            self._known[key] = self._measured(*key)
        return self._known[key]

    def _measured(self, memory_space: ir.Attribute, element_type: ir.Type) -> BufferBytes:
        tiles, elements = mapping_from_attr(memory_space).elements_per_tile()
        data = PerTile.at(tiles, elements * element_bytes(element_type), self._num_tiles)
        return BufferBytes(data, PerTile(data.starts, -data.values % ALLOCATION_BYTES, self._num_tiles))
