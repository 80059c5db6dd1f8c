"""What exchanges need of tiles: code, messages that they gather, and the cycles that gathering takes.

The code grows with the contiguous pieces that a tile moves. Where that takes more than a quarter of the data, pieces
are sent as one message, and spread from it: code stays for ever, a message takes memory while the exchange runs. That
vertices write such messages, and read them, is assumed to take no time: published products show none. Where the
exchange says so (``GATHERS``), more pieces are gathered and spread, by copies on the tile.

The constants are those of ``assumptions``.
"""

from dataclasses import dataclass

import numpy as np

from ipu_mlir.dialects.analysis.buffers import element_bytes, root_of
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.costs.amp import uses_amp
from ipu_mlir.dialects.costs.classify import work_of
from ipu_mlir.dialects.costs.exchange import side_of
from ipu_mlir.dialects.costs.moves import pieces_copy_cycles
from ipu_mlir.dialects.costs.work import Contraction
from ipu_mlir.dialects.machine.machine import Machine, machine_of
from ipu_mlir.dialects.machine.size_arithmetic import Size
from ipu_mlir.dialects.machine.target import Target
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

GATHERS = "ipu.gathers"
"""Of an exchange that copies its pieces to messages wherever these take less code."""


@dataclass(frozen=True)
class Steering:
    """What an exchange takes of tiles besides the data, arrays of one number per tile.

    Attributes:
        code: bytes of its code.
        messages: bytes of what is gathered before it is sent, and of what is spread after it was received.
        cycles: that both take.
    """

    code: IntArray
    messages: IntArray
    cycles: IntArray

    def __add__(self, other: "Steering") -> "Steering":
        return Steering(self.code + other.code, self.messages + other.messages, self.cycles + other.cycles)


class ExchangeCode:
    """The code of the exchanges of one program on ``target``; those of equal types in equal orders share one answer."""

    def __init__(self, target: Target) -> None:
        self._num_tiles = target.num_tiles
        self._machine = machine_of(target)
        self._known: dict[tuple[ir.Type, ir.Type, Order | None, bool], Steering] = {}
        self._orders: dict[ir.Operation, Order | None] = {}

    def of(self, exchange: ir.Operation) -> PerTile:
        """Bytes per tile of the code of one exchange, or copy."""
        return PerTile.of(self.steering(exchange).code)

    def messages(self, exchange: ir.Operation) -> PerTile:
        """Bytes per tile of what one exchange gathers before it sends, and what it spreads after it received."""
        return PerTile.of(self.steering(exchange).messages)

    def steering(self, exchange: ir.Operation, gathers: bool | None = None) -> Steering:
        """Of one exchange, or copy; as if it said ``gathers``, or did not, if that is given."""
        source, dest = (operand.type for operand in exchange.operands)
        gathers = GATHERS in exchange.attributes if gathers is None else gathers
        if exchange not in self._orders:
            self._orders[exchange] = order_of(exchange, self._machine)
        key = source, dest, self._orders[exchange], gathers
        if key not in self._known:
            (give, shown), (take, filled) = side_of(source), side_of(dest)
            traffic = exchange_traffic(give, shown, take, filled, self._num_tiles)
            pieces = piece_elements((give, shown), (take, filled), key[2])
            size = element_bytes(source.element_type)
            self._known[key] = steering(traffic.sent, traffic.received, pieces, size, self._machine, gathers)
        return self._known[key]


def steering(
    sent: Size, received: Size, pieces: tuple[int, int], element_size: int, machine: Machine, gathers: bool = False
) -> Steering:
    """Of tiles that send and receive so many elements.

    Args:
        pieces: elements that follow one another, on a tile that sends and on one that receives (``piece_elements``).
        gathers: pieces are copied to messages wherever these take less code.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> found = steering(np.array([0, 8, 900]), np.array([0, 0, 4]), pieces=(4, 4), element_size=4, machine=IPU2)
    >>> found.code.tolist(), found.messages.tolist()
    ([0, 32, 932], [0, 0, 0])
    >>> for pieces, gathers in (((1, 4), False), ((4, 4), True)):
    ...     found = steering(900, 4, pieces, element_size=4, machine=IPU2, gathers=gathers)
    ...     [int(each) for each in (found.code, found.messages, found.cycles)]
    [132, 3600, 0]
    [132, 3600, 1066]
    """
    takes_part = np.where(np.asarray(sent) + received > 0, INSTRUCTION_BYTES * EXCHANGE_INSTRUCTIONS, 0)
    sending = _steering_of_side(sent, pieces[0], SEND_INSTRUCTIONS, element_size, machine, gathers)
    receiving = _steering_of_side(received, pieces[1], RECEIVE_INSTRUCTIONS, element_size, machine, gathers)
    return Steering(takes_part, 0 * takes_part, 0 * takes_part) + sending + receiving


