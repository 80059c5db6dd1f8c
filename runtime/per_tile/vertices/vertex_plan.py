"""Where the operands of one vertex lie in the memory of its tile: all that does not depend on values."""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.per_tile.memory.holdings import Box
from ipu_mlir.runtime.per_tile.memory.tile_memories import TileMemories, View
from ipu_mlir.runtime.per_tile.scalar.errors import RaceError
from ipu_mlir.runtime.per_tile.vertices.family import Bound, Family, Operand
from ipu_mlir.runtime.per_tile.vertices.loop_space import LoopSpace, pieces

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Limits:
    """Sizes that bound the work memory of the executor, and where it changes its way of counting; results never change.

    Attributes:
        piece_elements: a vertex runs in pieces of at most this many elements.
        fold_elements: with at most this many parallel iterations, a fold over the reduction beats a call per step.
    """

    piece_elements: int = 1 << 22
    fold_elements: int = 1 << 10


@dataclass(frozen=True)
class Piece:
    """A part of the iterations that runs in one go: over its reduction loops the outputs do not move.

    Attributes:
        loops: the indices of each loop, arrays that broadcast to the space's shape.
        reads: per operand, positions in what the tile holds of it, broadcasting to the space's shape; None for a scalar
            and for an operand that the body does not use.
        writes: per output, positions over the parallel axes.
        fold: combiner and slot, if the reduction is folded.
    """

    space: LoopSpace
    loops: list[Array]
    reads: list[Array | None]
    writes: list[Array]
    fold: tuple[np.ufunc, int] | None

    @property
    def size(self) -> int:
        return sum(x.size for x in (*self.reads, *self.writes) if x is not None)


@dataclass(frozen=True)
class VertexPlan:
    """One vertex of a family, for operands of one kind.

    Attributes:
        space: all of its iterations; the pieces are parts of it, in the order in which they run.
        writers: for outputs that the body also loads from, by number, who writes each element of the allocation.
    """

    space: LoopSpace
    pieces: list[Piece]
    writers: dict[int, "Writers"]

    @property
    def size(self) -> int:
        """Elements that its arrays have in all."""
        return sum(x.size for x in (*self.pieces, *self.writers.values()))


@dataclass(frozen=True)
class Writers:
    """Per element of an allocation the iteration of a vertex that writes it, -1 for none, -2 for several in turn."""

    space: LoopSpace
    table: Array

    @property
    def size(self) -> int:
        return self.table.size

    def are_others(self, elements: Array, loops: list[Array]) -> bool:
        """True if another iteration writes one of ``elements``, which the iterations at ``loops`` want."""
        found = self.table[elements]
        return bool(np.any((found == -2) | ((found != -1) & (found != _numbers(self.space, loops)))))


def plan_vertex(
    family: Family, bound: Bound, tile: int, box: Box, memories: TileMemories, limits: Limits
) -> VertexPlan:
    """Find everything on the tile.

    Raises:
        LocalityError: an operand has an element that is not on the tile.
        RaceError: two iterations meet in an element that one of them writes.
    """
    return _Planner(family, bound, tile, memories, limits).plan(LoopSpace(box, family.is_reduction))


def _numbers(space: LoopSpace, loops: list[Array]) -> Array:
    """A number for every iteration of ``space``, from its loop indices."""
    number: Array = np.zeros((), np.int64)
    for index, indices in zip(loops, space.box, strict=True):
        number = np.asarray(number * len(indices) + (index - indices.start))
    return number


