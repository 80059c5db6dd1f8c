"""A family of vertices as its op says: operands, loops, maps, body."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.dialects.attributes import parts_from_attr
from ipu_mlir.dialects.bindings import ir, upstream
from ipu_mlir.dialects.errors import RunError
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.runtime.per_tile.affine import evaluate, loops_in
from ipu_mlir.runtime.per_tile.body import Body
from ipu_mlir.runtime.per_tile.errors import LocalityError, place_of
from ipu_mlir.runtime.per_tile.loop_space import LoopSpace
from ipu_mlir.runtime.per_tile.memory import View

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Operand:
    """An operand: a view of a buffer, or a scalar that every iteration gets."""

    value: View | Any
    indices: tuple[ir.AffineExpr, ...]
    is_output: bool
    is_read: bool

    def loops(self) -> set[int]:
        """The loops that its indices depend on."""
        return set().union(*(loops_in(index) for index in self.indices))

    def dimension_indices(self, space: LoopSpace, location: ir.Location) -> list[Array]:
        """The index of every dimension of the view, arrays that broadcast to ``space.shape``.

        Raises:
            LocalityError: an index is outside the view.
        """
        loops, found = space.loops(), []
        for dimension, (expression, size) in enumerate(zip(self.indices, self.value.shape, strict=True)):
            index = evaluate(expression, loops)
            if index.size and (index.min() < 0 or index.max() >= size):
                raise LocalityError(
                    f"{place_of(location)}: the part needs indices {index.min()} to {index.max()} of dimension "
                    f"{dimension} of {self.value.allocation.name}, which has {size}"
                )
            found.append(index)
        return found

    def elements(self, space: LoopSpace, location: ir.Location) -> Array:
        """The allocation's element at every iteration, an array that broadcasts to ``space.shape``."""
        found = np.full((1,) * len(space.box), self.value.offset, np.int64)
        for index, stride in zip(self.dimension_indices(space, location), self.value.strides, strict=True):
            found = found + index * stride
        return found


class Family:
    """What an ``ipu.vertices`` says about all of its vertices."""

    def __init__(self, op: ir.OpView, value_of: Callable[[ir.Value], Any]) -> None:
        """Read ``op``; ``value_of`` gives the views and scalars that it uses."""
        self.location: ir.Location = op.location
        self.parts: Parts = parts_from_attr(op.attributes["parts"])
        self.op: ir.OpView = next(iter(op.regions[0].blocks[0].operations))
        self.library_call: str | None = None
        if "library_call" in self.op.attributes:
            self.library_call = ir.StringAttr(self.op.attributes["library_call"]).value
        block = self.op.regions[0].blocks[0]
        self.body = Body(block, value_of)
        maps = [attribute.value for attribute in upstream("linalg").get_indexing_maps(self.op.operation)]
        values = list(self.op.operation.operands)
        inputs = len(values) - len(self.body.yields)
        reads = [*self.body.reads_argument, *[False] * (len(values) - self.body.num_arguments)]
        self.operands = [
            Operand(value_of(value), tuple(maps[i].results), i >= inputs, reads[i]) for i, value in enumerate(values)
        ]
        self.is_reduction = self._reductions(maps[0].n_dims)
        self._check_parts_cover_the_loops()

    @property
    def inputs(self) -> list[Operand]:
        return [operand for operand in self.operands if not operand.is_output]

    @property
    def outputs(self) -> list[Operand]:
        return [operand for operand in self.operands if operand.is_output]

    def footprint(self, space: LoopSpace) -> int:
        """Elements of the operand that needs most for ``space``."""
        return max(prod(len(space.box[loop]) for loop in operand.loops()) for operand in self.operands)

    def _reductions(self, num_loops: int) -> tuple[bool, ...]:
        """A generic op says which loops reduce; those of a named op are the ones that its results do not depend on."""
        if "iterator_types" in self.op.attributes:
            return tuple("reduction" in str(kind) for kind in self.op.attributes["iterator_types"])
        kept = set().union(*(operand.loops() for operand in self.outputs))
        return tuple(loop not in kept for loop in range(num_loops))

    def _check_parts_cover_the_loops(self) -> None:
        extents: dict[int, int] = {}
        for operand in self.operands:
            if isinstance(operand.value, View):
                for index, size in zip(operand.indices, operand.value.shape, strict=True):
                    if isinstance(index, ir.AffineDimExpr):
                        extents.setdefault(index.position, size)
        expected = [extents[loop] for loop in range(len(self.is_reduction))]
        found = [loop.extent for loop in self.parts.loops]
        if found != expected:
            raise RunError(
                f"{place_of(self.location)}: the parts are for loops of {found}, but the op's loops run {expected}"
            )
