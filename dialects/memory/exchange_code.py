"""Bytes of the code of exchanges on every tile, and of the messages that they gather on it.

The code is assumed to grow with the contiguous pieces that a tile moves. Where that takes more than a quarter of the
data, the tile gathers its pieces into one message before it sends, and spreads what it receives: code stays for ever, a
message takes memory while the exchange runs. The cycles of that are not counted.

The constants are those of ``assumptions``.
"""

import numpy as np

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.buffers import element_bytes, memory_mapping, strides_and_offset
from ipu_mlir.dialects.costs.sizes import Size
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.traffic import exchange_traffic
from ipu_mlir.dialects.mapping.views import View
from ipu_mlir.dialects.memory.assumptions import (
    EXCHANGE_INSTRUCTIONS,
    INSTRUCTION_BYTES,
    REARRANGE_INSTRUCTIONS,
    RECEIVE_INSTRUCTIONS,
    SEND_INSTRUCTIONS,
)
from ipu_mlir.dialects.memory.per_tile import PerTile

GATHERED_BYTES = INSTRUCTION_BYTES * (EXCHANGE_INSTRUCTIONS + REARRANGE_INSTRUCTIONS)
"""Code of an exchange of messages that are gathered."""

_WORTH = 4  # bytes of memory for a while that are as good as one for ever; a choice, nothing is published


class ExchangeCode:
    """The code of exchanges on a machine of ``num_tiles`` tiles; exchanges between equal types share one answer."""

    def __init__(self, num_tiles: int) -> None:
        self._num_tiles = num_tiles
        self._known: dict[tuple[ir.Type, ir.Type], tuple[PerTile, PerTile]] = {}

    def of(self, exchange: ir.Operation) -> PerTile:
        """Bytes per tile of the code of one exchange, or copy."""
        return self._of(exchange)[0]

    def messages(self, exchange: ir.Operation) -> PerTile:
        """Bytes per tile of what one exchange gathers before it sends, and what it spreads after it received."""
        return self._of(exchange)[1]

    def _of(self, exchange: ir.Operation) -> tuple[PerTile, PerTile]:
        source, dest = (operand.type for operand in exchange.operands)
        if (source, dest) not in self._known:
            (give, shown), (take, filled) = seen(source), seen(dest)
            traffic = exchange_traffic(give, shown, take, filled, self._num_tiles)
            piece = piece_elements((give, shown), (take, filled))
            moved = (traffic.sent + traffic.received) * element_bytes(source.element_type)
            code, messages = code_and_messages(code_bytes(traffic.sent, traffic.received, piece), moved)
            self._known[source, dest] = PerTile.of(code), PerTile.of(messages)
        return self._known[source, dest]


