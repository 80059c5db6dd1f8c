"""The memories of the tiles: per tile a dictionary from allocation to the elements that lie there."""

from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.attributes.attributes import mapping_from_attr
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.runtime.per_tile.memory.holdings import Elements, held_elements
from ipu_mlir.runtime.per_tile.scalar.element_types import dtype_of, poison_of
from ipu_mlir.runtime.per_tile.scalar.errors import LocalityError, UnwrittenError

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Buffer:
    """An allocation as the program has it, whenever it is made.

    Attributes:
        value: the SSA value of the allocation, for messages.
        shape: of the memref that shows all of it, as are strides and offset.
        element_bytes: bytes that an element takes on the machine.
        holdings: per tile that holds any, its elements, by rising tile.
    """

    value: ir.Value
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    dtype: np.dtype[Any]
    element_bytes: int
    mapping: Mapping
    holdings: dict[int, Elements]


def buffer_of(value: ir.Value) -> Buffer:
    """The buffer of ``value``, a memref with identity layout and a mapping.

    Raises:
        CompileError: the memref has no mapping, one for another number of elements, or a dynamic shape.
    """
    memref = ir.MemRefType(value.type)
    if not memref.has_static_shape:
        raise CompileError(f"{value.get_name()} has the dynamic shape {memref}; compile it for a static one")
    if memref.memory_space is None or not str(memref.memory_space).startswith("#ipu.mapping<"):
        raise CompileError(f"{value.get_name()} of type {memref} lies on no tile; give it an #ipu.mapping")
    mapping = mapping_from_attr(memref.memory_space)
    if mapping.elements != prod(memref.shape):
        raise CompileError(
            f"{value.get_name()} has {prod(memref.shape)} elements, but its mapping is for {mapping.elements}"
        )
    (strides, offset), element_type = memref.get_strides_and_offset(), memref.element_type
    return Buffer(
        value,
        tuple(memref.shape),
        tuple(strides),
        offset,
        dtype_of(element_type),
        element_bytes(element_type),
        mapping,
        dict(sorted(held_elements(mapping).items())),
    )


@dataclass(eq=False)
class Allocation:
    """A buffer while it lives: two of them are never equal.

    Attributes:
        writable: False for arguments and constants.
    """

    buffer: Buffer
    writable: bool

    @property
    def elements(self) -> int:
        """The number of elements in all; a tile holds the part that its mapping puts there."""
        return self.buffer.mapping.elements

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.buffer.dtype

    @property
    def name(self) -> str:
        return self.buffer.value.get_name()


@dataclass(frozen=True)
class View:
    """Elements of an allocation as an array: index (i, j, ...) is element ``offset + i * strides[0] + ...``."""

    allocation: Allocation
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    def elements(self) -> Elements:
        """The allocation's element at every index, in the view's shape."""
        found = np.full((), self.offset, np.int64)
        for size, stride in zip(self.shape, self.strides, strict=True):
            found = np.add.outer(found, stride * np.arange(size))
        return found

    @property
    def geometry(self) -> tuple[Any, ...]:
        """All that decides where its elements lie: equal for views of different allocations of one kind."""
        return (self.allocation.buffer.mapping, self.shape, self.strides, self.offset)


