"""``ipu-recompute``: what waits where a block holds the most is computed again instead."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.analysis.control_flow import is_loop
from ipu_mlir.dialects.attributes.attributes import mapping_from_attr, module_target
from ipu_mlir.dialects.ipu import BarrierOp
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.autodiff.stored_values import is_pure
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.core.pipeline_text import PipelineError
from ipu_mlir.passes.pipelining.minimum_cut import bounded_cut
from ipu_mlir.passes.pipelining.split_stages import bytes_of, is_fill, work_of
from ipu_mlir.passes.support.clone import Known, clone_into, operands_from_outside, read_from
from ipu_mlir.passes.support.rewriting import list_ops

_VIEWS = ("tensor.expand_shape", "tensor.collapse_shape", "tensor.cast")
_TRIED = ((1, 1.0), (1, 0.5), (1, 0.25), *((parts, 1.0) for parts in (2, 3, 4, 6, 8, 12, 16)))
"""Into how many parts what comes before the peak is cut, and how much of the cycles that may be spent is spent."""


@dataclass(frozen=True)
class Recompute(Pass):
    """Compute again what waits where a block of ops holds the most bytes, as far as a bound of cycles allows it.

    In a block that computes a gradient that is where its forward part ends. The values that the rest of the block
    reads are cut: those of least bytes are stored, and from them the others are computed again, behind
    ``ipu.barrier``, each before the first op that reads it. To that end what comes before is also cut into parts
    that are computed again one by one, from what goes from part to part. Of the cuts the one is taken after which the
    block holds least. Ops with effects are never run again.

    Options:
        cycles: the most that is computed again, as a share of the cycles of what comes before that place, by the work
            of the ops; 0, nothing, by default.

    Of placed tensors only copies are made again: where a copy of a tensor on other tiles would wait, the tensor is
    copied once more, as often as that helps; there are no barriers then.

    Needs:  functions whose variables are arguments, element-wise ops fused, and ``ipu-drop-barriers`` afterwards; or
            placed tensors (``ipu-place-tensors``), which ``cse`` does not see any more.
    Leaves: the same values, and no block that holds more at its peak than before.
    """

    name = "ipu-recompute"

    cycles: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.cycles < float("inf"):
            raise PipelineError(
                f"pass '{self.name}' has cycles={self.cycles}; it is a share of cycles, a number from 0 on"
            )

    def run(self, module: ir.Operation) -> None:
        if self.cycles == 0:
            return
        for op in list_ops(module):
            if op.name == "func.func" or is_loop(op):
                for block in (each for region in op.regions for each in region.blocks):
                    if _is_placed(block):
                        while _copy_again(block):
                            pass
                    else:
                        _compute_again(block, self.cycles)


class Row(NamedTuple):
    """An op as far as storing goes: the values that it reads, those that it gives, its cycles.

    ``may_run_again`` says whether it may, ``is_view`` whether what it gives is stored where its operand is.
    """

    reads: tuple[object, ...]
    gives: tuple[object, ...]
    cycles: int = 0
    may_run_again: bool = True
    is_view: bool = False


class Step(NamedTuple):
    """The op of a number, as the program has it or run again."""

    row: int
    again: bool = False


def choose(rows: Sequence[Row], sizes: Mapping[object, int], share: float) -> list[Step] | None:
    """The steps of least peak for ``rows``, the last of which is the terminator; None if none has less than they have.

    Args:
        rows: the ops of a block.
        sizes: bytes of the values that they give; what others read is there in any case.
        share: of the cycles before the peak, which may be spent once more.

    >>> rows = [Row(("x",), ("a",), 9), Row(("a",), ("b",), 1), Row(("b",), ("c",), 9), Row(("c",), ("d",), 9)]
    >>> rows += [Row(("d", "b"), ("e",)), Row(("e", "a"), ("f",)), Row(("f",), ())]
    >>> found = choose(rows, {"a": 8, "b": 8, "c": 8, "d": 8, "e": 0, "f": 0}, 0.1)
    >>> [f"{row}{'again' if again else ''}" for row, again in found]
    ['0', '1', '2', '3', '1again', '4', '5', '6']
    """
    held = _held(rows, sizes, frozenset(), [Step(number) for number in range(len(rows))])
    end = held.index(max(held)) + 1
    made = {value: number for number, row in enumerate(rows[:end]) for value in row.gives}
    needed = list(dict.fromkeys(value for row in rows[end:] for value in row.reads if value in made))
    most = int(share * sum(row.cycles for row in rows[:end]))
    all_sizes = {value: 0 for row in rows[:end] for value in row.reads if value not in made}
    all_sizes |= {value: 1 if rows[made[value]].is_view else sizes[value] for value in made}
    best, least = None, (max(held), sum(row.cycles for row in rows))
    given = [value for value in all_sizes if value not in made]
    tried: set[frozenset[object]] = set()
    for parts, some in _TRIED if share else _TRIED[:1]:  # without a share, only what costs nothing runs again
        fixed = _between(rows[:end], sizes, made, parts)
        made_from = {
            value: rows[number].reads
            for value, number in made.items()
            if rows[number].may_run_again and value not in fixed
        }
        cycles = {value: -(-rows[made[value]].cycles // len(rows[made[value]].gives)) for value in made_from}
        stored = frozenset(bounded_cut(all_sizes, made_from, given, needed, cycles, int(some * most)))
        if stored in tried:
            continue
        tried.add(stored)
        steps = _steps(rows, end, made, stored)
        spent = max(_held(rows, sizes, stored, steps)), sum(rows[step.row].cycles for step in steps)
        if spent < least:
            best, least = steps, spent
    return best


def _between(
    rows: Sequence[Row], sizes: Mapping[object, int], made: Mapping[object, int], parts: int
) -> frozenset[object]:
    """What goes between parts of ``rows``, which are cut into parts of about the same bytes where the least does."""
    last = {value: number for number, row in enumerate(rows) for value in row.reads}
    over = [0] * (len(rows) + 1)
    total, upto = 0, [0]
    for number, row in enumerate(rows):
        for value in row.gives:
            for later in range(number + 1, last.get(value, number) + 1):
                over[later] += sizes[value]
            total += sizes[value]
        upto.append(total)
    found: set[object] = set()
    for part in range(1, parts):
        near = [n for n in range(1, len(rows)) if abs(upto[n] * parts - part * total) * 2 <= total]
        if near:
            cut = min(near, key=lambda n: (over[n], abs(upto[n] * parts - part * total)))
            found.update(v for v, n in made.items() if n < cut <= last.get(v, n) and rows[n].reads)
    return frozenset(found)


def _steps(rows: Sequence[Row], end: int, made: Mapping[object, int], stored: frozenset[object]) -> list[Step]:
    """The rows, and what is computed again from ``stored``, before the first row behind ``end`` that reads it."""
    after: list[Step] = []
    known: set[int] = set()
    read: set[object] = set()  # of what comes before ``end``

    def bring(number: int) -> None:
        """Compute again what row ``number`` reads and nobody stores."""
        for value in rows[number].reads:
            if value in made and value not in stored and made[value] not in known:
                bring(made[value])
                known.add(made[value])
                after.append(Step(made[value], again=True))
        read.update(value for value in rows[number].reads if made.get(value) not in known)

    for number in range(end, len(rows)):
        bring(number)
        after.append(Step(number))
    before: list[Step] = []
    for number in reversed(range(end)):
        if not rows[number].may_run_again or not rows[number].gives or not read.isdisjoint(rows[number].gives):
            read.update(rows[number].reads)
            before.insert(0, Step(number))
    return before + after


def _held(
    rows: Sequence[Row], sizes: Mapping[object, int], stored: frozenset[object], steps: Sequence[Step]
) -> list[int]:
    """The bytes of values that are there in each step."""
    again: set[object] = set()
    roots: dict[object, object] = {}
    born: dict[object, int] = {}
    died: dict[object, int] = {}
    weights: dict[object, int] = {}
    end = next((n for n, step in enumerate(steps) if step.again), len(steps))
    for now, step in enumerate(steps):
        row = rows[step.row]
        reads = [("again", value) if now >= end and value in again else value for value in row.reads]
        for value in reads:
            died[roots.get(value, value)] = now
        for value in row.gives:
            if step.again:
                again.add(value)
            name = ("again", value) if step.again else value
            if row.is_view and reads:
                roots[name] = roots.get(reads[0], reads[0])
            else:
                born[name], died[name], weights[name] = now, now, sizes[value]
    change = [0] * (len(steps) + 1)
    for name, now in born.items():
        change[now] += weights[name]
        change[died[name] + 1] -= weights[name]
    held, total = [], 0
    for each in change[:-1]:
        total += each
        held.append(total)
    return held


def _is_placed(block: ir.Block) -> bool:
    values = (value for op in block.operations for value in op.operation.results)
    return any(isinstance(each.type, ir.RankedTensorType) and each.type.encoding is not None for each in values)


def _compute_again(block: ir.Block, share: float) -> None:
    """Compute ops again that no pass has placed."""
    ops = [each.operation for each in block.operations]
    machine = machine_of(module_target(ops[0]))
    rows = [_row(op, work_of(op, machine), is_pure(op)) for op in ops]
    there = set(ops[-1].operands)  # results take the place of arguments, or one that is there in any case
    sizes = {
        value: 0 if is_fill(op) or value in there else bytes_of(value)
        for op in ops
        for value in op.results
        if _is_sized(value)
    }
    found = choose(rows, defaultdict(int, sizes), share)
    if found is not None:
        _rewrite(ops, found, lambda value, at: BarrierOp(source=value, anew=value.type, loc=at).anew)


def _copy_again(block: ir.Block) -> bool:
    """Copy once more, from where they are stored, tensors that wait where they were read; True if there are any."""
    ops = [each.operation for each in block.operations]
    rows = [_row(op, 0, _is_copy(op)) for op in ops]
    sizes = {
        value: 0 if is_fill(op) else _largest_bytes(value.type)
        for op in ops
        for value in op.results
        if _is_sized(value)
    }
    found = choose(rows, defaultdict(int, sizes), 0)
    if found is not None:
        _rewrite(ops, found, lambda value, at: value)
    return found is not None


def _row(op: ir.Operation, cycles: int, may_run_again: bool) -> Row:
    is_view = op.name in _VIEWS and not _is_copy(op)
    return Row(tuple(dict.fromkeys(operands_from_outside(op))), tuple(op.results), cycles, may_run_again, is_view)


def _is_copy(op: ir.Operation) -> bool:
    return op.name == "tensor.cast" and op.operands[0].type.encoding != op.results[0].type.encoding


def _largest_bytes(kind: ir.RankedTensorType) -> int:
    """Of a placed tensor, on the tile that has most of it."""
    if kind.encoding is None:
        return 0
    _, elements = mapping_from_attr(kind.encoding).elements_per_tile()
    return int(elements.max(initial=0)) * element_bytes(kind.element_type)


def _rewrite(ops: list[ir.Operation], steps: list[Step], barrier: Callable[[ir.Value, ir.Location], ir.Value]) -> None:
    """Run ``steps`` in the place of ``ops``, and what runs again from operands behind ``barrier``."""
    known: Known = {}  # what is computed again
    anew: Known = {}  # what it is computed from
    waiting: list[ir.Operation] = []
    unread = set(range(len(ops))) - {step.row for step in steps if not step.again}
    for step in steps:
        if step.again:
            waiting.append(ops[step.row])
            continue
        with ir.InsertionPoint(ops[step.row]):
            for op in waiting:
                for value in operands_from_outside(op):
                    if value not in known and value not in anew and _is_sized(value):
                        anew[value] = barrier(value, op.location)
                known |= dict(zip(op.results, clone_into(op, anew | known).results, strict=True))
        waiting.clear()
        read_from(ops[step.row], known)
    for number in sorted(unread, reverse=True):
        ops[number].erase()


def _is_sized(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType) and value.type.has_static_shape
