"""Where an op writes a result: in all of it, in a slice of it, or at points of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.normalize.indices.maps import ResultMaps
from ipu_mlir.passes.support.affine_expressions import applied, as_it_is, loops_in, without
from ipu_mlir.passes.support.linalg_builders import constant_index, generic, identity_map, loop_index
from ipu_mlir.passes.support.tensor_views import DYNAMIC

Loops = Sequence[ir.Value | None]
"""Per loop of an op the value that it has, or None for a loop that runs inside."""


@dataclass(frozen=True)
class Slice:
    """Evenly spaced elements of a tensor: per dimension where they begin, how many there are and how far apart."""

    offsets: tuple[Any, ...]
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    dropped: tuple[bool, ...]
    """The dimensions that what is taken does not have."""

    @property
    def shape(self) -> list[int]:
        return [size for size, dropped in zip(self.sizes, self.dropped, strict=True) if not dropped]

    def taken(self, tensor: ir.Value, loops: Loops) -> ir.Value:
        """The slice of ``tensor``."""
        kind = ir.RankedTensorType.get(self.shape, tensor.type.element_type)
        return upstream("tensor").extract_slice(kind, tensor, *self._place(loops))

    def put(self, value: ir.Value, into: ir.Value, loops: Loops) -> ir.Value:
        return upstream("tensor").insert_slice(value, into, *self._place(loops))

    def _place(self, loops: Loops) -> tuple[Any, ...]:
        values: list[ir.Value] = []
        numbers: list[int] = []
        for offset in self.offsets:
            if isinstance(offset, ir.AffineConstantExpr):
                numbers.append(offset.value)
            else:
                values.append(applied(offset, [constant_index(0) if loop is None else loop for loop in loops]))
                numbers.append(DYNAMIC)
        return values, [], [], numbers, list(self.sizes), list(self.steps)


class WholeResult:
    """Every element is written, and the loops are the dimensions."""

    def __init__(self, maps: ResultMaps, result: int) -> None:
        self.expressions = maps.maps[result]

    def begin(self, tensor: ir.Value, is_read: bool, loops: Loops) -> ir.Value:
        """The value that the op starts from, given the one that the result starts from."""
        return tensor

    def end(self, made: ir.Value, tensor: ir.Value, loops: Loops) -> ir.Value:
        """The result, given what the op makes."""
        return made


class SlicedResult:
    """Each dimension is a multiple of one loop, moved by ``fixed`` loops."""

    def __init__(self, maps: ResultMaps, result: int, fixed: frozenset[int]) -> None:
        offsets, sizes, steps, own = [], [], [], []
        for expression in maps.maps[result]:
            terms = without(expression, fixed | maps.single)
            assert terms is not None, "is_sliced said so"
            factors, offset = terms
            ((loop, step),) = factors.items() or (((-1, 1)),)
            offsets.append(_without_single(offset, maps, fixed))
            sizes.append(maps.extents[loop] if loop >= 0 else 1)
            steps.append(step)
            own.append(loop)
        self.slice = Slice(tuple(offsets), tuple(sizes), tuple(steps), tuple(loop < 0 for loop in own))
        self.expressions = tuple(ir.AffineExpr.get_dim(loop) for loop in own if loop >= 0)

    def begin(self, tensor: ir.Value, is_read: bool, loops: Loops) -> ir.Value:
        if is_read:
            return self.slice.taken(tensor, loops)
        return upstream("tensor").EmptyOp(self.slice.shape, tensor.type.element_type).result

    def end(self, made: ir.Value, tensor: ir.Value, loops: Loops) -> ir.Value:
        return self.slice.put(made, tensor, loops)


class ScatteredResult:
    """Points anywhere, each written in one iteration: a choice between old and new at every element."""

    def __init__(self, maps: ResultMaps, result: int) -> None:
        self.maps = maps
        self.result = result
        self.loops = sorted(maps.loops_of(result))
        self.shape = [maps.extents[loop] for loop in self.loops]
        self.expressions = tuple(map(ir.AffineExpr.get_dim, self.loops))

    def begin(self, tensor: ir.Value, is_read: bool, loops: Loops) -> ir.Value:
        empty = upstream("tensor").EmptyOp(self.shape, tensor.type.element_type).result
        if not is_read:
            return empty
        rank = len(self.shape)

        def body(_: list[ir.Value]) -> list[ir.Value]:
            here = [constant_index(0)] * len(self.maps.extents)
            for number, loop in enumerate(self.loops):
                here[loop] = loop_index(number)
            index = [applied(expression, here) for expression in self.maps.maps[self.result]]
            return [upstream("tensor").ExtractOp(tensor, index).result]

        return generic([], [empty], [identity_map(rank)], [True] * rank, body).results[0]

    def end(self, made: ir.Value, tensor: ir.Value, loops: Loops) -> ir.Value:
        rank = len(tensor.type.shape)
        plain = {
            expression.position: dimension
            for dimension, expression in enumerate(self.maps.maps[self.result])
            if isinstance(expression, ir.AffineDimExpr)
        }
        tables = self._tables(frozenset(plain))
        inputs = [upstream("arith").ConstantOp(each.type, each).result for each, _ in tables.values()]
        maps = [
            ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(dimension) for dimension in dimensions])
            for _, dimensions in tables.values()
        ]

        def body(arguments: list[ir.Value]) -> list[ir.Value]:
            arith = upstream("arith")
            *numbers, old = arguments
            zero = constant_index(0)
            checks: list[ir.Value] = []
            found = [zero] * len(self.maps.extents)
            for loop, number in zip(tables, numbers, strict=True):
                place = arith.IndexCastOp(ir.IndexType.get(), number).result
                checks.append(arith.CmpIOp(arith.CmpIPredicate.sge, place, zero).result)
                found[loop] = arith.MaxSIOp(place, zero).result
            for loop in self.loops:
                if loop in plain:
                    found[loop] = loop_index(plain[loop])
            for dimension, expression in enumerate(self.maps.maps[self.result]):
                if plain.get(getattr(expression, "position", -1)) == dimension or loops_in(expression) & {*tables}:
                    continue
                here = applied(expression, found)
                checks.append(arith.CmpIOp(arith.CmpIPredicate.eq, here, loop_index(dimension)).result)
            new = upstream("tensor").ExtractOp(made, [found[loop] for loop in self.loops]).result
            for check in checks:
                new = arith.SelectOp(check, new, old).result
            return [new]

        return generic(inputs, [tensor], [*maps, identity_map(rank)], [True] * rank, body).results[0]

    def _tables(self, plain: frozenset[int]) -> dict[int, tuple[Any, tuple[int, ...]]]:
        """For loops that are no dimension: where they are at each place of some dimensions, -1 where no loop comes."""
        found: dict[int, tuple[Any, tuple[int, ...]]] = {}
        for loops, dimensions in self.maps.meeting(self.result, frozenset()):
            if plain.issuperset(loops):
                continue
            sizes = [self.maps.shapes[self.result][d] for d in dimensions]
            places = tuple(self.maps.values(self.result, d, loops) for d in dimensions)
            for axis, loop in enumerate(loops):
                table = np.full(sizes, -1, np.int32)
                numbers = np.arange(self.maps.extents[loop], dtype=np.int32)
                table[places] = numbers.reshape([-1 if axis == other else 1 for other in range(len(loops))])
                found[loop] = ir.DenseElementsAttr.get(table), dimensions
        return found


Place = WholeResult | SlicedResult | ScatteredResult


def place_of(maps: ResultMaps, result: int, fixed: frozenset[int]) -> Place:
    """Where ``result`` is written while the ``fixed`` loops are fixed."""
    if maps.is_plain(result) and not fixed & {loop for each in maps.maps[result] for loop in loops_in(each)}:
        return WholeResult(maps, result)
    if all(maps.is_sliced(result, dimensions, fixed) for _, dimensions in maps.meeting(result, fixed)):
        return SlicedResult(maps, result, fixed)
    assert not fixed, "loops are fixed until slices show the results"
    return ScatteredResult(maps, result)


def _without_single(offset: Any, maps: ResultMaps, fixed: frozenset[int]) -> Any:
    """``offset`` where loops of one iteration are at 0."""
    places = [
        ir.AffineExpr.get_constant(0) if loop in maps.single - fixed else ir.AffineExpr.get_dim(loop)
        for loop in range(len(maps.extents))
    ]
    return as_it_is(offset.compose(ir.AffineMap.get(len(places), 0, places)))
