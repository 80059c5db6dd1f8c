"""The memories of the tiles: per tile a dictionary from allocation to the elements that lie there."""

from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.dialects.attributes import mapping_from_attr
from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.errors import CompileError, RunError
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.runtime.per_tile.element_types import dtype_of, poison_of
from ipu_mlir.runtime.per_tile.errors import LocalityError, UnwrittenError, place_of
from ipu_mlir.runtime.per_tile.holdings import Elements, held_elements

Array = np.ndarray[Any, Any]


@dataclass(eq=False)
class Allocation:
    """One buffer while it lives: two of them are never equal.

    Attributes:
        elements: how many it has in all; a tile holds the part that ``mapping`` puts there.
        writable: False for arguments and constants.
        value: the SSA value that made it, for messages.
    """

    elements: int
    dtype: np.dtype[Any]
    mapping: Mapping
    writable: bool
    value: ir.Value

    @property
    def name(self) -> str:
        return self.value.get_name()


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


def whole_buffer(value: ir.Value, writable: bool) -> View:
    """The view of all of a new allocation for ``value``, a memref with identity layout and a mapping.

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
    shape, (strides, offset) = tuple(memref.shape), memref.get_strides_and_offset()
    allocation = Allocation(prod(shape), dtype_of(memref.element_type), mapping, writable, value)
    return View(allocation, shape, tuple(strides), offset)


@dataclass(frozen=True)
class Held:
    """What one tile holds of one allocation: sorted elements, their values, and whether each was ever written."""

    tile: int
    allocation: Allocation
    elements: Elements
    values: Array
    valid: np.ndarray[Any, np.dtype[np.bool_]]

    def positions(self, elements: Elements, doing: str, location: ir.Location) -> Elements:
        """Where ``elements`` of the allocation lie in ``values``, in the same shape.

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
            owners = sorted(tile for tile, held in held_elements(self.allocation.mapping).items() if missing in held)
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
        if strict and not (written := self.valid[positions]).all():
            element = int(self.elements[positions[~written].flat[0]])
            raise UnwrittenError(
                f"{place_of(location)}: tile {self.tile} reads element {element} of {self.allocation.name}, "
                "which nothing has written there; an ipu.exchange or a vertex before it is missing"
            )
        found: Array = self.values[positions]
        return found

    def write(self, positions: Elements, values: Array) -> None:
        self.values[positions] = values
        self.valid[positions] = True


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

    def allocate(self, allocation: Allocation) -> None:
        """Give ``allocation`` its memory, full of poison.

        Raises:
            RunError: its mapping names a tile that the machine does not have.
        """
        holdings = held_elements(allocation.mapping)
        if holdings and max(holdings) >= self.num_tiles:
            raise RunError(
                f"{allocation.name} needs tile {max(holdings)}, but the target has tiles 0 to {self.num_tiles - 1}"
            )
        for tile, elements in holdings.items():
            values = np.full(elements.shape, poison_of(allocation.dtype), allocation.dtype)
            held = Held(tile, allocation, elements, values, np.zeros(elements.shape, np.bool_))
            self.tiles.setdefault(tile, {})[allocation] = held
            self.held_bytes[tile] += values.nbytes

    def release(self, allocation: Allocation) -> None:
        """Take its memory back."""
        for tile in held_elements(allocation.mapping):
            self.held_bytes[tile] -= self.tiles[tile].pop(allocation).values.nbytes

    def on(self, tile: int, allocation: Allocation) -> Held:
        """What ``tile`` holds of ``allocation``, perhaps nothing."""
        held = self.tiles.get(tile, {}).get(allocation)
        if held is None:
            nothing = np.empty(0, np.int64)
            return Held(tile, allocation, nothing, np.empty(0, allocation.dtype), np.empty(0, np.bool_))
        return held

    def holders(self, allocation: Allocation) -> list[Held]:
        """What each tile holds of ``allocation``, by rising tile."""
        return [self.tiles[tile][allocation] for tile in sorted(held_elements(allocation.mapping))]
