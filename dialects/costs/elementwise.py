"""Cycles of element-wise vertices: what each scalar operation takes, and what the vertex around it takes.

Source: hardware.md 4.1, read in the cycle estimators of PopLibs. ``n`` is the elements of the vertex, which its six
workers share (a *1D* vertex).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from ipu_mlir.dialects.costs.rates import BINARY, BROADCAST, INTEGER, SELECT, UNARY, Rate, Rates
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, ceil_div, per_worker, smaller, total
from ipu_mlir.dialects.support.element_types import element_type


class Shape(Enum):
    """The form of a scalar operation for the hardware; each has a table or a formula of its own."""

    UNARY = "unary"
    BINARY = "binary"
    INTEGER = "integer"
    SELECT = "select"
    CAST = "cast"


@dataclass(frozen=True)
class ScalarOp:
    """One scalar operation of a body: ``name`` in the table of its ``shape``.

    Attributes:
        dtype: the type of its operands; of a cast, the type that it starts from.
        to_dtype: of a cast, the type that it gives.
    """

    shape: Shape
    name: str
    dtype: str
    to_dtype: str = ""


def loop_cycles(rate: Rate, n: Size, dtype: str, machine: Machine) -> Size:
    """Cycles of one worker for ``n`` elements at that rate."""
    slowdown = element_type(dtype).slowdown
    elements = rate.elements or machine.vector_width(dtype if slowdown == 1 else "f32")
    return ceil_div(n, elements) * (rate.cycles + rate.loop) * slowdown


def _rate(rates: Rates, dtype: str) -> Rate:
    return rates.f16 if element_type(dtype).is_narrow else rates.f32


def inner_cycles(op: ScalarOp, n: Size, machine: Machine) -> Size:
    """The inner loop of ``op`` over ``n`` elements of one worker.

    An operation on f8 is assumed to be that on f16, between a conversion of its operand and one of its result; a second
    operand comes along in the same loop, and choices and comparisons need no conversion.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> [int(inner_cycles(ScalarOp(Shape.UNARY, "exp", dtype), 400, IPU2)) for dtype in ("f16", "f8E4M3FN")]
    [400, 600]
    """
    if op.shape is Shape.CAST:
        return cast_inner_cycles(op.dtype, op.to_dtype, n, machine)
    if element_type(op.dtype).unit == "f8" and op.shape in (Shape.UNARY, Shape.BINARY):
        return inner_cycles(replace(op, dtype="f16"), n, machine) + f8_conversion_cycles(op.dtype, n, machine)
    return loop_cycles(_rate_of(op), n, op.dtype, machine)


def _rate_of(op: ScalarOp) -> Rate:
    if op.shape is Shape.INTEGER:
        return INTEGER[op.name]
    if op.shape is Shape.SELECT:
        return SELECT
    return _rate((UNARY if op.shape is Shape.UNARY else BINARY)[op.name], op.dtype)


def f8_conversion_cycles(dtype: str, n: Size, machine: Machine) -> Size:
    """The inner loops from f8 to f16 and back again."""
    return cast_inner_cycles(dtype, "f16", n, machine) + cast_inner_cycles("f16", dtype, n, machine)


def vertex_cycles(op: ScalarOp, machine: Machine, in_place: bool = False) -> int:
    """Cycles of a vertex of ``op`` around its inner loops: the supervisor's start and that of every worker.

    The start of a select is not published for a 1D vertex; it is assumed to be that of its row (6) with the
    supervisor's of a binary vertex.
    """
    if op.shape is Shape.CAST:
        return 12 + machine.workers * (19 + 18)
    if op.shape is Shape.SELECT:
        return 11 + machine.workers * 6
    if op.shape is Shape.UNARY or op.name in ("abs", "bits"):
        return 20 + machine.workers * (33 if op.name == "exp" else 17)
    if op.name == "scaled_add":
        return 21 + 11 + 7 + 12 + machine.workers * 22
    if in_place:
        return 11 + machine.workers * 58
    return 11 + machine.workers * (29 if op.dtype == "f32" else 26)


def elementwise_cycles(
    ops: Sequence[ScalarOp], n: Size, machine: Machine, in_place: bool = False, operands: int = 0
) -> Size:
    """One vertex that runs ``ops`` on each of its ``n`` elements: their inner loops, and the longest start of one.

    A vertex of several operations, which PopLibs compiles from C++, takes the sum of their loops, or one loop that
    loads and stores each of ``operands`` once, whichever is faster; 0 where they are not known.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> elementwise_cycles([ScalarOp(Shape.UNARY, "tanh", "f32")], 600, IPU2)
    3722
    """
    start = max(vertex_cycles(op, machine, in_place) for op in ops)
    return start + machine.workers * loops_cycles(ops, per_worker(n, machine), operands, machine)


def loops_cycles(ops: Sequence[ScalarOp], n: Size, operands: int, machine: Machine) -> Size:
    """What one worker runs ``ops`` in, on ``n`` elements: a loop for each, or one for all."""
    loops = total(inner_cycles(op, n, machine) for op in ops)
    return smaller(loops, _one_loop_cycles(ops, n, operands, machine)) if operands and len(ops) > 1 else loops


_AROUND_A_LOOP = 6
"""Cycles of each turn for addresses and the branch. Source: stencils of a thesis (simehaa/IPU), which take 18 cycles
for two elements with seven operations on five operands and a result, 22 with nine on seven."""


def _one_loop_cycles(ops: Sequence[ScalarOp], n: Size, operands: int, machine: Machine) -> Size:
    """One worker's loop over ``n`` elements, as many at once as the widest type leaves."""
    at_once = min(machine.vector_width(op.dtype) for op in ops)
    turns = ceil_div(n, at_once)
    return turns * (operands + _AROUND_A_LOOP) + total(_bare_cycles(op, n, at_once, machine) for op in ops)