def _steering_of_side(
    elements: Size, piece: int, instructions: int, element_size: int, machine: Machine, gathers: bool
) -> Steering:
    """Of sending, or receiving, ``elements`` in pieces, or as a message where that takes less."""
    num_pieces = -(-np.asarray(elements) // piece)
    direct = INSTRUCTION_BYTES * instructions * num_pieces
    message = INSTRUCTION_BYTES * (REARRANGE_INSTRUCTIONS + instructions)
    size = np.asarray(elements) * element_size
    by_vertices = direct > message + size // CODE_WORTH
    by_copies = ~by_vertices & (direct > message) & gathers
    cycles = pieces_copy_cycles(num_pieces, piece * element_size, machine)
    return Steering(
        code=np.where(by_vertices | by_copies, message, direct),
        messages=np.where(by_vertices | by_copies, size, 0),
        cycles=np.where(by_copies, cycles, 0),
    )


def most_code(sent: int, received: int, pieces: tuple[int, int], element_size: int) -> int:
    """Bytes of code that tiles which send and receive no more elements than these never exceed.

    The code for pieces is the largest for all of them. A message stands for it where it takes less: one instruction
    for so many bytes of data (``CODE_WORTH``) at the most.

    >>> most_code(900, 4, pieces=(1, 4), element_size=4)
    1032
    """
    found = INSTRUCTION_BYTES * EXCHANGE_INSTRUCTIONS
    for elements, piece, instructions in zip(
        (sent, received), pieces, (SEND_INSTRUCTIONS, RECEIVE_INSTRUCTIONS), strict=True
    ):
        message = INSTRUCTION_BYTES * (REARRANGE_INSTRUCTIONS + instructions)
        direct = INSTRUCTION_BYTES * instructions * -(-elements // piece)
        found += min(direct, message + elements * element_size // CODE_WORTH)
    return found


def piece_elements(
    source: tuple[Mapping, View], dest: tuple[Mapping, View], order: "Order | None" = None
) -> tuple[int, int]:
    """The number of elements that travel together and are neighbours in the memory of the sender, and of the receiver.

    On a tile, the elements of a part lie densely, in their order. Two parts meet in a box, and on either side a piece
    goes on from one dimension to the next as long as the box has all that the part has of it. With ``order``, the
    elements may lie in groups instead, if pieces are longer then.

    >>> from ipu_mlir.dialects.mapping.build import blocks
    >>> whole = View.whole((8, 6))
    >>> columns, squares = blocks((8, 6), (8, 2)), blocks((8, 6), (4, 2))
    >>> piece_elements((columns, whole), (squares, whole))
    (8, 8)
    >>> piece_elements((columns, whole), (blocks((8, 6), (4, 3)), whole))
    (8, 2)
    >>> piece_elements((columns, whole), (blocks((8, 6), (4, 6)), whole), Order(channels=2, source_too=False))
    (8, 8)
    """
    from_blocks, to_blocks = part_blocks(*source), part_blocks(*dest)
    if from_blocks is None or to_blocks is None:
        piece = min(contiguous(*source), contiguous(*dest))
        return piece, piece
    box = [max(1, min(sizes)) for sizes in zip(from_blocks, to_blocks, source[1].shape, strict=True)]
    pieces = _run(box, from_blocks), _run(box, to_blocks)
    if order is None or not box:
        return pieces
    box, to_blocks = _grouped(box, order.channels), _grouped(to_blocks, order.channels)
    from_blocks = _grouped(from_blocks, order.channels) if order.source_too else from_blocks
    grouped = _run(box, from_blocks), _run(box, to_blocks)
    return min(pieces, grouped, key=lambda sides: SEND_INSTRUCTIONS / sides[0] + RECEIVE_INSTRUCTIONS / sides[1])


@dataclass(frozen=True)
class Order:
    """How elements lie on a tile that AMP reads: so many channels of the last dimension, then those of the next row.

    A buffer that nothing else reads lies so from the start, and so does what the host fills (``source_too``).
    Source: PopLibs (``inChansPerGroup``, and the tensors of ``createMatMulInputRHS``); channels of other dimensions
    are not grouped here.
    """

    channels: int
    source_too: bool


def order_of(exchange: ir.Operation, machine: Machine) -> Order | None:
    """The order of what ``exchange`` fills, if AMP alone reads it."""
    source, dest = exchange.operands
    if defining_op(dest, "memref.alloc") is None:
        return None
    readers = {_dtype_of_factors(use.owner.operation) for use in dest.uses if use.owner.operation != exchange}
    if len(readers) != 1 or not (dtype := readers.pop()):
        return None
    root = root_of(source)
    is_filled_by_host = isinstance(root.owner, ir.Block) or defining_op(root, "memref.get_global") is not None
    return Order(machine.amp_input_channels(dtype), is_filled_by_host)


def _dtype_of_factors(reader: ir.Operation) -> str:
    """The type of the factors of a sum of products that AMP computes; nothing for another op."""
    if reader.name == "linalg.generic" and "reduction" not in str(reader.attributes["iterator_types"]):
        return ""
    work = work_of(reader)
    return work.dtype if isinstance(work, Contraction) and uses_amp(work.dtype) else ""


def _grouped(blocks: list[int], channels: int) -> list[int]:
    """``blocks`` as far as they are in one group of the last dimension."""
    return [*blocks[:-1], min(blocks[-1], channels)]


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
    >>> part_blocks(Mapping(24, (MappingLoop(12, 24, 1, 1), MappingLoop(1, 3, 0, 2))), View.whole((4, 6)))
    [2, 6]
    """
    shape = _allocation_shape(mapping.elements, view)
    if shape is None:
        return None
    blocks = [1] * len(shape)
    for loop in mapping.normalized().loops:
        if loop.stride == 0:
            continue  # the same parts on more tiles
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
