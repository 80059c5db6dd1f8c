"""``ipu-order-supersteps``: where memory is short, an order of supersteps in which less of it is taken at one time."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from ipu_mlir.dialects.analysis.buffers import roots_of
from ipu_mlir.dialects.analysis.control_flow import CONTROL_OPS, blocks_of, is_loop, is_terminator
from ipu_mlir.dialects.analysis.effects import NO_EFFECTS, effects_of
from ipu_mlir.dialects.analysis.matchers import block_of, defining_op, symbol_of
from ipu_mlir.dialects.analysis.shards import LINKS
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.memory.bound import data_bound
from ipu_mlir.dialects.memory.buffer_bytes import BufferSizes
from ipu_mlir.dialects.memory.report import PEAK_AS_WRITTEN, memory_report
from ipu_mlir.dialects.memory.resident import entries_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.supersteps.least_peak import Buffer, least_peak_order
from ipu_mlir.passes.supersteps.merge_compute_sets import MergeComputeSets
from ipu_mlir.passes.support.rewriting import list_ops

_DATA = 0.5
"""Where data take less than this share of the memory, no order makes up for the code: to ask for it takes longer."""

_IN_FRONT = ("arith.constant", "memref.get_global")


@dataclass(frozen=True)
class OrderSupersteps(Pass):
    """Where memory is short, run supersteps in an order in which less of the fullest tile is taken at one time.

    The supersteps are those of before; all that may be lost are syncs of compute sets that no longer stand where they
    could be one. None passes what waits for the host or for another IPU, nor loops, branches and calls; blocks of those
    have an order of their own. A buffer is allocated just before the first step that touches it.

    Needs:  supersteps (``ipu-form-supersteps``), before compute sets are merged (``ipu-merge-compute-sets``).
    Leaves: an order with which functions that need more than ``over`` of a tile need fewer bytes of the fullest
            one, in ``ipu.peak_as_written`` those that it was before; other functions, and targets with I/O tiles, whose
            work at the same time follows from the order, as they were.
    """

    name = "ipu-order-supersteps"

    over: float = 0.9

    def run(self, module: ir.Operation) -> None:
        target = module_target(module)
        most, sizes = self.over * target.bytes_per_tile, BufferSizes(target.num_tiles)
        allocated = sum(_bytes(sizes, op.results[0]) for op in list_ops(module, "memref.alloc"))
        if target.io_tiles or allocated < most * _DATA / 2:  # the other half may be arguments
            return
        entries = [symbol_of(each) for each in entries_of(module)]
        short = [each for each in entries if data_bound(module, each) > most * _DATA]
        if not short:
            return
        before = _peaks(module, short)
        if max(before.values()) <= most:
            return
        blocks = [block for op in list_ops(module, "func.func", *CONTROL_OPS) for block in blocks_of(op)]
        orders = [[op.operation for op in block.operations] for block in blocks]
        better = [_better_order(block, ops, sizes) for block, ops in zip(blocks, orders, strict=True)]
        if better == orders:
            return
        for ops in better:
            _arrange(ops)
        after = _peaks(module, short)
        if max(after.values()) >= max(before.values()) or any(after[each] > before[each] for each in short):
            for ops in orders:
                _arrange(ops)
            return
        with module.context:
            for function in entries_of(module):
                if symbol_of(function) in short:
                    size = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), before[symbol_of(function)])
                    function.attributes[PEAK_AS_WRITTEN] = size


def _peaks(module: ir.Operation, entries: Iterable[str]) -> dict[str, int]:
    """The bytes of the fullest tile once compute sets are merged, which takes buffers along."""
    merged = module.clone()
    MergeComputeSets().run(merged)
    return {each: memory_report(merged, each).peak.largest() for each in entries}


def _arrange(ops: list[ir.Operation]) -> None:
    """Let the ops of a block, all but the last, stand in this order before the last one."""
    *moved, end = ops
    for op in moved:
        op.move_before(end)


def _better_order(block: ir.Block, ops: list[ir.Operation], sizes: BufferSizes) -> list[ir.Operation]:
    """The ``ops`` of ``block``, as they are where no other order is better."""
    tasks = [op for op in ops if not _is_aside(op)]
    touched = [_touched(op) for op in tasks]
    uses = _users(touched)
    order: list[int] = []
    for is_fixed, group in groupby(range(len(tasks)), lambda place: _is_fixed(tasks[place])):
        places = list(group)
        if is_fixed or len(places) == 1:
            order += places
            continue
        first, last = places[0], places[-1]
        here = touched[first : last + 1]
        users = _users(here)
        buffers = [
            Buffer(
                _bytes(sizes, root),
                tuple(users[root]),
                is_given=uses[root][0] < first or defining_op(root) is None,
                is_kept=uses[root][-1] > last,
            )
            for root in users
            if _is_own(root, block)
        ]
        carriers = [place - first for place in places if tasks[place].name == "ipu.exchange"]
        order += [first + each for each in least_peak_order(_dependences(here), buffers, carriers)]
    return ops if order == list(range(len(tasks))) else _with_asides(ops, [tasks[place] for place in order])


def _is_aside(op: ir.Operation) -> bool:
    """True if ``op`` only allocates, shows or names, and may stand wherever its operands are."""
    return effects_of(op) == NO_EFFECTS or op.name.startswith("arith.")


def _is_fixed(op: ir.Operation) -> bool:
    effects = effects_of(op)
    return effects is None or not effects.is_free_to_move or LINKS in op.attributes or is_terminator(op)


_Touched = tuple[set[ir.Value], set[ir.Value]]
"""The allocations that an op reads or uses otherwise, and those that it writes."""


def _touched(op: ir.Operation) -> _Touched:
    effects = effects_of(op)
    if effects is not None and effects.is_free_to_move:
        reads, writes = set[ir.Value](), set[ir.Value]()
        for value, is_written in effects.touches(op):
            (writes if is_written else reads).update(roots_of(value))
        return reads, writes
    used = {value for each in list_ops(op) for value in each.operands if isinstance(value.type, ir.MemRefType)}
    return set().union(*map(roots_of, used)), set()


def _users(touched: list[_Touched]) -> dict[ir.Value, list[int]]:
    """By allocation, the places of the ops that touch it."""
    users: dict[ir.Value, list[int]] = {}
    for place, (reads, writes) in enumerate(touched):
        for root in {**dict.fromkeys(reads), **dict.fromkeys(writes)}:
            users.setdefault(root, []).append(place)
    return users


def _is_own(root: ir.Value, block: ir.Block) -> bool:
    """True if ``root`` is a buffer that begins in ``block``, or that a loop carries into it."""
    if block_of(root) != block:
        return False
    op = defining_op(root)
    return op.name == "memref.alloc" if op is not None else is_loop(block.owner.operation)


def _bytes(sizes: BufferSizes, root: ir.Value) -> int:
    found = sizes.of(root.type)
    return found.data.largest() + found.gaps.largest()


def _dependences(touched: list[_Touched]) -> list[set[int]]:
    """For each op the places of those before it that it has to follow."""
    after: list[set[int]] = []
    written: dict[ir.Value, int] = {}
    read: dict[ir.Value, list[int]] = {}
    for place, (reads, writes) in enumerate(touched):
        needs = {written[root] for root in reads | writes if root in written}
        needs.update(reader for root in writes for reader in read.get(root, ()))
        for root in reads - writes:
            read.setdefault(root, []).append(place)
        for root in writes:
            written[root], read[root] = place, []
        after.append(needs)
    return after


def _with_asides(ops: list[ir.Operation], tasks: list[ir.Operation]) -> list[ir.Operation]:
    """``tasks``, each behind what it needs of the other ``ops`` and what is not there yet; constants in front."""
    found = [op for op in ops if op.name in _IN_FRONT]
    waiting = [op for op in ops if _is_aside(op) and op.name not in _IN_FRONT]
    missing = set(waiting)

    def bring(op: ir.Operation) -> None:
        for each in list_ops(op):
            for value in each.operands:
                needed = defining_op(value)
                if needed is not None and needed in missing:
                    missing.remove(needed)
                    bring(needed)
                    found.append(needed)

    *others, end = tasks
    for op in others:
        bring(op)
        found.append(op)
    return [*found, *(op for op in waiting if op in missing), end]
