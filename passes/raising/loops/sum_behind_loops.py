"""``ipu-sum-behind-loops``: products of rows that a loop adds up are one product of all rows behind it."""

from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.analysis.loop_nest import loop_nest
from ipu_mlir.dialects.analysis.matchers import (
    defining_op,
    float_of,
    has_one_use,
    is_made_inside,
    is_used,
    terminator,
)
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.costs.op_loops import accumulator, combination
from ipu_mlir.dialects.costs.scalar_ops import through_casts
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.stored_values import with_stores
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.raising.loops.loop_rows import counted_rounds, of_all_rows, row_order, row_that_is_put
from ipu_mlir.passes.support.clone import Known, clone_slice
from ipu_mlir.passes.support.linalg_builders import constant_index, fill_with, zero
from ipu_mlir.passes.support.rewriting import list_ops


@dataclass(frozen=True)
class SumBehindLoops(Pass):
    """Multiply the rows of all iterations at once, where a loop adds up products of a row each.

    The gradient of a layer that runs step by step adds a product of two rows to that of its weights in every step: a
    batch is too small to fill the accumulating units, and the sums, which are large, are read and written each time.
    Behind the loop, the steps are one more dimension that is summed over. Rows that the loop neither takes from a
    tensor nor puts into one are stored for that, if it carries something else from step to step, which it has to run
    for, and they take up no more than ``memory-proportion`` of an IPU, a sixteenth by default.

    Needs:  linalg on tensors, ``ipu-forward-rows``.
    Leaves: no sum that a loop adds a reduction of rows to, and that it does not read, for which there is memory.
    """

    name = "ipu-sum-behind-loops"

    memory_proportion: float = 0.0625

    def run(self, module: ir.Operation) -> None:
        with module.context:
            target = module_target(module)
            most_bytes = self.memory_proportion * target.tiles_per_ipu * target.bytes_per_tile
            for loop in reversed(list_ops(module, "scf.for")):
                sums = _sums(loop)
                if not sums:
                    continue
                budget = most_bytes if _carries_more(loop) else 0
                plans = [_plan(loop, sums, order, budget) for order in (1, -1)]
                best = max(plans, key=lambda plan: (len(plan.sums), -plan.num_bytes))
                if best.sums:
                    _move(loop, best)


class _Sum(NamedTuple):
    """A sum that a loop carries.

    Attributes:
        number: of the result.
        step: the op that adds to it.
        at: the operand of ``step`` that is added.
        term: the reduction that gives what is added.
    """

    number: int
    step: ir.Operation
    at: int
    term: ir.Operation


def _sums(loop: ir.Operation) -> list[_Sum]:
    """The sums of reductions of rows that ``loop`` carries and does not read."""
    rounds = counted_rounds(loop)
    numbers = range(len(loop.results)) if rounds is not None and rounds > 1 else ()
    return [found for number in numbers if (found := _sum(loop, number)) is not None]


def _sum(loop: ir.Operation, number: int) -> _Sum | None:
    block = loop.regions[0].blocks[0]
    carried, end = block.arguments[1 + number], terminator(block)
    step = defining_op(end.operands[number], "linalg.generic")
    nest = None if step is None else loop_nest(step)
    if step is None or nest is None or step.parent.operation != loop or nest.num_inputs != 2 or not all(nest.parallel):
        return None
    if not is_used(loop.results[number]) or not has_one_use(carried) or not has_one_use(step.results[0]):
        return None
    if carried not in list(step.operands)[:2]:
        return None
    at = 1 - list(step.operands).index(carried)
    term = defining_op(step.operands[at], "linalg.generic")
    added, inner = _through_sums_with_zero(step), step.regions[0].blocks[0].arguments
    is_sum = added is not None and {through_casts(each) for each in added} == {inner[0], inner[1]}
    is_whole = nest.indices[1 - at] == nest.indices[2]
    if not is_sum or not is_whole or term is None or term.parent.operation != loop or not has_one_use(term.results[0]):
        return None
    return _Sum(number, step, at, term) if _is_sum_from_zero(term) else None


def _through_sums_with_zero(step: ir.Operation) -> list[ir.Value] | None:
    """The operands of the one sum in the body of ``step``, without zeros that are added to them."""
    last = defining_op(terminator(step.regions[0].blocks[0]).operands[0], "arith.addf")
    return None if last is None else [_without_zero(each) for each in last.operands]


def _without_zero(value: ir.Value) -> ir.Value:
    op = defining_op(value, "arith.addf")
    zeros = [] if op is None else [number for number, each in enumerate(op.operands) if float_of(each) == 0]
    return value if op is None or not zeros else op.operands[1 - zeros[0]]


