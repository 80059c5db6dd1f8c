"""Ops that are the last on tensors of their own, as the updates of a training step are: each has tiles of its own."""

from collections.abc import Callable
from dataclasses import replace
from math import prod

from ipu_mlir.dialects.analysis.control_flow import is_terminator
from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.placement.planner.fastest import Fastest, cycles_of
from ipu_mlir.passes.placement.planner.operation import Operation
from ipu_mlir.passes.support.initial_values import is_filled_here, is_initial_fill
from ipu_mlir.passes.support.placement_hints import PARTS, wishes
from ipu_mlir.passes.support.tensor_views import VIEW_OPS, view_of

_FEWEST = 4  # ops; few of them begin few vertices on each tile
_SHORT = 1000  # cycles on all tiles: of longer ops what it takes to begin a vertex is a small share


def tiles_apart(
    block: ir.Block,
    is_placed: Callable[[ir.Value], bool],
    question: Callable[[ir.Operation], Operation],
    planner: Fastest,
    target: Target,
) -> dict[ir.Operation, Parts]:
    """The parts of short ops of ``block`` that share nothing, counted from the first tile of each; of one IPU.

    All of them, at least four, run at the same time. On all tiles, each tile would begin a vertex for each of them; so
    each op has as many tiles as its share of the cycles is, if that is faster.

    Args:
        is_placed: whether it is decided where a tensor lies.
        question: what a planner is asked about an op.
    """
    asked = {op: question(op) for op in _alone(block, is_placed)}
    together = {op: _cycles(operation, planner, target)[1] for op, operation in asked.items()}
    short = {op: asked[op] for op, cycles in together.items() if 0 < cycles <= _SHORT}
    if len(short) < _FEWEST:
        return {}
    work = {op: cycles_of(each, _on_one_tile(each), target) for op, each in short.items()}
    found: dict[ir.Operation, tuple[Parts | None, int]] = {}
    for op, operation in short.items():
        tiles = max(1, target.num_compute_tiles * work[op] // sum(work.values()))
        found[op] = _cycles(operation, planner, replace(target, tiles_per_ipu=tiles + target.io_tiles))
    if max(cycles for _, cycles in found.values()) >= sum(together[op] for op in short):
        return {}
    return {op: parts for op, (parts, _) in found.items() if parts is not None}


def _cycles(operation: Operation, planner: Fastest, target: Target) -> tuple[Parts | None, int]:
    """The parts of ``operation`` and its cycles; without parts where it has several steps, which take long."""
    parts = planner(operation, target)
    return (parts, cycles_of(operation, parts, target)) if isinstance(parts, Parts) else (None, parts.cycles + _SHORT)


def _on_one_tile(operation: Operation) -> Parts:
    return Parts(tuple(PartLoop(max(1, each), each, 0) for each in operation.extents))


def _alone(block: ir.Block, is_placed: Callable[[ir.Value], bool]) -> list[ir.Operation]:
    """The ops of ``block`` that nothing reads, of tensors that no structured op computes and no other op reads."""
    ops = [each.operation for each in block.operations]
    ends = [op for op in ops if is_structured(op) and not is_initial_fill(op) and PARTS not in op.attributes]
    ends = [op for op in ends if all(_is_given_away(result) and not list(wishes(result)) for result in op.results)]
    return [op for op in ends if all(_is_own(each, op) and not is_placed(each) for each in _tensors(op))]


def _is_own(tensor: ir.Value, op: ir.Operation) -> bool:
    """True if no structured op computes ``tensor``, and nothing but ``op`` reads it."""
    made = defining_op(tensor)
    return (made is None or not is_structured(made)) and _is_read_by(tensor, op)


def _is_read_by(tensor: ir.Value, op: ir.Operation) -> bool:
    """True if nothing but ``op`` reads ``tensor``, or views of it."""
    users = [use.owner.operation for use in tensor.uses]
    return all(
        user == op or (user.name in VIEW_OPS and all(_is_read_by(each, op) for each in user.results)) for user in users
    )


def _tensors(op: ir.Operation) -> set[ir.Value]:
    """The memory of more than one element that ``op`` touches of what was there before it."""
    tensors = [x for x in op.operands if isinstance(x.type, ir.RankedTensorType) and prod(x.type.shape) > 1]
    return {(view_of(value) or (value, None))[0] for value in tensors if not is_filled_here(value)}


def _is_given_away(value: ir.Value) -> bool:
    """True if nothing reads ``value`` in its block, but that its end gives it away."""
    users = [use.owner.operation for use in value.uses]
    return all(is_terminator(op) or (op.name in VIEW_OPS and all(map(_is_given_away, op.results))) for op in users)
