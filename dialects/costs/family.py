"""Cycles of all vertices of a structured op: one number per part, computed once per distinct size."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import TypeAlias

import numpy as np

from ipu_mlir.dialects.codelets.codelet import CodeletCall
from ipu_mlir.dialects.costs import moves
from ipu_mlir.dialects.costs.amp import (
    amp_1x1_cycles,
    amp_nx1_cycles,
    horizontal_mac_cycles,
    scalar_mac_cycles,
    slic_cycles,
    vertical_mac_cycles,
)
from ipu_mlir.dialects.costs.elementwise import (
    broadcast_scalar_cycles,
    broadcast_vector_cycles,
    cast_cycles,
    elementwise_cycles,
    loops_cycles,
)
from ipu_mlir.dialects.costs.pooling import pool_cycles
from ipu_mlir.dialects.costs.reductions import reduction_cycles, sum_of_rows_cycles
from ipu_mlir.dialects.costs.work import Contraction, Elementwise, Gather, Loops, Move, Reduction, Window, Work
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import (
    Size,
    choose,
    double_words,
    larger,
    per_worker,
    product_over,
    smaller,
    total,
)
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.support.element_types import element_type

LoopSize: TypeAlias = Callable[[Loops], Size]

_MAC_CYCLES = 14  # a product and a sum of integers, 7 cycles each (hardware.md 4.1)


def cycles_of_parts(work: Work, parts: Parts, machine: Machine) -> IntArray:
    """Cycles of each part, shape ``(parts.num_parts,)``."""
    sizes, number = distinct_sizes(parts)
    return cycles_of(work, sizes, machine)[number]


def distinct_sizes(parts: Parts) -> tuple[IntArray, IntArray]:
    """The sizes that parts have, shape ``(sizes, loops)``, and which of them each part has, ``(parts,)``.

    A loop has parts of at most two sizes: whole blocks, and what is left at its end.

    >>> from ipu_mlir.dialects.mapping.parts import PartLoop
    >>> sizes, number = distinct_sizes(Parts((PartLoop(4, 10, 1), PartLoop(3, 3, 0))))
    >>> sizes.tolist(), number.tolist()
    ([[4, 3], [2, 3]], [0, 0, 1])
    """
    sizes = np.zeros((1, 0), dtype=np.int64)
    number = np.zeros(1, dtype=np.int64)
    for loop, count in zip(parts.loops, parts.parts_per_loop, strict=True):
        rest = loop.extent - loop.block * (count - 1)
        found = [min(loop.block, loop.extent)] if count <= 1 or rest == loop.block else [loop.block, rest]
        which = np.zeros(count, dtype=np.int64)
        which[-1:] = len(found) - 1
        sizes = np.hstack([np.repeat(sizes, len(found), axis=0), np.tile(found, len(sizes))[:, None]])
        number = (number[:, None] * len(found) + which).reshape(-1)
    return sizes, number


def cycles_of(work: Work, sizes: IntArray, machine: Machine) -> IntArray:
    """Cycles of a vertex for each of ``sizes``.

    Args:
        sizes: iterations of every loop of the op, shape ``(..., loops)``; whatever a planner wants to compare.

    Returns:
        an array of the leading shape.
    """

    def size(loops: Loops) -> IntArray:
        return product_over(sizes, loops)

    def last(loops: Loops) -> Size:
        """The size of the innermost one."""
        return sizes[..., loops[-1]] if loops else 1

    match work:
        case Contraction():
            cycles = _contraction_cycles(work, size, last, machine) + _preparation_cycles(work, size, machine)
        case Elementwise():
            cycles = _elementwise_cycles(work, sizes, machine)
        case Reduction():
            cycles = _reduction_cycles(work, size, last, machine)
        case Window():
            positions, channels, window = size(work.positions), size(work.channels), size(work.window)
            cycles = pool_cycles(work.kind, positions, channels, window, work.dtype, machine)
        case Gather():
            cycles = _gather_cycles(work, size, machine)
        case CodeletCall():
            cycles = work.codelet.cycles(work, sizes, machine)
        case Move():
            move = {"fill": moves.fill_cycles, "copy": moves.copy_cycles, "transpose": moves.transpose_cycles}[
                work.kind
            ]
            cycles = move(size(work.loops), work.dtype, machine)
    return np.broadcast_to(np.asarray(cycles, dtype=np.int64), sizes.shape[:-1])


def cycles_within(work: Work, sizes: IntArray, machine: Machine) -> IntArray:
    """Cycles of ``work`` for each of ``sizes`` where a vertex does it among other work, say in a loop.

    The workers share it as in a vertex of its own, which is started already; or one of them does it alone, while others
    wait, so that it need not be shared out. What that one takes besides the instructions of the loops of ``work`` is
    assumed: addresses and a branch each time, and a load or a store for each operand of an element.

    >>> from ipu_mlir.dialects.costs.elementwise import ScalarOp, Shape
    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> add = Elementwise((ScalarOp(Shape.BINARY, "add", "f32"),), operands=3)
    >>> sizes = np.array([[1], [4], [1000]])
    >>> cycles_of(add, sizes, IPU2).tolist(), cycles_within(add, sizes, IPU2).tolist()
    ([203, 203, 1697], [30, 72, 1697])
    """

    def size(loops: Loops) -> IntArray:
        return product_over(sizes, loops)

    n, together = size(tuple(range(sizes.shape[-1]))), cycles_of(work, sizes, machine)
    match work:
        case Elementwise():
            alone = loops_cycles(work.ops, n, work.operands, machine)
        case Reduction():
            combine = () if work.combine is None else (work.combine,)
            alone = loops_cycles((*work.before, *combine), n, work.operands, machine)
        case Gather():
            alone = loops_cycles(work.ops, n, 1, machine)
            for slices in work.slices:
                row = size(slices)
                rows = n // larger(row, 1)
                alone = alone + rows * (_MOVED + 2 * double_words(row, work.dtype))
        case Move():
            alone = n * _MOVED
        case Contraction(prepared=()):
            alone = n * (_MOVED + 1)
        case CodeletCall() if work.codelet.alone is not None:
            alone = work.codelet.alone(work, sizes)
        case _:
            return together
    return np.minimum(together, machine.workers * (alone + np.where(n > 1, _AROUND_WORK, _MOVED)))


_MOVED = 2  # instructions that load and store an element
_AROUND_WORK = 6  # instructions for addresses and the branch of a loop


def _contraction_cycles(work: Contraction, size: LoopSize, last: LoopSize, machine: Machine) -> Size:
    """The fastest vertex that can do it; which operand AMP keeps as weights is free where no window moves.

    Only AMP multiplies f8, and that a window moves over f8 there was not read: such factors become f16 first (assumed).
    """
    groups, field, row = size(work.groups), size(work.field), last(work.field)
    outs, ins, kernel = size(work.out_channels), size(work.in_channels), size(work.kernel)
    element = element_type(work.dtype)
    if not element.unit:
        return scalar_mac_cycles(groups * field * outs * ins * kernel, _MAC_CYCLES * element.slowdown, machine)
    if element.unit == "f8":
        factors = groups * (field * ins + ins * outs * kernel)
        as_f16 = _contraction_cycles(replace(work, dtype="f16"), size, last, machine)
        as_f16 = as_f16 + cast_cycles(work.dtype, "f16", factors, machine)
        if work.kernel or not machine.amp_takes_f8:
            return as_f16
        one = amp_1x1_cycles(groups, field, ins, outs, work.dtype, machine)
        return smaller(as_f16, smaller(one, amp_1x1_cycles(groups, outs, ins, field, work.dtype, machine)))
    dtype = element.unit
    best = horizontal_mac_cycles(groups, field, row, ins, outs, kernel, dtype, machine)
    one = amp_1x1_cycles(groups, field, ins, outs, dtype, machine)
    if not work.kernel:
        swapped = amp_1x1_cycles(groups, outs, ins, field, dtype, machine)
        turned = horizontal_mac_cycles(groups, outs, last(work.out_channels), ins, field, kernel, dtype, machine)
        if work.weights == "field":
            return smaller(turned, swapped) + 2 * _turn_cycles(machine)
        if work.weights == "out_channels":
            return smaller(best, one)
        return smaller(smaller(best, turned), smaller(one, swapped))
    best = smaller(best, amp_nx1_cycles(groups, field, row, ins, outs, kernel, dtype, machine))
    for moved in _windows_as_channels(work.kernel):
        channels, rest = ins * size(moved), size(tuple(loop for loop in work.kernel if loop not in moved))
        copied = moves.copy_cycles(groups * field * channels, dtype, machine)
        product = amp_1x1_cycles(groups, field, channels, outs, dtype, machine)
        if len(moved) < len(work.kernel):
            product = choose(
                rest == 1, product, amp_nx1_cycles(groups, field, row, channels, outs, rest, dtype, machine)
            )
        best = smaller(best, choose(size(moved) == 1, product, copied + product))
    if dtype == "f16" and work.slides:
        best = smaller(best, slic_cycles(groups, field, row, ins, outs, kernel, last(work.kernel), machine))
    if dtype == "f16" and not work.in_channels and not work.out_channels:
        best = smaller(best, vertical_mac_cycles(groups, field, kernel, machine))
    return best


def _turn_cycles(machine: Machine) -> Size:
    """A compute set that transposes a few elements: of a factor that moves over the other one, or of the results.

    Where the first factor is kept as weights, both lie the other way round: each tile turns its share, which is small,
    before it sends the one and after it has summed the others (assumed).
    """
    return machine.start_cycles + machine.sync_cycles + moves.transpose_cycles(1, "f32", machine)


def _windows_as_channels(kernel: Loops) -> list[Loops]:
    """The loops of a window that may be input channels instead, of which AMP takes a group at once: some, or all.

    >>> _windows_as_channels((5, 6))
    [(5,), (6,), (5, 6)]
    """
    return [moved for count in range(1, len(kernel) + 1) for moved in combinations(kernel, count)]


def _preparation_cycles(work: Contraction, size: LoopSize, machine: Machine) -> Size:
    """Factors that are computed first are assumed to be, by an element-wise vertex, in memory of the tile."""
    return total(elementwise_cycles(each.ops, size(each.loops), machine) for each in work.prepared)


def _elementwise_cycles(work: Elementwise, sizes: IntArray, machine: Machine) -> Size:
    n = product_over(sizes, range(sizes.shape[-1]))
    if work.broadcast == "scalar":
        return broadcast_scalar_cycles(work.ops[0], n, machine)
    if work.broadcast == "vector":
        columns = sizes[..., -1]
        return broadcast_vector_cycles(work.ops[0], n // larger(columns, 1), columns, machine)
    return elementwise_cycles(work.ops, n, machine, work.in_place, work.operands)


def _reduction_cycles(work: Reduction, size: LoopSize, last: LoopSize, machine: Machine) -> Size:
    """A fast vertex reduces what ``before`` made of the elements; others go through them one by one (assumed)."""
    results, elements = size(work.kept), size(work.reduced)
    share = per_worker(results * elements, machine)
    before = loops_cycles(work.before, share, work.operands, machine)
    if work.combine is None:
        return 11 + machine.workers * (33 + 24 * per_worker(results, machine) + before)
    run = size(work.run) if work.run else last(work.reduced)
    strides = elements // larger(run, 1)
    fast = reduction_cycles(results, run, work.dtype, work.to_dtype, work.continuous, machine, strides)
    if not work.continuous and work.combine.name == "add" and not work.before:
        sums = sum_of_rows_cycles(results, elements, work.dtype, work.to_dtype, machine)
        fast = choose(strides == 1, smaller(fast, sums), fast)
    return fast + machine.workers * before


def _gather_cycles(work: Gather, size: LoopSize, machine: Machine) -> Size:
    n = size(work.loops)
    cycles: Size = elementwise_cycles(work.ops, n, machine) if work.ops else 0
    for slices in work.slices:
        row = size(slices)
        cycles = cycles + moves.multi_slice_cycles(n // larger(row, 1), row, work.dtype, machine)
    return cycles