def code_bytes(sent: Size, received: Size, piece: int) -> IntArray:
    """Bytes of code of tiles that send and receive so many elements in contiguous pieces of ``piece`` elements.

    >>> code_bytes(np.array([0, 8]), np.array([0, 0]), piece=4).tolist()
    [0, 32]
    """
    sends, receives = -(-sent // piece), -(-received // piece)
    instructions = SEND_INSTRUCTIONS * sends + RECEIVE_INSTRUCTIONS * receives
    return INSTRUCTION_BYTES * np.where(instructions > 0, EXCHANGE_INSTRUCTIONS + instructions, 0)


def code_and_messages(piece_by_piece: Size, moved: Size) -> tuple[IntArray, IntArray]:
    """Code, and messages, of tiles that move ``moved`` bytes by code of ``piece_by_piece`` bytes, or gather them.

    >>> [x.tolist() for x in code_and_messages(np.array([48, 4000]), np.array([400, 1000]))]
    [[48, 120], [0, 1000]]
    >>> [int(x) for x in code_and_messages(300, 400)]
    [120, 400]
    """
    gathers = np.asarray(piece_by_piece > GATHERED_BYTES + moved // _WORTH)
    return np.where(gathers, GATHERED_BYTES, piece_by_piece), np.where(gathers, moved, 0)


def piece_elements(source: tuple[Mapping, View], dest: tuple[Mapping, View]) -> int:
    """How many elements travel from tile to tile in one piece: they follow one another in the memory of both tiles.

    On a tile, the elements of a part lie densely, in their order. Two parts meet in a box, and a piece goes on from one
    dimension to the next as long as the box has all that both of them have of it.

    >>> from ipu_mlir.dialects.mapping.build import blocks
    >>> whole = View.whole((8, 6))
    >>> columns, squares = blocks((8, 6), (8, 2)), blocks((8, 6), (4, 2))
    >>> piece_elements((columns, whole), (squares, whole))
    8
    >>> piece_elements((columns, whole), (blocks((8, 6), (4, 3)), whole))
    2
    """
    from_blocks, to_blocks = part_blocks(*source), part_blocks(*dest)
    if from_blocks is None or to_blocks is None:
        return min(contiguous(*source), contiguous(*dest))
    piece = 1
    for sent, received, shown in zip(
        reversed(from_blocks), reversed(to_blocks), reversed(source[1].shape), strict=True
    ):
        piece *= min(sent, received, shown)
        if sent != received or shown < sent:
            break
    return piece


def part_blocks(mapping: Mapping, view: View) -> list[int] | None:
    """How much the parts of ``mapping`` hold of each dimension of ``view``; None where they are no blocks of it.

    >>> from ipu_mlir.dialects.mapping.loops import MappingLoop
    >>> part_blocks(Mapping(24, (MappingLoop(12, 24, 1, 1),)), View.whole((4, 6)))
    [2, 6]
    """
    shape = _allocation_shape(mapping.elements, view)
    if shape is None:
        return None
    blocks = [1] * len(shape)
    for loop in mapping.normalized().loops:
        stride, extent, block = loop.stride, loop.extent, min(loop.block, loop.extent)
        while extent > 1:
            found = [d for d, size in enumerate(shape) if view.strides[d] == stride and size > 1]
            if not found or (extent > shape[found[0]] and extent % shape[found[0]]):
                return None
            size = min(extent, shape[found[0]])
            if block > size and block % size:
                return None
            blocks[found[0]] = min(block, size)
            stride, extent, block = stride * size, extent // size, max(1, block // size)
    return blocks


def _allocation_shape(elements: int, view: View) -> list[int] | None:
    """The shape of the allocation that ``view`` is a slice of, without steps; None for another kind of view.

    >>> _allocation_shape(24, View(offset=7, shape=(2, 3), strides=(6, 1)))
    [4, 6]
    """
    sizes, outer = [], elements
    for stride in view.strides:
        if stride <= 0 or outer % stride:
            return None
        sizes.append(outer // stride)
        outer = stride
    return sizes if outer == 1 and all(a <= b for a, b in zip(view.shape, sizes, strict=True)) else None


def contiguous(mapping: Mapping, view: View) -> int:
    """How many elements of ``view`` follow one another both in it and in the memory of a tile, at least.

    >>> from ipu_mlir.dialects.mapping.loops import MappingLoop
    >>> columns = Mapping(12, (MappingLoop(3, 3, 4, 0), MappingLoop(2, 4, 1, 1)))
    >>> contiguous(columns, View.whole((3, 4))), contiguous(columns, View.whole((3, 4)).permuted((1, 0)))
    (2, 1)
    """
    held = max((loop.block for loop in mapping.normalized().loops if loop.stride == 1), default=1)
    run = 1
    for extent, stride in zip(reversed(view.shape), reversed(view.strides), strict=True):
        if extent != 1 and stride != run:
            break
        run *= extent
    return max(1, min(held, run))


def seen(memref: ir.Type) -> tuple[Mapping, View]:
    """The mapping of a buffer on tiles, and which elements of the allocation a value of type ``memref`` shows."""
    mapping = memory_mapping(memref)
    assert mapping is not None, "an exchange is between buffers on tiles, says its verifier"
    strides, offset = strides_and_offset(memref)
    return mapping, View(offset, tuple(ir.MemRefType(memref).shape), strides)
