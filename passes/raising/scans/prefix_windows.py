"""Windows that combine everything up to an element: what frontends make of cumulative sums, products and extremes."""

import math
from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects.analysis.loop_nest import LoopNest, loop_nest, reads_operand
from ipu_mlir.dialects.analysis.matchers import constant_of, defining_op, predicate_of, terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.element_types import is_narrow_float
from ipu_mlir.passes.support.combiners import KIND_OF_OP
from ipu_mlir.passes.support.rewriting import list_ops

_FORMULAS = {
    **{f"{op.removeprefix('arith.')}(acc, x)": kind for op, kind in KIND_OF_OP.items()},
    "select(cmpf(subf(acc, x), subf(acc, x)), addf(acc, x), "
    "addf(log1p(exp(negf(absf(subf(acc, x))))), maximumf(acc, x)))": "logaddexp",
}
"""Bodies, as ``_formula`` writes them, and what they do."""

_IS_NAN = ("une", "uno")  # of a number and itself
_EXACT_IF_NARROW = ("max", "min")


@dataclass(frozen=True)
class PrefixWindow:
    """``result[i] = combine(source[0], ..., source[i])`` along ``dimension``, or from ``i`` to the end.

    The elements of ``source`` may have to be widened to those of the result first.

    Attributes:
        beyond: how many elements more the result has than the source, of which no window holds any of its elements, as
            in an exclusive sum; they come first, or last if ``from_end``.
        initial: the neutral elements that the result begins with.
    """

    source: ir.Value
    dimension: int
    from_end: bool
    combine: str
    beyond: int
    initial: ir.Value


def prefix_window(op: ir.Operation) -> PrefixWindow | None:
    """The scan that ``op`` is, if its window is as long as what its operand is padded from, by that less 1 or more."""
    nest = loop_nest(op) if op.name == "linalg.generic" and "library_call" not in op.attributes else None
    if nest is None or len(op.results) != 1 or nest.parallel.count(False) != 1 or list_ops(op, "cf.assert"):
        return None
    read = [number for number in range(nest.num_inputs) if reads_operand(op, number)]
    dimension = _window_dimension(nest, read[0]) if len(read) == 1 else None
    if dimension is None:
        return None
    combine = _FORMULAS.get(_body_formula(op, read[0]), "")
    if not combine or not is_exact(combine, op.results[0].type.element_type):
        return None
    initial = op.operands[nest.num_inputs]
    length = nest.extents[nest.parallel.index(False)]
    beyond = initial.type.shape[dimension] - length
    from_end = _padded_side(op.operands[read[0]], dimension, combine, length, beyond)
    if from_end is None or not _is_neutral(_filled_with(initial), combine):
        return None
    return PrefixWindow(op.operands[read[0]].owner.operands[0], dimension, from_end, combine, beyond, initial)


def _window_dimension(nest: LoopNest, number: int) -> int | None:
    """The dimension along which a window slides over an operand, no longer than the result; others are its own."""
    reduced = nest.parallel.index(False)
    found = None
    written = [index.plain_loop for index in nest.outputs[0]]
    if len(written) != len(nest.indices[number]):
        return None
    for dimension, (index, loop) in enumerate(zip(nest.indices[number], written, strict=True)):
        if loop is None or not index.linear:
            return None
        if index.plain_loop == loop:
            continue
        wanted = tuple(int(other in (loop, reduced)) for other in range(len(nest.extents)))
        if found is not None or index.coefficients != wanted or index.constant:
            return None
        if nest.extents[loop] < nest.extents[reduced]:
            return None
        found = dimension
    return found


def _padded_side(value: ir.Value, dimension: int, combine: str, length: int, beyond: int) -> bool | None:
    """True if ``value``, ``length`` elements in ``dimension``, is padded behind them, or before; None if otherwise.

    It has to be by ``length`` less one and by ``beyond``.
    """
    pad = defining_op(value, "tensor.pad")
    if pad is None or not _is_neutral(constant_of(terminator(pad.regions[0].blocks[0]).operands[0]), combine):
        return None
    low, high = list(pad.attributes["static_low"]), list(pad.attributes["static_high"])
    around = low.pop(dimension), high.pop(dimension)
    if any((*low, *high)):
        return None
    if pad.operands[0].type.shape[dimension] != length or length + beyond < 2:
        return None
    wanted = length - 1 + beyond
    return {(wanted, 0): False, (0, wanted): True}.get(around)


def _body_formula(op: ir.Operation, number: int) -> str:
    block = op.regions[0].blocks[0]
    names = {block.arguments[number]: "x", block.arguments[len(block.arguments) - 1]: "acc"}
    return _formula(terminator(block).operands[0], names)


def combined_by(value: ir.Value, running: ir.Value, element: ir.Value) -> str:
    """The name of the scan that makes ``value`` of ``running`` and ``element``; empty if none does."""
    return _FORMULAS.get(_formula(value, {running: "acc", element: "x"}), "")


def _formula(value: ir.Value, names: dict[ir.Value, str]) -> str:
    """``value`` as text: ``addf(acc, x)``; the operands of symmetric ops are in alphabetic order."""
    op = defining_op(value)
    if value in names or op is None:
        return names.get(value, "?")
    operands = [_formula(operand, names) for operand in op.operands]
    if op.name == "arith.extf":
        return operands[0] if operands == ["x"] else "?"
    name = op.name.partition(".")[2]
    if name == "cmpf" and predicate_of(op) not in _IS_NAN:
        return "?"
    if op.name in KIND_OF_OP or (name == "subf" and len(operands[0]) + len(operands[1]) == len("accx")):
        operands.sort()  # of a difference of the two, logaddexp needs the size only
    return f"{name}({', '.join(operands)})"


def is_exact(combine: str, element: ir.Type) -> bool:
    """True if a scan of such elements gives what windows of them give: narrow sums are rounded in each step."""
    if isinstance(element, ir.IntegerType):
        return element.width > 1
    if is_narrow_float(str(element)):
        return combine in _EXACT_IF_NARROW
    return isinstance(element, ir.F32Type | ir.F64Type)


def _filled_with(value: ir.Value) -> ir.Attribute | None:
    """The constant that every element of ``value`` is, if that is known."""
    fill = defining_op(value, "linalg.fill")
    return None if fill is None else constant_of(fill.operands[0])


def _is_neutral(constant: Any, combine: str) -> bool:
    """True if the attribute ``constant`` changes nothing it is combined with; None does."""
    if isinstance(constant, ir.FloatAttr):
        smallest, largest = -math.inf, math.inf
    elif isinstance(constant, ir.IntegerAttr) and isinstance(constant.type, ir.IntegerType):
        largest = (1 << (constant.type.width - 1)) - 1
        smallest = -largest - 1
    else:
        return False
    neutral = {"add": 0, "mul": 1, "max": smallest, "min": largest, "logaddexp": smallest}
    return bool(constant.value == neutral[combine])
