"""Bytes of the code of exchanges on every tile, and of the messages that they gather on it.

The code is assumed to grow with the contiguous pieces that a tile moves. Where that takes more than a quarter of the
data, the tile gathers its pieces into one message before it sends, and spreads what it receives: code stays for ever, a
message takes memory while the exchange runs. The cycles of that are not counted.

The constants are those of ``assumptions``.
"""

import numpy as np

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.costs.exchange import side_of
from ipu_mlir.dialects.machine.size_arithmetic import Size
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.traffic import exchange_traffic
from ipu_mlir.dialects.mapping.views import View
from ipu_mlir.dialects.memory.assumptions import (
    CODE_WORTH,
    EXCHANGE_INSTRUCTIONS,
    INSTRUCTION_BYTES,
    REARRANGE_INSTRUCTIONS,
    RECEIVE_INSTRUCTIONS,
    SEND_INSTRUCTIONS,
)
from ipu_mlir.dialects.memory.per_tile import PerTile
from ipu_mlir.dialects.support.bindings import ir


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
            (give, shown), (take, filled) = side_of(source), side_of(dest)
            traffic = exchange_traffic(give, shown, take, filled, self._num_tiles)
            pieces = piece_elements((give, shown), (take, filled))
            size = element_bytes(source.element_type)
            code, messages = code_and_messages(traffic.sent, traffic.received, pieces, size)
            self._known[source, dest] = PerTile.of(code), PerTile.of(messages)
        return self._known[source, dest]


def code_and_messages(
    sent: Size, received: Size, pieces: tuple[int, int], element_size: int
) -> tuple[IntArray, IntArray]:
    """Bytes of code, and of messages, of tiles that send and receive so many elements.

    Args:
        pieces: elements that follow one another, on a tile that sends and on one that receives (``piece_elements``).

    >>> code, messages = code_and_messages(np.array([0, 8, 900]), np.array([0, 0, 4]), pieces=(4, 4), element_size=4)
    >>> code.tolist(), messages.tolist()
    ([0, 32, 932], [0, 0, 0])
    >>> [x.tolist() for x in code_and_messages(900, 4, pieces=(1, 4), element_size=4)]
    [132, 3600]
    """
    sending, gathered = _code_of_side(sent, pieces[0], SEND_INSTRUCTIONS, element_size)
    receiving, spread = _code_of_side(received, pieces[1], RECEIVE_INSTRUCTIONS, element_size)
    takes_part = np.where(np.asarray(sent) + received > 0, INSTRUCTION_BYTES * EXCHANGE_INSTRUCTIONS, 0)
    return takes_part + sending + receiving, gathered + spread


def _code_of_side(elements: Size, piece: int, instructions: int, element_size: int) -> tuple[IntArray, IntArray]:
    """Code that sends, or receives, ``elements`` in pieces, and the message where that is smaller than the code."""
    direct = INSTRUCTION_BYTES * instructions * -(-elements // piece)
    message = INSTRUCTION_BYTES * (REARRANGE_INSTRUCTIONS + instructions)
    gathers = np.asarray(direct > message + elements * element_size // CODE_WORTH)
    return np.where(gathers, message, direct), np.where(gathers, elements * element_size, 0)


def piece_elements(source: tuple[Mapping, View], dest: tuple[Mapping, View]) -> tuple[int, int]:
    """The number of elements that travel together and are neighbours in the memory of the sender, and of the receiver.

    On a tile, the elements of a part lie densely, in their order. Two parts meet in a box, and on either side a piece
    goes on from one dimension to the next as long as the box has all that the part has of it.

    >>> from ipu_mlir.dialects.mapping.build import blocks
    >>> whole = View.whole((8, 6))
    >>> columns, squares = blocks((8, 6), (8, 2)), blocks((8, 6), (4, 2))
    >>> piece_elements((columns, whole), (squares, whole))
    (8, 8)
    >>> piece_elements((columns, whole), (blocks((8, 6), (4, 3)), whole))
    (8, 2)
    """
    from_blocks, to_blocks = part_blocks(*source), part_blocks(*dest)
    if from_blocks is None or to_blocks is None:
        piece = min(contiguous(*source), contiguous(*dest))
        return piece, piece
    box = [max(1, min(sizes)) for sizes in zip(from_blocks, to_blocks, source[1].shape, strict=True)]
    return _run(box, from_blocks), _run(box, to_blocks)


def _run(box: list[int], block: list[int]) -> int:
    """Elements of ``box`` that follow one another in a dense ``block``."""
    run = 1
    for meets, holds in zip(reversed(box), reversed(block), strict=True):
        run *= meets
        if meets != holds:
            break
    return run


def part_blocks(mapping: Mapping, view: View) -> list[int] | None:
    """The extent of the parts of ``mapping`` in each dimension of ``view``; None where they are no blocks of it.

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
    """The number of elements of ``view`` that follow one another both in it and in the memory of a tile, at least.

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
