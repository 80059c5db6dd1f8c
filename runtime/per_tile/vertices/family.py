"""A family of vertices as its op says: operands, loops, maps, body."""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.attributes.attributes import parts_from_attr
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.per_tile.memory.tile_memories import View
from ipu_mlir.runtime.per_tile.scalar.affine import evaluate, loops_in
from ipu_mlir.runtime.per_tile.scalar.errors import LocalityError
from ipu_mlir.runtime.per_tile.vertices.body import Body
from ipu_mlir.runtime.per_tile.vertices.loop_space import LoopSpace

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Operand:
    """An operand: a view of a buffer, or a scalar that every iteration gets.

    Attributes:
        number: its place among the operands of the op.
        indices: per dimension of the view, the index in terms of the loops.
        loops: the loops that its indices depend on.
        is_read: whether the body uses its elements.
    """

    number: int
    value: ir.Value
    indices: tuple[ir.AffineExpr, ...]
    loops: frozenset[int]
    is_output: bool
    is_read: bool

    def dimension_indices(self, view: View, space: LoopSpace, location: ir.Location) -> list[Array]:
        """The index of every dimension of ``view``, arrays that broadcast to ``space.shape``.

        Raises:
            LocalityError: an index is outside the view.
        """
        loops, found = space.loops(), []
        for dimension, (expression, size) in enumerate(zip(self.indices, view.shape, strict=True)):
            index = evaluate(expression, loops)
            if index.size and (index.min() < 0 or index.max() >= size):
                raise LocalityError(
                    f"{place_of(location)}: the part needs indices {index.min()} to {index.max()} of dimension "
                    f"{dimension} of {view.allocation.name}, which has {size}"
                )
            found.append(index)
        return found

    def elements(self, view: View, space: LoopSpace, location: ir.Location) -> Array:
        """The allocation's element at every iteration, an array that broadcasts to ``space.shape``."""
        found = np.full((1,) * len(space.box), view.offset, np.int64)
        for index, stride in zip(self.dimension_indices(view, space, location), view.strides, strict=True):
            found = found + index * stride
        return found


@dataclass(frozen=True)
class Bound:
    """The values that a family works on this time: per operand and per capture of the body, a view or a scalar."""

    operands: tuple[Any, ...]
    captures: tuple[Any, ...]

    def key(self) -> tuple[Any, ...]:
        """Equal for two times at which the same elements of the same kinds of buffers are touched."""
        views = [value for value in (*self.operands, *self.captures) if isinstance(value, View)]
        seen: dict[int, int] = {}
        same = [seen.setdefault(id(view.allocation), len(seen)) for view in views]
        return (*(view.geometry for view in views), *same)


class Family:
    """An ``ipu.vertices``, as far as it is one for all of its vertices."""

    def __init__(self, op: ir.OpView) -> None:
        self.location: ir.Location = op.location
        self.parts: Parts = parts_from_attr(op.attributes["parts"])
        self.op: ir.OpView = next(iter(op.regions[0].blocks[0].operations))
        self.library_call: str | None = None
        if "library_call" in self.op.attributes:
            self.library_call = ir.StringAttr(self.op.attributes["library_call"]).value
        self.body = Body(self.op.regions[0].blocks[0])
        maps = [attribute.value for attribute in linalg.get_indexing_maps(self.op.operation)]
        values = list(self.op.operation.operands)
        inputs = len(values) - self.body.num_results
        self.operands = [
            Operand(
                number,
                value,
                tuple(maps[number].results),
                frozenset[int]().union(*map(loops_in, maps[number].results)),
                number >= inputs,
                number < self.body.num_arguments and self.body.reads_argument[number],
            )
            for number, value in enumerate(values)
        ]
        self.inputs = self.operands[:inputs]
        self.outputs = self.operands[inputs:]
        self.is_reduction = self._reductions(maps[0].n_dims)
        self._check_parts_cover_the_loops()

    def footprint(self, space: LoopSpace) -> int:
        """Elements of the operand that needs most for ``space``."""
        return max(prod(len(space.box[loop]) for loop in operand.loops) for operand in self.operands)

    def _reductions(self, num_loops: int) -> tuple[bool, ...]:
        """A generic op says which loops reduce; those of a named op are the ones that its results do not depend on."""
        if "iterator_types" in self.op.attributes:
            return tuple("reduction" in str(kind) for kind in self.op.attributes["iterator_types"])
        kept = set().union(*(operand.loops for operand in self.outputs))
        return tuple(loop not in kept for loop in range(num_loops))

    def _check_parts_cover_the_loops(self) -> None:
        extents: dict[int, int] = {}
        for operand in self.operands:
            if isinstance(operand.value.type, ir.MemRefType):
                for index, size in zip(operand.indices, operand.value.type.shape, strict=True):
                    if isinstance(index, ir.AffineDimExpr):
                        extents.setdefault(index.position, size)
        expected = [extents[loop] for loop in range(len(self.is_reduction))]
        found = [loop.extent for loop in self.parts.loops]
        if found != expected:
            raise RunError(
                f"{place_of(self.location)}: the parts are for loops of {found}, but the op's loops run {expected}"
            )
