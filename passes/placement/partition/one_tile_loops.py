"""Loops of little work, which one tile runs faster than all tiles together."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod

import numpy as np

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op, flows, is_loop, is_terminator
from ipu_mlir.dialects.analysis.loop_nest import is_structured, num_outputs, reads_operand
from ipu_mlir.dialects.analysis.matchers import is_made_inside
from ipu_mlir.dialects.analysis.shards import shard_of
from ipu_mlir.dialects.analysis.vertex_loops import NUMBER_DIALECTS, steps_in
from ipu_mlir.dialects.costs.exchange import cycles_for_bytes
from ipu_mlir.dialects.costs.family import cycles_within
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.placement.planner.operation import Operation
from ipu_mlir.passes.support.placement_hints import MAP, PARTS, wishes
from ipu_mlir.passes.support.tensor_views import VIEW_OPS, view_of

_UNKNOWN_COUNT = 10
"""The rounds that a loop is taken to run if nobody knows."""

_TAKEN_ALONG = VIEW_OPS | {"arith.constant", "tensor.empty", "tensor.extract", "tensor.insert_slice"}


@dataclass
class _Found:
    """What a loop does: cycles of all rounds, by its own tile and by all tiles, and the bytes that one tile would hold.

    Attributes:
        outside: tensors from outside the loop.
    """

    on_one: int
    on_all: int
    held: int
    outside: set[ir.Value]


def runs_on_one_tile(
    loop: ir.Operation,
    target: Target,
    question: Callable[[ir.Operation], Operation],
    cycles_on_all: Callable[[ir.Operation, Operation], int | None],
    bytes_left: int,
) -> bool:
    """True if ``loop``, as one vertex on one tile, takes fewer cycles than supersteps, as far as can be estimated.

    Args:
        question: what a planner is asked about a structured op.
        cycles_on_all: cycles of it as the planner cuts it; None where it does not fit at once.
        bytes_left: what the loop may take on a tile.
    """
    machine = machine_of(target)
    extra = machine.start_cycles + machine.sync_cycles
    found = _Found(extra, 0, 0, set())
    shard = shard_of(loop)

    def visit(op: ir.Operation, times: int) -> bool:
        if shard_of(op) != shard or PARTS in op.attributes or MAP in op.attributes:
            return False
        if not is_terminator(op):
            _note_tensors(op, loop, found)
        control = control_op(op)
        if is_structured(op):
            asked = question(op)
            is_wished = any(True for each in op.results for _ in wishes(each))
            cycles = None if is_wished or asked.work is None else cycles_on_all(op, asked)
            if cycles is None or asked.work is None:
                return False
            alone = cycles_within(asked.work, np.array([asked.extents], dtype=np.int64), machine)
            found.on_one += times * int(alone[0])
            if op.name != "linalg.fill":  # which joins another compute set
                found.on_all += times * (cycles + extra)
        elif control is not None:
            times *= (control.trip_count(op) or _UNKNOWN_COUNT) if control.repeats else 1
            return all(visit(each.operation, times) for block in blocks_of(op) for each in block.operations)
        elif op.name == "tensor.extract":
            found.on_all += times * machine.sync_cycles
        elif not is_terminator(op) and op.name not in _TAKEN_ALONG:
            return op.name.startswith(NUMBER_DIALECTS)
        return True

    if not is_loop(loop) or not visit(loop, 1):
        return False
    found.held += sum(map(_bytes, found.outside))
    moved = sum(map(_bytes, {*found.outside, *_tensors(loop.results)}))
    found.on_one += int(cycles_for_bytes(moved, moved, machine))
    return found.on_one < found.on_all and found.held <= bytes_left


def carried_tensors(loop: ir.Operation) -> list[ir.Value]:
    """The tensors that ``loop`` hands to its blocks, and its results."""
    values = dict.fromkeys(value for flow in flows(loop) for value in flow.targets)
    return [value for value in values if isinstance(value.type, ir.RankedTensorType)]


def read_from_outside(loop: ir.Operation) -> list[ir.Value]:
    """The tensors from outside ``loop`` that its control flow and its numbers go by."""
    reads = [op.operands[0] for op in steps_in(loop) if op.name == "tensor.extract"]
    return [value for value in dict.fromkeys(reads) if not is_made_inside(value, loop)]


def _note_tensors(op: ir.Operation, loop: ir.Operation, found: _Found) -> None:
    """What of ``op`` would lie on the tile of ``loop``; a tensor that it updates is there already."""
    for value in _tensors(op.operands):
        root, _ = view_of(value) or (value, None)
        if not is_made_inside(root, loop):
            found.outside.add(root)
    if is_structured(op):
        first = len(op.operands) - num_outputs(op)
        results = [each for number, each in enumerate(op.results) if not reads_operand(op, first + number)]
        found.held += sum(map(_bytes, _tensors(results)))
    elif control_op(op) is not None:
        found.held += sum(map(_bytes, carried_tensors(op)))


def _tensors(values: Iterable[ir.Value]) -> list[ir.Value]:
    return [value for value in values if isinstance(value.type, ir.RankedTensorType)]


def _bytes(tensor: ir.Value) -> int:
    return prod(tensor.type.shape) * element_bytes(tensor.type.element_type)
