"""Running the vertices of a family, each alone on what its tile holds."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.per_tile.memory.tile_memories import TileMemories, View
from ipu_mlir.runtime.per_tile.scalar.errors import RaceError
from ipu_mlir.runtime.per_tile.vertices.family import Bound, Family
from ipu_mlir.runtime.per_tile.vertices.instructions import Frame
from ipu_mlir.runtime.per_tile.vertices.library import run_codelet
from ipu_mlir.runtime.per_tile.vertices.races import AccessLog
from ipu_mlir.runtime.per_tile.vertices.vertex_plan import Piece, VertexPlan

Array = np.ndarray[Any, Any]


class Vertex:
    """One vertex of a family, on its tile.

    Its methods raise a ``RunError`` where it touches what is not on its tile, was never written (if ``strict``), or is
    raced for, and where an assertion fails.
    """

    def __init__(
        self, family: Family, bound: Bound, number: int, tile: int, memories: TileMemories, log: AccessLog, strict: bool
    ) -> None:
        """``number`` is that of the family in ``log``."""
        self.family = family
        self.bound = bound
        self.number = number
        self.tile = tile
        self.memories = memories
        self.log = log
        self.strict = strict
        self.location: ir.Location = family.location

    def run(self, plan: VertexPlan) -> None:
        """Run the body for all iterations."""
        for piece in plan.pieces:
            self._run_piece(plan, piece)

    def run_codelet(self, box: tuple[range, ...]) -> None:
        """Run the library codelet that the op names."""
        run_codelet(self.family, self.bound, box, self._read_elements, self._write_elements)

    def _run_piece(self, plan: VertexPlan, piece: Piece) -> None:
        arguments = [self._argument(number, piece) for number in range(len(self.family.operands))]

        def load(view: View, indices: list[Array], loops: list[Array]) -> Array:
            return self._load(plan, view, indices, loops)

        frame = self.family.body.frame(self.bound.captures, piece.loops, load)
        if piece.fold is None:
            results = self._by_steps(arguments, piece, frame)
        else:
            results = [self._by_fold(arguments, piece, frame, *piece.fold)]
        for operand, positions, values in zip(self.family.outputs, piece.writes, results, strict=True):
            held = self.memories.on(self.tile, self.bound.operands[operand.number].allocation)
            self.log.write(self.number, held, positions)
            held.write(positions, np.broadcast_to(values, piece.space.parallel_shape))

    def _argument(self, number: int, piece: Piece) -> Array:
        """The operand's values, broadcasting to the piece; an operand that the body does not use is not read."""
        positions, value = piece.reads[number], self.bound.operands[number]
        if positions is not None:
            return self._read(value, positions)
        ones = (1,) * len(piece.space.box)
        return np.zeros(ones) if isinstance(value, View) else np.full(ones, value)

    def _by_steps(self, arguments: list[Array], piece: Piece, frame: Frame) -> list[Array]:
        """Every step of the reduction loops in order, all parallel iterations of a step at once."""
        space, body, count = piece.space, self.family.body, len(self.family.outputs)
        inputs, first = arguments[: len(arguments) - count], (0,) * space.num_reductions
        results = [space.at_step(x, first) for x in arguments[len(arguments) - count :]]
        for step in space.steps():
            body.move(frame, [space.at_step(x, step) for x in piece.loops])
            results = body.run(frame, [*(space.at_step(x, step) for x in inputs), *results])
        return results

    def _by_fold(self, arguments: list[Array], piece: Piece, frame: Frame, combine: np.ufunc, slot: int) -> Array:
        """``accumulator op expression``: the expression everywhere, then folded in the order of the loops."""
        space = piece.space
        found = self.family.body.run_until_fold(frame, arguments, slot)
        terms = np.broadcast_to(found, space.shape).reshape(-1, *space.parallel_shape)
        start = np.broadcast_to(space.at_step(arguments[-1], (0,) * space.num_reductions), space.parallel_shape)
        together = np.concatenate([start[None], terms])
        result: Array = combine.accumulate(together, axis=0, dtype=together.dtype)[-1]
        return result

    def _load(self, plan: VertexPlan, view: View, indices: list[Array], loops: list[Array]) -> Array:
        """``memref.load`` in the body, for the iterations ``loops``: elements of ``view`` at computed indices.

        An index outside its dimension is taken for the nearest inside; where there are no elements, all loads give 0.
        """
        if 0 in view.shape:
            return np.zeros((), view.allocation.dtype)
        elements: Array = np.asarray(view.offset)
        for index, size, stride in zip(indices, view.shape, view.strides, strict=True):
            elements = np.asarray(elements + np.clip(index, 0, size - 1) * stride)
        for output, writers in plan.writers.items():
            if self.bound.operands[output].allocation is view.allocation and writers.are_others(elements, loops):
                raise RaceError(
                    f"{place_of(self.location)}: the vertex on tile {self.tile} writes {view.allocation.name} and "
                    "loads from it what another iteration writes; write to another allocation"
                )
        return self._read_elements(view, elements)

    def _read(self, view: View, positions: Array) -> Array:
        held = self.memories.on(self.tile, view.allocation)
        self.log.read(self.number, held, positions)
        return held.read(positions, self.strict, self.location)

    def _read_elements(self, view: View, elements: Array) -> Array:
        held = self.memories.on(self.tile, view.allocation)
        return self._read(view, held.positions(elements, "reads", self.location))

    def _write_elements(self, view: View, elements: Array, values: Array) -> None:
        held = self.memories.on(self.tile, view.allocation)
        positions = held.positions(elements, "writes", self.location)
        self.log.write(self.number, held, positions)
        held.write(positions, values)


def refuse_constants(family: Family, bound: Bound) -> None:
    """Refuse to write arguments and constants.

    Raises:
        RunError: an output shows one.
    """
    for output in family.outputs:
        allocation = bound.operands[output.number].allocation
        if not allocation.writable:
            raise RunError(
                f"{place_of(family.location)}: a vertex writes {allocation.name}, an argument or a constant; "
                "write to an allocation"
            )
