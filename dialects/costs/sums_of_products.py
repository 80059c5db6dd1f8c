"""Sums of products: which loops of an op are rows, channels and windows, and what is done before the product."""

from dataclasses import dataclass
from math import prod

from ipu_mlir.dialects.analysis.loop_nest import LoopNest
from ipu_mlir.dialects.analysis.operand_types import dtype_of
from ipu_mlir.dialects.costs.op_loops import (
    accumulator,
    combination,
    kept_loops,
    loops_of,
    reduced_loops,
    window_loops,
)
from ipu_mlir.dialects.costs.scalar_ops import is_cast, scalar_ops, takes_time, through_casts
from ipu_mlir.dialects.costs.work import Contraction, Preparation
from ipu_mlir.dialects.support.bindings import ir

_ONE_GROUP = 16  # input channels that the units take at once, in f16
_MUCH, _FEW = 8, 64
"""How many times larger a factor is that is kept as weights, where the other has few rows or columns. Source: PopSparse
(arXiv 2303.16999): dense products of square matrices by up to 64 columns take what loading the square ones as weights
takes; by more columns, less."""


@dataclass(frozen=True)
class _Factor:
    """One side of the product in a sum of products.

    Attributes:
        numbers: the operands that it is made of.
        ops: what is done to their elements before they are multiplied.
        dtype: the type that the vertex loads: that of the operand, or of what was computed from it.
    """

    numbers: tuple[int, ...]
    ops: tuple[ir.Operation, ...]
    dtype: str

    def loops(self, nest: LoopNest) -> set[int]:
        return {loop for n in self.numbers for loop in loops_of(nest.indices[n], len(nest.extents))}

    def windows(self, nest: LoopNest) -> set[int]:
        return {loop for n in self.numbers for loop in window_loops(nest.indices[n], nest)[1]}

    def preparation(self, nest: LoopNest) -> tuple[Preparation, ...]:
        if not self.ops:
            return ()
        return (Preparation(tuple(scalar_ops(self.ops)), tuple(sorted(self.loops(nest)))),)


def _factor(op: ir.Operation, value: ir.Value) -> _Factor | None:
    """The operands and ops that ``value``, a factor in the body of ``op``, is made of; None where it is no element."""
    block = op.regions[0].blocks[0]
    numbers: list[int] = []
    ops: list[ir.Operation] = []
    open_values = [value]
    while open_values:
        current = open_values.pop()
        owner = current.owner
        if isinstance(owner, ir.Block):
            number = ir.BlockArgument(current).arg_number
            if owner == block and isinstance(op.operands[number].type, ir.ShapedType) and number not in numbers:
                numbers.append(number)
        elif owner.operation.block == block:
            if owner.operation.regions:
                return None
            if takes_time(owner.operation) and owner.operation not in ops:
                ops.append(owner.operation)
            open_values += list(owner.operation.operands)
    if not numbers:
        return None
    if all(is_cast(each) for each in ops):  # the units widen what they load
        return _Factor(tuple(sorted(numbers)), (), dtype_of(op, numbers[0]))
    return _Factor(tuple(sorted(numbers)), tuple(reversed(ops)), str(value.type))


def _factors(op: ir.Operation, nest: LoopNest) -> tuple[_Factor, _Factor] | None:
    """Both sides of the product that the body of ``op`` sums, if it sums one."""
    last = combination(op)
    if last is None or len(nest.outputs) != 1:
        return None
    result = accumulator(op)
    terms = [through_casts(value) for value in last.operands if through_casts(value) != result]
    if last.name == "math.fma" and len(terms) == 2:
        left, right = terms
    elif last.name in ("arith.addf", "arith.addi") and len(terms) == 1 and not isinstance(terms[0].owner, ir.Block):
        product = terms[0].owner.operation
        if product.name not in ("arith.mulf", "arith.muli"):
            return None
        left, right = product.operands
    else:
        return None
    first, second = _factor(op, left), _factor(op, right)
    if first is None or second is None or nest.num_inputs in (*first.numbers, *second.numbers):
        return None
    return first, second


def contraction(op: ir.Operation, nest: LoopNest) -> Contraction | None:
    """The sum of products that ``op`` is; None for another op, and for one whose factors have the same loops."""
    factors = _factors(op, nest)
    known = (index.linear or index.block_of is not None for indices in nest.indices for index in indices)
    if factors is None or not all(known):
        return None
    first, second = factors if not factors[1].windows(nest) else factors[::-1]
    image, weights, window = first.loops(nest), second.loops(nest), first.windows(nest)
    kept = set(kept_loops(nest))
    field, out_channels = kept & image - weights, kept & weights - image
    if not field and not out_channels:
        return None
    return Contraction(
        dtype=first.dtype,
        groups=tuple(sorted(kept - field - out_channels)),
        field=tuple(sorted(field)),
        out_channels=tuple(sorted(out_channels)),
        in_channels=tuple(loop for loop in reduced_loops(nest) if loop not in window),
        kernel=tuple(sorted(window)),
        prepared=first.preparation(nest) + second.preparation(nest),
        slides=bool(window) and _slides(nest, first, max(window)),
        weights="" if window else _much_larger(nest, field, out_channels),
    )


def _slides(nest: LoopNest, image: _Factor, loop: int) -> bool:
    """True if ``loop`` moves a window over ``image`` by one element, and so does the loop over its places."""
    indices = [index for number in image.numbers for index in nest.indices[number] if index.coefficients[loop]]
    return all(each in (0, 1) for index in indices for each in index.coefficients)


def _much_larger(nest: LoopNest, field: set[int], out_channels: set[int]) -> str:
    """The side of a product that is much larger than the other one: it would have to be rearranged to move over it.

    With one group of input channels it lies as the units want it, and over a vector nothing moves.
    """
    rows, columns, channels = (
        prod(nest.extents[loop] for loop in loops) for loops in (field, out_channels, reduced_loops(nest))
    )
    if channels <= _ONE_GROUP or not 1 < min(rows, columns) <= _FEW:
        return ""
    if rows >= _MUCH * columns:
        return "field"
    return "out_channels" if columns >= _MUCH * rows else ""
