"""``ipu-factor-sums``: a sum of products in which a factor is alike in some terms is multiplied after adding those."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from ipu_mlir.dialects.analysis.loop_nest import Index, LoopNest, loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op, terminator
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.costs.classify import classify
from ipu_mlir.dialects.costs.family import cycles_of
from ipu_mlir.dialects.machine.machine import Machine, machine_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.element_types import is_narrow_float
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.affine_expressions import as_it_is
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.linalg_builders import fill_with, generic, with_extents, zero
from ipu_mlir.passes.support.rewriting import list_ops

_MULTIPLIED = {"arith.addf": "arith.mulf", "arith.addi": "arith.muli"}
_STEP_CYCLES = 200
"""What a superstep takes besides its vertices, with what moves between it and the next: about as the planner has it."""


@dataclass(frozen=True)
class Sums:
    """What is added up beforehand of an operand: an element for each sum over ``alone``.

    Attributes:
        alone: the loops that are summed.
        sizes: of the tensor of sums.
        steps: per dimension of the sums, how far in the operand the next one begins.
        indices: per dimension of the sums, where the product reads it.
        dimensions: per dimension of the sums, which of the operand it is.
    """

    alone: tuple[int, ...]
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    indices: tuple[Index, ...]
    dimensions: tuple[int, ...]


def sums_of(operand: Sequence[Index], other: Sequence[Index], nest: LoopNest) -> Sums | None:
    """The sums of ``operand`` over the reduced loops that ``other``, by which it is multiplied, does not depend on.

    None if there are none, or if indices are not sums of loops. Windows overlap: sums lie where windows begin.

    >>> a, b = (Index((1, 0, 0)), Index((0, 1, 0)), Index((0, 0, 1))), (Index((0, 0, 1)),)
    >>> found = sums_of(a, b, LoopNest((4, 3, 8), (True, False, False), (a, b, a[:1]), 2))
    >>> found.alone, found.sizes, found.dimensions
    ((1,), (4, 8), (0, 2))
    """
    if not all(index.linear and min(index.coefficients, default=0) >= 0 for index in (*operand, *other)):
        return None
    loops = range(len(nest.extents))
    mine, others = ({loop for index in each for loop in loops if index.coefficients[loop]} for each in (operand, other))
    alone = {loop for loop in mine - others if not nest.parallel[loop] and nest.extents[loop] > 1}
    if not alone:
        return None
    sizes, steps, indices, dimensions = [], [], [], []
    for dimension, index in enumerate(operand):
        kept = [0 if loop in alone or nest.extents[loop] == 1 else index.coefficients[loop] for loop in loops]
        step = gcd(*kept)
        if step:
            dimensions.append(dimension)
            steps.append(step)
            indices.append(Index(tuple(coefficient // step for coefficient in kept)))
            sizes.append(1 + sum(c // step * (n - 1) for c, n in zip(kept, nest.extents, strict=True)))
    return Sums(tuple(sorted(alone)), tuple(sizes), tuple(steps), tuple(indices), tuple(dimensions))


def is_worth_it(before: int, after: int, tiles: int) -> bool:
    """True if ``tiles`` that share ``after`` cycles, and take one more superstep, need fewer than for ``before``.

    >>> is_worth_it(100_000, 20_000, tiles=64), is_worth_it(100_000, 20_000, tiles=1472)
    (True, False)
    """
    return after + _STEP_CYCLES * tiles < before


@dataclass(frozen=True)
class FactorSums(Pass):
    """Add up the elements of a factor whose products have the other factor in common, and multiply their sum.

    The gradient of an enlarged image that a convolution reads is such a sum: each weight meets several pixels of one
    result. In floats the sum of products is rounded elsewhere, by no more; it is infinite where a sum of elements is.

    Option: ``always`` does so even if it takes more cycles.

    Needs:  linalg on tensors, element-wise ops fused.
    Leaves: no sum of products of two operands, integers or floats of at least 32 bits, in which a summed loop moves one
            of them alone, if adding it up first takes fewer cycles.
    """

    name = "ipu-factor-sums"

    always: bool = False

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, "linalg.generic"):
                found: ir.Operation | None = op
                while found is not None:
                    found = self._factored(found)

    def _factored(self, op: ir.Operation) -> ir.Operation | None:
        """The product that now stands in the place of ``op``; None if nothing has changed."""
        factors = _factors(op)
        nest = None if factors is None else loop_nest(op)
        if factors is None or nest is None or nest.broken_results:
            return None
        for number, other in (factors, factors[::-1]):
            sums = sums_of(nest.indices[number], nest.indices[other], nest)
            if sums is None:
                continue
            with ir.InsertionPoint(op), op.location:
                summed = _summed(op, number, sums, nest)
                product = _product(op, factors, number, summed.results[0], sums, nest)
            if self.always or _takes_less(op, summed, product):
                op.results[0].replace_all_uses_with(product.results[0])
                op.erase()
                return product
            product.erase()
            summed.erase()
        return None


def _takes_less(op: ir.Operation, *others: ir.Operation) -> bool:
    """True if ``others`` are done earlier than ``op``, and take one superstep more."""
    target = module_target(op)
    before, *after = (_cycles(each, machine_of(target)) for each in (op, *others))
    return is_worth_it(before, sum(after), target.tiles_per_ipu)


def _cycles(op: ir.Operation, machine: Machine) -> int:
    """Cycles of one tile that does all of the work of ``op``."""
    nest = loop_nest(op)
    assert nest is not None, "loops of tensors of known sizes have extents"
    return int(cycles_of(classify(op, nest), np.array([nest.extents]), machine)[0])


def _factors(op: ir.Operation) -> tuple[int, int] | None:
    """The operands that the body of ``op`` multiplies, if all it does is to add up their products."""
    if len(op.results) != 1 or "library_call" in op.attributes:
        return None
    block = op.regions[0].blocks[0]
    total = defining_op(terminator(block).operands[0], *_MULTIPLIED)
    if total is None or is_narrow_float(str(total.results[0].type)) or len(list(block.operations)) != 3:
        return None
    running = block.arguments[len(block.arguments) - 1]
    terms = [value for value in total.operands if value != running]
    product = defining_op(terms[0], _MULTIPLIED[total.name]) if len(terms) == 1 else None
    if product is None:
        return None
    a, b = (value for value in product.operands)
    if a == b or any(not isinstance(value.owner, ir.Block) or value == running for value in (a, b)):
        return None
    return ir.BlockArgument(a).arg_number, ir.BlockArgument(b).arg_number


def _product(
    op: ir.Operation, factors: tuple[int, int], number: int, summed: ir.Value, sums: Sums, nest: LoopNest
) -> ir.Operation:
    """``op`` with ``summed``, the ``sums`` of its operand ``number``, in the place of that."""
    rest = [loop for loop in range(len(nest.extents)) if loop not in sums.alone]
    place = {loop: ir.AffineExpr.get_dim(position) for position, loop in enumerate(rest)}

    def affine_map(indices: Sequence[Index]) -> ir.AffineMap:
        expressions = [_expression(index.coefficients, index.constant, place) for index in indices]
        return ir.AffineMap.get(len(rest), 0, expressions)

    inputs = [summed if each == number else op.operands[each] for each in factors]
    maps = [affine_map(sums.indices if each == number else nest.indices[each]) for each in factors]
    output = affine_map(nest.outputs[0])
    inputs, maps = with_extents(inputs, maps, [output], [nest.extents[loop] for loop in rest])
    block = op.regions[0].blocks[0]

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        known: Known = {block.arguments[len(block.arguments) - 1]: arguments[-1]}
        known.update(zip((block.arguments[each] for each in factors), arguments, strict=False))
        *steps, end = block.operations
        for step in steps:
            clone_into(step.operation, known)
        return [known[end.operation.operands[0]]]

    kinds = [nest.parallel[loop] for loop in rest]
    outputs = [op.operands[len(op.operands) - 1]]
    return generic(inputs, outputs, [*maps, output], kinds, body, _attributes(op))


def _summed(op: ir.Operation, number: int, sums: Sums, nest: LoopNest) -> ir.Operation:
    """Operand ``number`` of ``op``, added up: loops over the sums are followed by those that are summed."""
    source = op.operands[number]
    element = source.type.element_type
    ahead = len(sums.sizes)
    place = {loop: ir.AffineExpr.get_dim(ahead + position) for position, loop in enumerate(sums.alone)}
    starts = {
        dimension: ir.AffineExpr.get_dim(position) * sums.steps[position]
        for position, dimension in enumerate(sums.dimensions)
    }
    read = [
        as_it_is(
            starts.get(dimension, ir.AffineExpr.get_constant(0))
            + _expression(index.coefficients, index.constant, place)
        )
        for dimension, index in enumerate(nest.indices[number])
    ]
    loops = ahead + len(sums.alone)
    maps = [ir.AffineMap.get(loops, 0, read)]
    output = ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(position) for position in range(ahead)])
    extents = [*sums.sizes, *(nest.extents[loop] for loop in sums.alone)]
    inputs, maps = with_extents([source], maps, [output], extents)
    empty = upstream("tensor").EmptyOp(list(sums.sizes), element).result
    start = fill_with(zero(element), empty).results[0]
    add = upstream("arith").AddFOp if isinstance(element, ir.FloatType) else upstream("arith").AddIOp
    kinds = [True] * ahead + [False] * len(sums.alone)
    return generic(inputs, [start], [*maps, output], kinds, lambda values: [add(values[-1], values[0]).result])


def _expression(coefficients: Sequence[int], constant: int, place: Mapping[int, ir.AffineExpr]) -> ir.AffineExpr:
    """The sum of those loops that have a ``place``, each times its coefficient, and of ``constant``."""
    total = ir.AffineExpr.get_constant(constant)
    for loop, coefficient in enumerate(coefficients):
        if coefficient and loop in place:
            total = total + place[loop] * coefficient
    return as_it_is(total)


def _attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    """Those of ``op`` that are no part of what it means."""
    own = ("indexing_maps", "iterator_types", "operandSegmentSizes")
    return {name: op.attributes[name] for name in op.attributes if name not in own}