def _is_sum_from_zero(op: ir.Operation) -> bool:
    """True of a reduction that adds up from 0, by what its operands are alone."""
    nest = loop_nest(op)
    if nest is None or all(nest.parallel) or len(op.results) != 1 or nest.loads or "library_call" in op.attributes:
        return False
    fill, last = defining_op(op.operands[nest.num_inputs], "linalg.fill"), combination(op)
    if any(inner.operation.name == "linalg.index" for inner in op.regions[0].blocks[0].operations):
        return False
    from_zero = fill is not None and float_of(fill.operands[0]) == 0
    return from_zero and last is not None and last.name == "arith.addf" and has_one_use(accumulator(op))


def _carries_more(loop: ir.Operation) -> bool:
    """True if an iteration takes floats from the one before, so that all of them cannot be one."""
    return any(
        is_used(value)
        and isinstance(value.type, ir.RankedTensorType)
        and isinstance(value.type.element_type, ir.FloatType)
        and _sum(loop, number) is None
        and row_that_is_put(loop, number) is None
        for number, value in enumerate(list(loop.regions[0].blocks[0].arguments)[1:])
    )


class _Plan(NamedTuple):
    """What moves behind a loop.

    Attributes:
        stored: rows that the loop stores for it.
        order: of the rows in the tensors that have them: 1 as the loop runs, -1 from its last iteration to the first.
        num_bytes: of the tensors in which rows are stored.
    """

    sums: list[_Sum]
    stored: list[ir.Value]
    order: int
    num_bytes: int


def _plan(loop: ir.Operation, sums: list[_Sum], order: int, budget: float) -> _Plan:
    """The sums for whose rows, in that order, ``budget`` is enough."""
    rounds, taken = counted_rounds(loop) or 0, 0
    moved, stored = list[_Sum](), list[ir.Value]()
    for each in sums:
        rows = [value for value in _rows(loop, each.term) if _whole_of(loop, value, order) is None]
        new = [value for value in dict.fromkeys(rows) if value not in stored]
        if all(isinstance(row.type, ir.RankedTensorType) for row in new):
            num_bytes = sum(rounds * prod(row.type.shape) * element_bytes(row.type.element_type) for row in new)
            if taken + num_bytes <= budget:
                moved.append(each)
                stored += new
                taken += num_bytes
    return _Plan(moved, stored, order, taken)


def _rows(loop: ir.Operation, term: ir.Operation) -> list[ir.Value]:
    """What is reduced in ``loop`` that is not the same in each iteration."""
    return [value for value in list(term.operands)[:-1] if is_made_inside(value, loop)]


def _whole_of(loop: ir.Operation, row: ir.Value, order: int) -> ir.Value | None:
    """The tensor of whose rows ``row`` is one in each iteration, in that order: one from outside, or a result."""
    taken = defining_op(row, "tensor.extract_slice")
    if taken is not None and not is_made_inside(taken.operands[0], loop) and row_order(taken, loop) == order:
        return taken.operands[0]
    for number, result in enumerate(loop.results):
        put = row_that_is_put(loop, number)
        if put is not None and put.operands[0] == row and row_order(put, loop) == order:
            return result
    return None


def _move(loop: ir.Operation, plan: _Plan) -> None:
    rounds = counted_rounds(loop) or 0

    def number_of(arguments: list[ir.Value]) -> ir.Value:
        last = constant_index(rounds - 1)
        return arguments[0] if plan.order == 1 else upstream("arith").subi(last, arguments[0])

    results, tensors = with_stores(loop, plan.stored, rounds, number_of)
    new = results[0].owner.operation
    stacks = dict(zip(plan.stored, tensors, strict=True))
    known: Known = dict(zip(loop.results, results, strict=True))
    for each in plan.sums:
        wholes = {}
        for row in _rows(loop, each.term):
            whole = _whole_of(loop, row, plan.order)
            wholes[row] = stacks[row] if whole is None else known.get(whole, whole)
        with ir.InsertionPoint(loop), each.step.location:
            kind = each.term.results[0].type
            empty = upstream("tensor").EmptyOp(list(kind.shape), kind.element_type).result
            total = of_all_rows(each.term, wholes, fill_with(zero(kind.element_type), empty).results[0])
            copies: Known = {
                each.step.operands[each.at]: total,
                each.step.operands[1 - each.at]: loop.operands[3 + each.number],
            }
            inside = clone_slice(each.step.results[0], copies, lambda value: is_made_inside(value, loop))
        results[each.number].replace_all_uses_with(inside)
        block = new.regions[0].blocks[0]
        terminator(block).operands[each.number] = block.arguments[1 + each.number]
    loop.erase()