def _bare_cycles(op: ScalarOp, n: Size, at_once: int, machine: Machine) -> Size:
    """The instructions of ``op`` on ``n`` elements, ``at_once`` of them, without a loop of its own."""
    if op.shape is Shape.CAST or element_type(op.dtype).unit == "f8":
        return inner_cycles(op, n, machine)
    rate = _rate_of(op)
    return ceil_div(n * rate.cycles, rate.elements or at_once) * element_type(op.dtype).slowdown


def has_broadcast(op: ScalarOp) -> bool:
    """True if there are vertices of ``op`` with one operand that is the same for many elements."""
    return op.shape is Shape.BINARY and op.name in BROADCAST and element_type(op.dtype).unit in ("f32", "f16")


def broadcast_scalar_cycles(op: ScalarOp, n: Size, machine: Machine) -> Size:
    """``n`` elements with one scalar, in place or not."""
    return 11 + machine.workers * (20 + loop_cycles(_broadcast_rate(op), per_worker(n, machine), op.dtype, machine))


def broadcast_vector_cycles(op: ScalarOp, rows: Size, columns: Size, machine: Machine) -> Size:
    """Rows with one vector, as in adding a bias; the workers share the rows or the columns, whichever is faster."""
    rate = _broadcast_rate(op)

    def shared(outer: Size, inner: Size) -> Size:
        return 11 + machine.workers * (15 + outer * (7 + loop_cycles(rate, inner, op.dtype, machine)))

    return smaller(shared(per_worker(rows, machine), columns), shared(rows, per_worker(columns, machine)))


def _broadcast_rate(op: ScalarOp) -> Rate:
    return _rate(BROADCAST[op.name], op.dtype)


def cast_inner_cycles(from_dtype: str, to_dtype: str, n: Size, machine: Machine) -> Size:
    """The inner loop of a conversion; types without a fast path take 2 cycles per element."""
    if (from_dtype, to_dtype) in (("i8", "f16"), ("f16", "i8")):
        return ceil_div(n, 4) * (9 if from_dtype == "i8" else 16)
    load, store = machine.vector_width(from_dtype), machine.vector_width(to_dtype)
    if load == 1 or store == 1:
        return 2 * n * max(element_type(from_dtype).slowdown, element_type(to_dtype).slowdown)
    width = min(2 * load, store)
    return ceil_div(n, width) * max(ceil_div(width, load), ceil_div(width, store))


def cast_cycles(from_dtype: str, to_dtype: str, n: Size, machine: Machine) -> Size:
    """A conversion of ``n`` elements."""
    return elementwise_cycles([ScalarOp(Shape.CAST, "cast", from_dtype, to_dtype)], n, machine)