class Held:
    """The part of one allocation that one tile holds: sorted elements, their values, and which were ever written."""

    __slots__ = ("_is_complete", "allocation", "elements", "tile", "valid", "values")

    def __init__(self, tile: int, allocation: Allocation, elements: Elements) -> None:
        dtype = allocation.buffer.dtype
        self.tile = tile
        self.allocation = allocation
        self.elements = elements
        self.values: Array = np.full(elements.shape, poison_of(dtype), dtype)
        self.valid = np.zeros(elements.shape, np.bool_)
        self._is_complete = False

    @property
    def is_complete(self) -> bool:
        """True if every element was written."""
        if not self._is_complete:
            self._is_complete = bool(self.valid.all())
        return self._is_complete

    def positions(self, elements: Elements, doing: str, location: ir.Location) -> Elements:
        """The places of ``elements`` of the allocation in ``values``, in the same shape.

        Raises:
            LocalityError: one is not on this tile; ``doing`` ("reads", "writes") says what was tried.
        """
        if not elements.size:
            return elements
        count = len(self.elements)
        if count and self.elements[-1] - self.elements[0] + 1 == count:
            found = elements - self.elements[0]
            here = (found >= 0) & (found < count)
        else:
            found = np.minimum(np.searchsorted(self.elements, elements), count - 1)
            here = self.elements[found] == elements if count else np.zeros(elements.shape, bool)
        if not here.all():
            missing = int(elements[~here].flat[0])
            owners = [tile for tile, held in self.allocation.buffer.holdings.items() if missing in held]
            raise LocalityError(
                f"{place_of(location)}: tile {self.tile} {doing} element {missing} of {self.allocation.name}, which "
                f"lies on {'tile ' + str(owners[0]) if owners else 'no tile'}; a vertex reaches its own tile only, so "
                "move the element with an ipu.exchange"
            )
        return found

    def read(self, positions: Elements, strict: bool, location: ir.Location) -> Array:
        """The values at ``positions``.

        Raises:
            UnwrittenError: ``strict``, and one of them was never written.
        """
        if strict and not self.is_complete and not (written := self.valid[positions]).all():
            element = int(self.elements[positions[~written].flat[0]])
            raise UnwrittenError(
                f"{place_of(location)}: tile {self.tile} reads element {element} of {self.allocation.name}, "
                "which nothing has written there; an ipu.exchange or a vertex before it is missing"
            )
        found: Array = self.values[positions]
        return found

    def write(self, positions: Elements, values: Array) -> None:
        self.values[positions] = values
        if not self._is_complete:
            self.valid[positions] = True

    def overwrite(self, positions: Elements, values: Array, valid: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        """Take over values from elsewhere, with what was never written among them."""
        self.values[positions], self.valid[positions] = values, valid
        self._is_complete = self._is_complete and bool(valid.all())


@dataclass
class TileMemories:
    """The memory of every tile of a machine with ``num_tiles`` tiles.

    Attributes:
        tiles: per tile, what it holds of each allocation that lives.
        held_bytes: bytes that live on each tile, shape (num_tiles,).
    """

    num_tiles: int
    tiles: dict[int, dict[Allocation, Held]] = field(default_factory=dict)
    held_bytes: np.ndarray[Any, np.dtype[np.int64]] = field(init=False)

    def __post_init__(self) -> None:
        self.held_bytes = np.zeros(self.num_tiles, np.int64)

    def allocate(self, buffer: Buffer, writable: bool = True) -> View:
        """The view of all of a new allocation, whose memory is full of poison.

        Raises:
            RunError: its mapping names a tile that the machine does not have.
        """
        allocation, last = Allocation(buffer, writable), max(buffer.holdings, default=0)
        if last >= self.num_tiles:
            raise RunError(f"{allocation.name} needs tile {last}, but the target has tiles 0 to {self.num_tiles - 1}")
        for tile, elements in buffer.holdings.items():
            self.tiles.setdefault(tile, {})[allocation] = Held(tile, allocation, elements)
            self.held_bytes[tile] += elements.size * buffer.element_bytes
        return View(allocation, buffer.shape, buffer.strides, buffer.offset)

    def release(self, allocation: Allocation) -> None:
        """Take its memory back."""
        for tile, elements in allocation.buffer.holdings.items():
            del self.tiles[tile][allocation]
            self.held_bytes[tile] -= elements.size * allocation.buffer.element_bytes

    def on(self, tile: int, allocation: Allocation) -> Held:
        """The elements of ``allocation`` that ``tile`` holds, perhaps none."""
        held = self.tiles.get(tile, {}).get(allocation)
        return Held(tile, allocation, np.empty(0, np.int64)) if held is None else held

    def holders(self, allocation: Allocation) -> list[Held]:
        """The elements of ``allocation`` that each tile holds, by rising tile."""
        return [self.tiles[tile][allocation] for tile in allocation.buffer.holdings]
