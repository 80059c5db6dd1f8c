"""Statements of a program, one after the other: loops and branches with all that is in them, library codelets.

How much there is to do is the points of statements, and the iterations of loops.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import prod

from ipu_mlir.dialects.codelets.top_k import TOP_K
from ipu_mlir.runtime.translator.kernels.extremes import top_k_us, write_top_k
from ipu_mlir.runtime.translator.kernels.factors import FACTORS, factor_points, factor_us, write_factor
from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.nests import Nest, ordered, write_nest
from ipu_mlir.runtime.translator.kernels.points import Points
from ipu_mlir.runtime.translator.kernels.products import write_product
from ipu_mlir.runtime.translator.kernels.random_numbers import NUMBER_US, random_us, write_random
from ipu_mlir.runtime.translator.kernels.reductions import Reduced, write_reduction
from ipu_mlir.runtime.translator.kernels.scalar.code import BOOL, I64, LANES, NoKernel, Value
from ipu_mlir.runtime.translator.kernels.scans import RUNNING, running_us, write_running, write_scan
from ipu_mlir.runtime.translator.kernels.scatters import COMBINE, Scattered, points_of, scatter_us, write_scatter
from ipu_mlir.runtime.translator.kernels.transforms import TRANSFORMS, transform_points, transform_us, write_transform
from ipu_mlir.runtime.translator.statements.access import Access
from ipu_mlir.runtime.translator.statements.control import Bound, Branch, Control, ForLoop, WhileLoop, known_rounds
from ipu_mlir.runtime.translator.statements.expression import Expression, Read, postorder
from ipu_mlir.runtime.translator.statements.intervals import Ranges, is_within
from ipu_mlir.runtime.translator.statements.statements import (
    Dot,
    Elementwise,
    LibraryCall,
    Reduce,
    Scan,
    SliceUpdate,
    Statement,
)
from ipu_mlir.runtime.translator.statements.types import unsigned as unsigned_type

WORK_WITHOUT_ASKING = 1 << 20  # statements or vectors: a few milliseconds
_MOST_ROUNDS = 1 << 14  # without asking, however short they are


@dataclass(frozen=True)
class CodeletKernel:
    """A codelet in kernels.

    Attributes:
        write: appends what a call does; ``NoKernel`` if it has no form here.
        points: how much that is.
        saved_us: what a kernel saves of NumPy's time.
    """

    write: Callable[[Function, LibraryCall], None]
    points: Callable[[LibraryCall], int]
    saved_us: Callable[[LibraryCall], float]


CODELETS: dict[str, CodeletKernel] = {
    **dict.fromkeys(COMBINE, CodeletKernel(write_scatter, points_of, scatter_us)),
    **dict.fromkeys(NUMBER_US, CodeletKernel(write_random, lambda call: prod(call.shapes[-1]), random_us)),
    **dict.fromkeys(FACTORS, CodeletKernel(write_factor, factor_points, factor_us)),
    **dict.fromkeys(RUNNING, CodeletKernel(write_running, lambda call: prod(call.shapes[0]), running_us)),
    **dict.fromkeys(TRANSFORMS, CodeletKernel(write_transform, transform_points, transform_us)),
    TOP_K.name: CodeletKernel(write_top_k, lambda call: prod(call.shapes[0]), top_k_us),
}


def write_statements(function: Function, statements: Sequence[Statement | Scattered]) -> None:
    """Append ``statements``, one after the other.

    Raises:
        NoKernel: one of them has no form in kernels.
    """
    for is_control, members in groupby(statements, lambda each: isinstance(each, Control)):
        for statement in members if is_control else function.parts_of(list(members)):
            _write(function, statement)


def _write(function: Function, statement: Statement | Nest | Reduced | Scattered) -> None:
    match statement:
        case ForLoop():
            _write_for(function, statement)
        case WhileLoop():
            _write_while(function, statement)
        case Branch():
            _write_branch(function, statement)
        case Nest():
            write_nest(function, statement)
        case Elementwise():
            write_nest(function, ordered(statement))
        case Reduce() | Reduced():
            write_reduction(function, statement)
        case Dot():
            write_product(function, statement)
        case SliceUpdate():
            _write_slice_update(function, statement)
        case Scan():
            write_scan(function, statement)
        case Scattered():
            write_scatter(function, statement)
        case LibraryCall() if statement.codelet in CODELETS:
            CODELETS[statement.codelet].write(function, statement)
        case _:
            raise NoKernel(f"{type(statement).__name__} has no form in kernels")


def _number(function: Function, access: Access, unsigned: bool = False) -> Value:
    """The single number that ``access`` names."""
    dtype = access.buffer.dtype
    place = function.code.index(access.offset)
    value = function.load(function.pointer(access.buffer), place, dtype)
    return replace(value, dtype=unsigned_type(dtype)) if unsigned else value


def _bound(function: Function, bound: Bound, unsigned: bool) -> str:
    if isinstance(bound, int):
        return function.code.index(bound)
    if bound.buffer.dtype.kind not in "iu" or (unsigned and bound.buffer.dtype.itemsize == 8):
        raise NoKernel(f"a loop counts with {bound.buffer.dtype}")
    return function.ops.cast(_number(function, bound, unsigned), I64).name


def _write_for(function: Function, loop: ForLoop) -> None:
    if not isinstance(loop.step, int) or loop.step < 1:
        raise NoKernel("a loop counts up by a number that is known")
    code = function.code
    low, high = (_bound(function, bound, loop.unsigned) for bound in (loop.lower, loop.upper))
    if function.polled_every:
        step = code.index(loop.step)
        count = code.fresh()
        with code.block(f"{code.fresh()} = scf.while ({count} = {low}) : (i64) -> i64 {{", "} do {"):
            is_inside = code.value(f"arith.cmpi slt, {count}, {high} : i64")
            goes_on = code.value(f"arith.andi {is_inside}, {function.goes_on()} : i1")
            code.line(f"scf.condition({goes_on}) {count} : i64")
        code.line(f"^bb0({(number := code.fresh())}: i64):")
        with code.block("// an iteration"):
            _write_round(function, loop, number)
            code.line(f"scf.yield {code.value(f'arith.addi {number}, {step} : i64')} : i64")
        return
    with function.loop(high, loop.step, low) as number:
        _write_round(function, loop, number)


def _write_round(function: Function, loop: ForLoop, number: str) -> None:
    if loop.variable is None:
        write_statements(function, loop.body)
        return
    buffer = loop.variable.buffer
    value = function.ops.cast(Value(number, I64), buffer.dtype)
    function.store(function.pointer(buffer), function.code.index(loop.variable.offset), value)
    function.numbers[buffer] = number
    write_statements(function, loop.body)
    del function.numbers[buffer]


def _write_while(function: Function, loop: WhileLoop) -> None:
    code = function.code
    with code.block("scf.while : () -> () {", "} do {"):
        write_statements(function, loop.before)
        goes_on = _condition(function, loop.condition)
        if function.polled_every:
            goes_on = code.value(f"arith.andi {goes_on}, {function.goes_on()} : i1")
        code.line(f"scf.condition({goes_on})")
    with code.block("// an iteration"):
        write_statements(function, loop.after)
        code.line("scf.yield")
    write_statements(function, loop.leaving)


def _write_branch(function: Function, branch: Branch) -> None:
    condition = _condition(function, branch.condition)
    with function.code.block(f"scf.if {condition} {{", "} else {"):
        write_statements(function, branch.yes)
    with function.code.block("// otherwise"):
        write_statements(function, branch.no)


def _condition(function: Function, access: Access) -> str:
    value = _number(function, access)
    return function.ops.cast(value, BOOL).name


def _write_slice_update(function: Function, update: SliceUpdate) -> None:
    """What stays is copied, unless it is there already; the box is written where it begins."""
    out, old, extents = update.out, update.old, update.extents
    is_there = function.place(old.buffer) is function.place(out.buffer)
    if not is_there or (old.offset, old.strides) != (out.offset, out.strides):
        copy = Elementwise(extents, update.origin, (out,), (Read(old.buffer.dtype, old),))
        write_nest(function, ordered(copy))
    indexes = _values(function, update.indexes)
    code, inside, begin = function.code, None, None
    for loop, index, node, size in zip(update.loops, indexes, update.indexes, update.sizes, strict=True):
        if index.dtype.kind != "i":
            raise NoKernel("an index has a sign")
        at = function.ops.cast(index, I64)
        begin = function.plus(begin, function.times(at.name, out.strides[loop]))
        if size > 1 or is_within(node, extents[loop], Ranges(extents)):
            continue
        fits = code.value(f"arith.cmpi ult, {at.name}, {code.index(extents[loop])} : i64")
        inside = fits if inside is None else code.value(f"arith.andi {inside}, {fits} : i1")
    box = replace(ordered(Elementwise(update.box(), update.origin, (out,), (update.value,))), begin=begin)
    if inside is None:
        write_nest(function, box)
        return
    with function.branch(inside):
        write_nest(function, box)


def _values(function: Function, nodes: Sequence[Expression]) -> list[Value]:
    """Numbers that are the same at every point."""
    points = Points(function, (), [])
    values: dict[int, Value] = {}
    for node in postorder(nodes):
        values[id(node)] = points.value(node, values)
    return [values[id(node)] for node in nodes]


def asked_every(work: int) -> int:
    """The iterations, a power of two, of ``work`` vectors each that a loop has before it asks whether to go on.

    >>> [asked_every(work) for work in (3, 1000, 10_000_000)]
    [16384, 1024, 1]
    """
    return 1 << (min(_MOST_ROUNDS, max(1, WORK_WITHOUT_ASKING // work))).bit_length() - 1


def points(statement: Statement) -> int:
    """The number of points of ``statement``; of a slice that is written in place, those of the slice."""
    if isinstance(statement, LibraryCall) and statement.codelet in CODELETS:
        return CODELETS[statement.codelet].points(statement)
    if isinstance(statement, SliceUpdate) and statement.old == statement.out:
        return prod(statement.box())
    return prod(statement.extents)


def rounds_in(statements: Sequence[Statement], vectors: bool = False) -> int | None:
    """The number of statements that run in all, or of the vectors of their points; None if no loop bound says it."""
    total = 0
    for statement in statements:
        if not isinstance(statement, Control):
            total += -(-points(statement) // LANES) if vectors else 1
            continue
        inside = [rounds_in(block, vectors) for block in statement.blocks()]
        times = rounds_of(statement)
        if times is None or any(each is None for each in inside):
            return None
        total += times * sum(each or 0 for each in inside)
    return total


def rounds_of(statement: Control) -> int | None:
    """The number of iterations of the loop ``statement``, 1 for a branch; None if only a run tells."""
    if not isinstance(statement, ForLoop):
        return 1 if isinstance(statement, Branch) else None
    if not all(isinstance(bound, int) for bound in (statement.lower, statement.upper, statement.step)):
        return None
    known = known_rounds(statement.lower, statement.upper, statement.step)
    return 0 if known is None else (known[1] - known[0]) // int(statement.step) + 1  # type: ignore[arg-type]