class _Planner:
    def __init__(self, family: Family, bound: Bound, tile: int, memories: TileMemories, limits: Limits) -> None:
        self.family = family
        self.tile = tile
        self.location: ir.Location = family.location
        self._bound = bound
        self._memories = memories
        self._limits = limits

    def plan(self, space: LoopSpace) -> VertexPlan:
        self._refuse_overlap(space)
        parts = [self._plan_piece(piece) for piece in pieces(space, self._is_too_large, self._output_moves)]
        return VertexPlan(space, parts, self._writers(space))

    def _writers(self, space: LoopSpace) -> dict[int, Writers]:
        loaded = [view.allocation for view in self._bound.captures if isinstance(view, View)]
        found = {}
        for output in self.family.outputs:
            if self._view(output).allocation in loaded:
                elements = np.broadcast_to(self._elements(output, space), space.shape)
                table = np.full(self._view(output).allocation.elements, -1, np.int64)
                in_turn = prod(space.reduction_shape) > 1
                table[elements] = -2 if in_turn else np.broadcast_to(_numbers(space, space.loops()), space.shape)
                found[output.number] = Writers(space, table)
        return found

    def _view(self, operand: Operand) -> View:
        view: View = self._bound.operands[operand.number]
        return view

    def _elements(self, operand: Operand, space: LoopSpace) -> Array:
        return operand.elements(self._view(operand), space, self.location)

    def _positions(self, operand: Operand, elements: Array, doing: str) -> Array:
        held = self._memories.on(self.tile, self._view(operand).allocation)
        return held.positions(elements, doing, self.location)

    def _plan_piece(self, space: LoopSpace) -> Piece:
        reads = [
            self._positions(operand, self._elements(operand, space), "reads")
            if operand.is_read and isinstance(self._bound.operands[operand.number], View)
            else None
            for operand in self.family.operands
        ]
        return Piece(
            space, space.loops(), reads, [self._written(x, space) for x in self.family.outputs], self._fold(space)
        )

    def _written(self, output: Operand, space: LoopSpace) -> Array:
        """Positions that the parallel iterations of ``space`` write, each of them once."""
        first = (0,) * space.num_reductions
        elements = np.broadcast_to(space.at_step(self._elements(output, space), first), space.parallel_shape)
        positions = self._positions(output, elements, "writes")
        touched = np.zeros(self._memories.on(self.tile, self._view(output).allocation).elements.shape, np.bool_)
        touched[positions] = True
        if touched.sum() != positions.size:
            raise RaceError(
                f"{place_of(self.location)}: parallel iterations of the vertex on tile {self.tile} write one element "
                f"of {self._view(output).allocation.name}; make the loop a reduction"
            )
        return positions

    def _fold(self, space: LoopSpace) -> tuple[np.ufunc, int] | None:
        if prod(space.reduction_shape) == 1 or prod(space.parallel_shape) > self._limits.fold_elements:
            return None
        fold = self.family.body.fold()
        return None if fold is None or self._view(self.family.outputs[0]).allocation.dtype == np.bool_ else fold

    def _is_too_large(self, space: LoopSpace) -> bool:
        size = self.family.footprint(space) if self._fold(space) is None else prod(space.shape)
        return size > self._limits.piece_elements

    def _output_moves(self, space: LoopSpace) -> bool:
        """True if an output's element changes from step to step of the reduction loops."""
        reductions = {loop for loop, reduces in enumerate(space.is_reduction) if reduces}
        for output in self.family.outputs:
            if output.loops & reductions:
                elements = self._elements(output, space)
                if (elements != elements[(slice(0, 1),) * space.num_reductions]).any():
                    return True
        return False

    def _refuse_overlap(self, space: LoopSpace) -> None:
        """An iteration may write what it reads itself, and nothing that another iteration reads or writes."""
        outputs = self.family.outputs
        for number, output in enumerate(outputs):
            allocation = self._view(output).allocation
            for operand in [*self.family.inputs, *outputs[:number]]:
                view = self._bound.operands[operand.number]
                if not isinstance(view, View) or view.allocation is not allocation:
                    continue
                written, other = self._elements(output, space), self._elements(operand, space)
                if (
                    not operand.is_output
                    and prod(space.reduction_shape) == 1
                    and _same_everywhere(written, other, space)
                ):
                    continue
                if np.intersect1d(written, other).size:
                    what = "writes it twice" if operand.is_output else "reads it in another iteration"
                    raise RaceError(
                        f"{place_of(self.location)}: the vertex on tile {self.tile} writes {allocation.name} and "
                        f"{what}; write to another allocation"
                    )


def _same_everywhere(left: Array, right: Array, space: LoopSpace) -> bool:
    return bool((np.broadcast_to(left, space.shape) == np.broadcast_to(right, space.shape)).all())
