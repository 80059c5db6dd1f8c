"""The loops and operands of a structured op that matter for its cost."""

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.analysis.loop_nest import LoopNest, reads_operand
from ipu_mlir.dialects.analysis.matchers import defining_op, terminator
from ipu_mlir.dialects.costs.scalar_ops import through_casts
from ipu_mlir.dialects.costs.work import Loops
from ipu_mlir.dialects.support.bindings import ir


def loops_of(indices: tuple[Index, ...], loops: int) -> set[int]:
    """The loops that an operand's elements depend on; all of them where an index is not linear."""
    if any(not index.linear for index in indices):
        return set(range(loops))
    return {loop for index in indices for loop in range(loops) if index.coefficients[loop]}


def kept_loops(nest: LoopNest) -> Loops:
    """The parallel loops."""
    return tuple(loop for loop, parallel in enumerate(nest.parallel) if parallel)


def reduced_loops(nest: LoopNest) -> Loops:
    """The loops that are reduced over."""
    return tuple(loop for loop, parallel in enumerate(nest.parallel) if not parallel)


def read_inputs(op: ir.Operation, nest: LoopNest) -> list[int]:
    """The inputs with elements that the body reads."""
    numbers = range(nest.num_inputs)
    return [n for n in numbers if isinstance(op.operands[n].type, ir.ShapedType) and reads_operand(op, n)]


def window_loops(indices: tuple[Index, ...], nest: LoopNest) -> tuple[set[int], set[int]]:
    """Parallel and reduced loops that meet in one index of an operand: positions and elements of a window."""
    positions: set[int] = set()
    window: set[int] = set()
    for index in indices:
        loops = {loop for loop, coefficient in enumerate(index.coefficients) if coefficient}
        moved = {loop for loop in loops if not nest.parallel[loop]}
        if moved and moved != loops:
            window |= moved
            positions |= loops - moved
    return positions, window


def accumulator(op: ir.Operation) -> ir.Value:
    """The block argument that holds what the last output held."""
    block = op.regions[0].blocks[0]
    return block.arguments[len(block.arguments) - 1]


def combination(op: ir.Operation) -> ir.Operation | None:
    """The operation that joins an element to the only result, possibly in a wider type."""
    end = terminator(op.regions[0].blocks[0])
    last = defining_op(through_casts(end.operands[0])) if len(end.operands) == 1 else None
    return last if last and accumulator(op) in [through_casts(value) for value in last.operands] else None
