"""Running the vertices of a family, each alone on what its tile holds."""

from math import prod
from typing import Any

import numpy as np

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.errors import RunError
from ipu_mlir.runtime.per_tile.errors import LocalityError, RaceError, place_of
from ipu_mlir.runtime.per_tile.family import Family, Operand
from ipu_mlir.runtime.per_tile.holdings import vertex_boxes
from ipu_mlir.runtime.per_tile.library import run_codelet
from ipu_mlir.runtime.per_tile.loop_space import LoopSpace, pieces
from ipu_mlir.runtime.per_tile.memory import Held, TileMemories, View
from ipu_mlir.runtime.per_tile.races import AccessLog

Array = np.ndarray[Any, Any]

PIECE_ELEMENTS = 1 << 22
"""A vertex runs in pieces of at most this many elements, which bounds the memory of the executor, not of a tile."""

FOLD_ELEMENTS = 1 << 10
"""With at most this many parallel iterations, one fold over the reduction is faster than a NumPy call per step."""


def run_family(family: Family, memories: TileMemories, log: AccessLog, strict: bool) -> None:
    """Run every vertex of ``family``.

    Raises:
        RunError: a vertex touches what is not on its tile, was never written (if ``strict``), or is raced for.
    """
    number = log.start_family(family.location)
    for tile, box in vertex_boxes(family.parts):
        if tile >= memories.num_tiles:
            raise RunError(
                f"{place_of(family.location)}: a vertex lies on tile {tile}, "
                f"but the target has tiles 0 to {memories.num_tiles - 1}"
            )
        if all(box):
            Vertex(family, number, tile, memories, log, strict).run(box)


