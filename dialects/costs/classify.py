"""The work that a structured op is: from its loops, its indices and its body; on tensors as on buffers."""

from ipu_mlir.dialects.analysis.loop_nest import LoopNest, loop_nest
from ipu_mlir.dialects.analysis.operand_types import dtype_of, result_dtype
from ipu_mlir.dialects.codelets.codelet import CodeletCall
from ipu_mlir.dialects.codelets.library import codelet_named, shapes_of
from ipu_mlir.dialects.costs.elementwise import ScalarOp, Shape, has_broadcast
from ipu_mlir.dialects.costs.op_loops import (
    accumulator,
    combination,
    kept_loops,
    loops_of,
    read_inputs,
    reduced_loops,
    window_loops,
)
from ipu_mlir.dialects.costs.scalar_ops import body_ops, is_cast, scalar_op, scalar_ops, through_casts
from ipu_mlir.dialects.costs.sums_of_products import contraction
from ipu_mlir.dialects.costs.work import Elementwise, Gather, Loops, Move, Reduction, Window, Work
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.element_types import element_type
from ipu_mlir.dialects.support.remembered import analysis

_FAST_COMBINES = ("add", "sub", "mul", "max", "min")


def classify(op: ir.Operation | ir.OpView, nest: LoopNest) -> Work:
    """The work of ``op``, a structured op with the loops ``nest``."""
    operation = op.operation
    if "library_call" in operation.attributes:
        return _library(operation, nest)
    is_gather = any(not index.linear for load in nest.loads for index in load)
    if not is_gather and not all(nest.parallel):
        return contraction(operation, nest) or _window(operation, nest) or _reduction(operation, nest)
    ops = scalar_ops(body_ops(operation))
    if is_gather:
        return _gather(operation, nest, ops)
    if not ops:
        return _move(operation, nest)
    broadcast = _broadcast(operation, nest) if len(ops) == 1 and has_broadcast(ops[0]) else ""
    operands = len(read_inputs(operation, nest)) + len(nest.outputs)
    return Elementwise(tuple(ops), broadcast, _in_place(operation, nest), operands)


@analysis
def work_of(op: ir.Operation) -> Work | None:
    """The work of ``op``, a structured op; None where it has no loop nest."""
    nest = loop_nest(op)
    return None if nest is None else classify(op, nest)


def _is_fast(combine: ScalarOp) -> bool:
    """True if there are vertices that reduce with this operation."""
    return (
        combine.shape is Shape.BINARY and combine.name in _FAST_COMBINES and element_type(combine.dtype).slowdown == 1
    )


def _window(op: ir.Operation, nest: LoopNest) -> Window | None:
    inputs = read_inputs(op, nest)
    last = combination(op)
    if len(inputs) != 1 or last is None or [inner for inner in body_ops(op) if not is_cast(inner)] != [last]:
        return None
    positions, window = window_loops(nest.indices[inputs[0]], nest)
    if not window:
        return None
    return Window(
        dtype=dtype_of(op, inputs[0]),
        kind="sum" if last.name in ("arith.addf", "arith.addi") else "max",
        positions=tuple(sorted(positions)),
        channels=tuple(loop for loop in kept_loops(nest) if loop not in positions),
        window=reduced_loops(nest),
    )


def _reduction(op: ir.Operation, nest: LoopNest) -> Reduction:
    inputs = read_inputs(op, nest)
    number = max(inputs, key=lambda n: len(nest.indices[n]), default=nest.num_inputs)
    before, combine = list(body_ops(op)), None
    last = combination(op)
    if last is not None and _is_fast(scalar_op(last)):
        combine = scalar_op(last)
        own = accumulator(op), last.results[0]
        widening = [each for each in before if is_cast(each) and through_casts(each.operands[0]) in own]
        before = [each for each in before if each != last and each not in widening]
    innermost = max(loops_of(nest.indices[number][-1:], len(nest.extents)), default=0)
    return Reduction(
        dtype=dtype_of(op, number),
        to_dtype=result_dtype(op, nest),
        kept=kept_loops(nest),
        reduced=reduced_loops(nest),
        continuous=not nest.parallel[innermost] if nest.extents else False,
        before=tuple(scalar_ops(before)),
        combine=combine,
        run=_run(nest, number),
        operands=max(1, len(inputs)),
    )


def _run(nest: LoopNest, number: int) -> Loops:
    """The reduced loops over the last neighbouring dimensions of an operand; empty where one is alone."""
    loops = [index.plain_loop for index in nest.indices[number]]
    reduced = [loop is not None and not nest.parallel[loop] for loop in loops]
    end = max((position + 1 for position, yes in enumerate(reduced) if yes), default=0)
    start = max((position + 1 for position in range(end) if not reduced[position]), default=0)
    found = tuple(loop for loop in loops[start:end] if loop is not None)
    return found if len(found) > 1 else ()


def _gather(op: ir.Operation, nest: LoopNest, ops: list[ScalarOp]) -> Gather:
    loops = tuple(range(len(nest.extents)))
    slices = []
    for load in nest.loads:
        if any(not index.linear for index in load):
            rows = tuple(index for index in load if index.linear)
            slices.append(tuple(sorted(loops_of(rows, len(loops)))))
    return Gather(result_dtype(op, nest), loops, tuple(slices), tuple(ops))


def _library(op: ir.Operation, nest: LoopNest) -> CodeletCall:
    codelet = codelet_named(ir.StringAttr(op.attributes["library_call"]).value)
    dtypes = tuple(dtype_of(op, number) for number in range(len(op.operands)))
    loops = tuple(tuple(sorted(loops_of(indices, len(nest.extents)))) for indices in nest.indices)
    return CodeletCall(codelet, dtypes, shapes_of(op), loops, kept_loops(nest), reduced_loops(nest))


def _move(op: ir.Operation, nest: LoopNest) -> Move:
    loops = tuple(range(len(nest.extents)))
    dtype = result_dtype(op, nest)
    inputs = read_inputs(op, nest)
    if not inputs and not nest.loads:
        return Move("fill", dtype, loops)
    if not inputs or not nest.indices[inputs[0]] or not nest.outputs or not nest.outputs[0]:
        return Move("copy", dtype, loops)  # an op that only checks what it reads is taken to read it as a copy does
    source, dest = nest.indices[inputs[0]][-1], nest.outputs[0][-1]
    in_order = source.plain_loop == dest.plain_loop or not any(source.coefficients)
    return Move("copy" if in_order else "transpose", dtype, loops)


def _broadcast(op: ir.Operation, nest: LoopNest) -> str:
    """The form of the work where one operand of the only op is the same for a vertex, or for each row; else ""."""
    (inner,) = body_ops(op)
    every = {loop for loop, extent in enumerate(nest.extents) if extent != 1}
    block = op.regions[0].blocks[0]
    seen = []
    for value in inner.operands:
        argument = ir.BlockArgument(value) if isinstance(value.owner, ir.Block) and value.owner == block else None
        indices = () if argument is None else nest.indices[argument.arg_number]
        seen.append(loops_of(indices, len(nest.extents)) & every)
    if len(seen) != 2 or every not in seen or seen[0] == seen[1]:
        return ""
    return "vector" if min(seen, key=len) else "scalar"


def _in_place(op: ir.Operation, nest: LoopNest) -> bool:
    operands = list(op.operands)
    return any(operands[n] == output for n in read_inputs(op, nest) for output in operands[nest.num_inputs :])
