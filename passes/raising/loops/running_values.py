"""Loops in which every element is combined with the one before it."""

from collections.abc import Iterable
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.matchers import defining_op, integer_of, predicate_of, terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.element_types import is_narrow_float
from ipu_mlir.passes.raising.loops.filling_nests import (
    FillingNest,
    Place,
    body_of,
    filling_nest,
    place_of,
)
from ipu_mlir.passes.raising.loops.nests import is_scalar
from ipu_mlir.passes.raising.scans.prefix_windows import combined_by, is_exact
from ipu_mlir.passes.support.clone import operands_from_outside

_HOLDS_OF_FIRST = {"eq": True, "ne": False, "sgt": False, "ugt": False}
"""Predicates of a counter and 0, and whether they hold in the first iteration."""


@dataclass(frozen=True)
class Step:
    """``value = combine(previous, update)``.

    Attributes:
        combine: the scan of that name.
        value, previous, update: the scalars; ``value`` and ``update`` do not depend on others that loops carry.
        along: the dimension along which values run.
        begin: the first value, which only a condition in the loop lets be one; the value before the first one, if the
            innermost loop carries it; None if the tensor has the first value from the start.
        is_carried: whether the innermost loop carries the previous value, rather than the tensor.
    """

    combine: str
    value: ir.Value
    previous: ir.Value
    update: ir.Value
    along: int
    begin: ir.Value | None
    is_carried: bool


@dataclass(frozen=True)
class Running:
    """A nest whose loops fill a tensor with running values, those after their step or, if ``exclusive``, before it."""

    nest: FillingNest
    step: Step
    exclusive: bool


def running(outermost: ir.Operation) -> Running | None:
    """The running sum, product or extreme that the nest of ``outermost`` computes; None if it is something else."""
    nest = filling_nest(outermost)
    step = None if nest is None else _step(nest)
    if nest is None or step is None or not _has_scans(step):
        return None
    goes_in = nest.inserts[nest.whole].operands[0]
    exclusive = step.is_carried and goes_in == step.previous
    if (goes_in != step.value and not exclusive) or not _fills_all(nest, step) or not _holds_nothing_else(nest, step):
        return None
    if not all(_holds_last(nest, step, number) for number in nest.inserts if number != nest.whole):
        return None
    return Running(nest, step, exclusive)


def _has_scans(step: Step) -> bool:
    """True if there are scans of values of that type; those of floats of 16 and 8 bits are widened."""
    element = step.value.type
    return is_narrow_float(str(element)) or is_exact(step.combine, element)


def _step(nest: FillingNest) -> Step | None:
    """The rule by which a value is made of the one before it."""
    if nest.scalar is not None:
        innermost = nest.loops[-1]
        value = terminator(body_of(innermost)).operands[nest.scalar]
        previous = body_of(innermost).arguments[1 + nest.scalar]
        along = [loop for loop, _ in nest.place].index(len(nest.loops) - 1)
        return _combination(value, value, previous, along, innermost.operands[3 + nest.scalar], is_carried=True)
    insert = nest.inserts[nest.whole]
    value = insert.operands[0]
    begin, later, first = _branches(value)
    for use in insert.operands[1].uses:
        load = use.owner.operation
        along = _dimension_behind(place_of(list(load.operands)[1:], nest.counters), nest.place)
        if load.name == "tensor.extract" and along is not None:
            if first is not None and first != nest.counters[nest.place[along][0]]:
                return None
            return _combination(value, later, load.results[0], along, begin, is_carried=False)
    return None


def _combination(
    value: ir.Value, later: ir.Value, previous: ir.Value, along: int, begin: ir.Value | None, *, is_carried: bool
) -> Step | None:
    """The step that makes ``later``, which is ``value`` in all iterations but perhaps the first one."""
    for use in previous.uses:
        for operand in use.owner.operation.operands:
            combine = combined_by(later, previous, operand) if operand != previous else ""
            if combine:
                return Step(combine, value, previous, operand, along, begin, is_carried)
    return None


def _branches(value: ir.Value) -> tuple[ir.Value | None, ir.Value, ir.Value | None]:
    """The first value, the later ones, and the counter that is 0 for the first; else only the second."""
    op = defining_op(value, "scf.if")
    condition = None if op is None or len(op.results) != 1 else defining_op(op.operands[0], "arith.cmpi")
    if op is None or condition is None or integer_of(condition.operands[1]) != 0:
        return None, value, None
    holds = _HOLDS_OF_FIRST.get(predicate_of(condition))
    if holds is None:
        return None, value, None
    then, otherwise = (terminator(region.blocks[0]).operands[0] for region in op.regions)
    first, later = (then, otherwise) if holds else (otherwise, then)
    return first, later, condition.operands[0]


def _dimension_behind(read: Place | None, written: Place) -> int | None:
    """The dimension in which ``read`` is one less than ``written``, if all others are the same."""
    if read is None or len(read) != len(written):
        return None
    different = [d for d, (old, new) in enumerate(zip(read, written, strict=True)) if old != new]
    if len(different) != 1:
        return None
    (loop, added), (own, own_added) = read[different[0]], written[different[0]]
    return different[0] if (loop, added) == (own, own_added - 1) else None


def _holds_last(nest: FillingNest, step: Step, number: int) -> bool:
    """True if in tensor ``number`` each value takes the place of the one before it, and no elements are beyond them."""
    without = [dimension for dimension in range(len(nest.place)) if dimension != step.along]
    whole, last = nest.inserts[nest.whole].results[0].type.shape, nest.inserts[number].results[0].type.shape
    if [whole[dimension] for dimension in without] != list(last):
        return False
    place = tuple(nest.place[dimension] for dimension in without)
    return nest.inserts[number].operands[0] == step.value and nest.place_in(number) == place


def _fills_all(nest: FillingNest, step: Step) -> bool:
    """True if the iterations write every element of the whole tensor but the first ones that it has from the start."""
    sizes = list(nest.inserts[nest.whole].results[0].type.shape)
    for dimension, (loop, added) in enumerate(nest.place):
        given = int(step.begin is None and dimension == step.along)
        if nest.starts[loop] + added != given or nest.extents[loop] + given != sizes[dimension]:
            return False
    return step.begin is None or step.is_carried or nest.starts[nest.place[step.along][0]] == 0


def _holds_nothing_else(nest: FillingNest, step: Step) -> bool:
    """True if the loops work on scalars besides, and what is combined depends on nothing that they carry."""
    inner = {*nest.loops[1:], *nest.inserts.values()}
    for loop in nest.loops:
        *body, _ = (op.operation for op in body_of(loop).operations)
        if not all(op in inner or is_scalar(op, None) for op in body):
            return False
    innermost = body_of(nest.loops[-1])
    carried = set(list(innermost.arguments)[1:])
    for insert in nest.inserts.values():
        readers = {use.owner.operation for use in insert.operands[1].uses} - {insert}
        if readers - ({step.previous.owner.operation} if not step.is_carried else set()):
            return False
    needed = [step.update, *([] if step.begin is None or step.is_carried else [step.begin])]
    return _reached(needed).isdisjoint(carried | {step.previous})


def _reached(values: Iterable[ir.Value]) -> set[ir.Value]:
    """Everything that ``values`` are computed from."""
    seen: set[ir.Value] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value not in seen:
            seen.add(value)
            op = defining_op(value)
            pending.extend(() if op is None else operands_from_outside(op))
    return seen