class Vertex:
    """One vertex of a family, on its tile."""

    def __init__(
        self, family: Family, number: int, tile: int, memories: TileMemories, log: AccessLog, strict: bool
    ) -> None:
        self.family = family
        self.number = number
        self.tile = tile
        self.memories = memories
        self.log = log
        self.strict = strict
        self.location: ir.Location = family.location

    def run(self, box: tuple[range, ...]) -> None:
        space = LoopSpace(box, self.family.is_reduction)
        for output in self.family.outputs:
            if not output.value.allocation.writable:
                raise RunError(
                    f"{place_of(self.location)}: a vertex writes {output.value.allocation.name}, an argument or a "
                    "constant; write to an allocation"
                )
        if self.family.library_call is not None:
            run_codelet(self.family.library_call, self.family, space, self.read, self.write)
            return
        self._refuse_overlap(space)
        for piece in pieces(space, self._is_too_large, self._output_moves):
            self._run_piece(piece)

    def read(self, view: View, elements: Array) -> Array:
        """The values of ``elements`` of the view's allocation, from this tile."""
        held, positions = self._positions(view, elements, "reads")
        self.log.read(self.number, held, positions)
        return held.read(positions, self.strict, self.location)

    def write(self, view: View, elements: Array, values: Array) -> None:
        """Give ``elements`` of the view's allocation, each there once, new values on this tile."""
        held, positions = self._positions(view, elements, "writes")
        touched = np.zeros(held.elements.shape, bool)
        touched[positions] = True
        if touched.sum() != positions.size:
            raise RaceError(
                f"{place_of(self.location)}: parallel iterations of the vertex on tile {self.tile} write one element "
                f"of {view.allocation.name}; make the loop a reduction"
            )
        self.log.write(self.number, held, positions)
        held.write(positions, values)

    def _positions(self, view: View, elements: Array, doing: str) -> tuple[Held, Array]:
        held = self.memories.on(self.tile, view.allocation)
        return held, held.positions(elements, doing, self.location)

    def _run_piece(self, space: LoopSpace) -> None:
        arguments = [self._argument(operand, space) for operand in self.family.operands]
        outputs = [operand.elements(space, self.location) for operand in self.family.outputs]
        # Over the reduction axes the outputs do not move (the piece was cut so): take them at the first step.
        first = (0,) * space.num_reductions
        elements = [np.broadcast_to(space.at_step(x, first), space.parallel_shape) for x in outputs]
        fold = self._fold(space)
        if fold is None:
            results = self._by_steps(arguments, space)
        else:
            results = [self._by_fold(arguments, space, *fold)]
        for operand, where, values in zip(self.family.outputs, elements, results, strict=True):
            self.write(operand.value, where, np.broadcast_to(values, space.parallel_shape))

    def _argument(self, operand: Operand, space: LoopSpace) -> Any:
        """The operand's values, broadcasting to the piece; an operand that the body does not use is not read."""
        if not operand.is_read:
            return np.zeros((1,) * len(space.shape))
        if not isinstance(operand.value, View):
            return np.full((1,) * len(space.shape), operand.value)
        return self.read(operand.value, operand.elements(space, self.location))

    def _by_steps(self, arguments: list[Array], space: LoopSpace) -> list[Array]:
        """Every step of the reduction loops in order, all parallel iterations of a step at once."""
        loops, count = space.loops(), len(self.family.outputs)
        inputs = arguments[: len(arguments) - count]
        first = (0,) * space.num_reductions
        results = [space.at_step(x, first) for x in arguments[len(arguments) - count :]]
        for step in space.steps():
            at_step = [space.at_step(x, step) for x in inputs]
            indices = [space.at_step(x, step) for x in loops]
            results = self.family.body.run([*at_step, *results], indices, self._load)
        return results

    def _by_fold(self, arguments: list[Array], space: LoopSpace, combine: np.ufunc, slot: int) -> Array:
        """``accumulator op expression``: the expression everywhere, then folded in the order of the loops."""
        found = self.family.body.run_until_fold(arguments, space.loops(), self._load, slot)
        terms = np.broadcast_to(found, space.shape).reshape(-1, *space.parallel_shape)
        start = np.broadcast_to(space.at_step(arguments[-1], (0,) * space.num_reductions), space.parallel_shape)
        together = np.concatenate([start[None], terms])
        result: Array = combine.accumulate(together, axis=0, dtype=together.dtype)[-1]
        return result

    def _fold(self, space: LoopSpace) -> tuple[np.ufunc, int] | None:
        if prod(space.reduction_shape) == 1 or prod(space.parallel_shape) > FOLD_ELEMENTS:
            return None
        fold = self.family.body.fold()
        return None if self.family.outputs[0].value.allocation.dtype == np.bool_ else fold

    def _is_too_large(self, space: LoopSpace) -> bool:
        size = self.family.footprint(space) if self._fold(space) is None else prod(space.shape)
        return size > PIECE_ELEMENTS

    def _output_moves(self, space: LoopSpace) -> bool:
        """Whether an output's element changes from step to step of the reduction loops."""
        reductions = {loop for loop, reduces in enumerate(space.is_reduction) if reduces}
        for operand in self.family.outputs:
            if operand.loops() & reductions:
                elements = operand.elements(space, self.location)
                if (elements != elements[(slice(0, 1),) * space.num_reductions]).any():
                    return True
        return False

    def _load(self, view: View, indices: list[Array]) -> Array:
        """``memref.load`` in the body: the elements of ``view`` at computed indices."""
        elements: Array = np.asarray(view.offset)
        for dimension, (index, size, stride) in enumerate(zip(indices, view.shape, view.strides, strict=True)):
            if np.any((index < 0) | (index >= size)):
                raise LocalityError(
                    f"{place_of(self.location)}: a load on tile {self.tile} has indices {np.min(index)} to "
                    f"{np.max(index)} in dimension {dimension} of {view.allocation.name}, which has {size}; clamp them"
                )
            elements = np.asarray(elements + index * stride)
        return self.read(view, elements)

    def _refuse_overlap(self, space: LoopSpace) -> None:
        """An iteration may write what it reads itself, and nothing that another iteration reads or writes."""
        outputs = self.family.outputs
        for number, output in enumerate(outputs):
            allocation = output.value.allocation
            if any(view.allocation is allocation for view in self.family.body.loads):
                self._overlap(output, "loads from it")
            for operand in [*self.family.inputs, *outputs[:number]]:
                if not isinstance(operand.value, View) or operand.value.allocation is not allocation:
                    continue
                written, other = output.elements(space, self.location), operand.elements(space, self.location)
                if (
                    not operand.is_output
                    and prod(space.reduction_shape) == 1
                    and _same_everywhere(written, other, space)
                ):
                    continue
                if np.intersect1d(written, other).size:
                    self._overlap(output, "writes it twice" if operand.is_output else "reads it in another iteration")

    def _overlap(self, output: Operand, what: str) -> None:
        raise RaceError(
            f"{place_of(self.location)}: the vertex on tile {self.tile} writes {output.value.allocation.name} and "
            f"{what}; write to another allocation"
        )


def _same_everywhere(left: Array, right: Array, space: LoopSpace) -> bool:
    return bool((np.broadcast_to(left, space.shape) == np.broadcast_to(right, space.shape)).all())
