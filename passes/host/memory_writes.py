"""Where a function on buffers writes to memory: which values may be one memory, and which ops write to it."""

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from ipu_mlir.dialects.analysis.buffers import VIEW_OPS, root_of
from ipu_mlir.dialects.analysis.control_flow import control_op, flows, is_terminator
from ipu_mlir.dialects.analysis.loop_nest import is_structured, num_outputs
from ipu_mlir.dialects.analysis.matchers import around_in, block_of, defining_op, ops_around
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.support.rewriting import list_outside_bodies

_ALLOCATIONS = frozenset(("memref.alloc", "memref.alloca", "memref.get_global"))
_WRITE_NOTHING = VIEW_OPS | _ALLOCATIONS | {"memref.transpose", "memref.load", "arith.select"}


Writer = tuple[ir.Operation, ir.Value]
"""An op, and the buffer that it writes to."""


class MemoryWrites:
    """Memory and its writers, where all that is not known for certain is one memory, and written to."""

    def __init__(self, function: ir.Operation) -> None:
        self._numbers: dict[ir.Value, int] = {}
        self._same: list[int] = []  # per number, a lower one that stands for the same memory, or itself
        self._writers: dict[int, list[Writer]] = defaultdict(list)
        """Per memory, in program order."""
        self._in_blocks: dict[int, dict[ir.Block, list[Writer]]] = {}
        """The same per block, with the op of the block that the writer is or stands in."""
        ops = list_outside_bodies(function)
        if "sym_visibility" in function.attributes:  # who calls it may give it one buffer twice
            self._unite(_buffers(function.regions[0].blocks[0].arguments))
        for op in ops:
            self._unite_names(op)
        for op in ops:
            for value in _written_by(op):
                self._writers[self._memory(value)].append((op, value))

    def between(self, value: ir.Value, after: ir.Operation, until: ir.Operation) -> bool:
        """True if an op after ``after``, up to ``until`` in the same block, may write to the memory of ``value``."""
        writers = self._writers_in(self._memory(value), after.block)
        for op, written in islice(
            writers, bisect(writers, False, key=lambda each: after.is_before_in_block(each[0])), None
        ):
            if until.is_before_in_block(op):
                return False
            one, other = root_of(value), root_of(written)
            if not (_is_older(one, other) or _is_older(other, one)):
                return True
        return False

    def _writers_in(self, memory: int, block: ir.Block) -> list[Writer]:
        if memory not in self._in_blocks:
            found = self._in_blocks[memory] = defaultdict(list)
            for writer, written in self._writers.get(memory, ()):
                for around in ops_around(writer):
                    found[around.block].append((around, written))
        return self._in_blocks[memory].get(block, [])

    def is_one(self, value: ir.Value, other: ir.Value) -> bool:
        """True if both may be views of one memory."""
        return self._memory(value) == self._memory(other)

    def names(self, value: ir.Value) -> list[ir.Value]:
        """Every value that may be a view of the memory of ``value``."""
        memory = self._memory(value)
        return [each for each in self._numbers if self._memory(each) == memory]

    def forward(self, copy: ir.Value, source: ir.Value) -> None:
        """The views of ``copy``, which goes away with all that wrote to it, are views of ``source``."""
        number = self._memory(copy)
        self._writers.pop(number, None)
        self._in_blocks.pop(number, None)
        self._same[number] = self._memory(source)
        del self._numbers[copy]

    def replace_writer(self, value: ir.Value, old: ir.Operation, new: Iterable[ir.Operation]) -> None:
        """All of ``new`` stand where ``old`` stood, which goes away, and write to ``value`` in its place."""
        writers = self._changed_writers(value)
        at = [op for op, _ in writers].index(old)
        writers[at : at + 1] = [(op, value) for op in new]

    def erase_writer(self, value: ir.Value, old: ir.Operation) -> None:
        """``old``, which wrote to ``value``, goes away."""
        writers = self._changed_writers(value)
        del writers[[op for op, _ in writers].index(old)]

    def add_view(self, view: ir.Value, source: ir.Value) -> None:
        """``view`` is new, and shows memory of ``source``."""
        self._unite([view, source])

    def forget(self, value: ir.Value) -> None:
        """``value`` goes away, and if it is an allocation all that wrote to it."""
        number = self._numbers.pop(value, None)
        if number is not None and defining_op(value, *_ALLOCATIONS) is not None:
            self._writers.pop(number, None)
            self._in_blocks.pop(number, None)

    def _changed_writers(self, value: ir.Value) -> list[Writer]:
        memory = self._memory(value)
        self._in_blocks.pop(memory, None)
        return self._writers[memory]

    def _memory(self, value: ir.Value) -> int:
        number = self._numbers.setdefault(value, len(self._same))
        if number == len(self._same):
            self._same.append(number)
        while (same := self._same[number]) != number:
            number = same
        return number

    def _unite(self, values: Iterable[ir.Value]) -> None:
        memories = set(map(self._memory, values))
        for number in memories:
            self._same[number] = min(memories)
        if len(memories) > 1:
            self._in_blocks.clear()

    def _unite_names(self, op: ir.Operation) -> None:
        """The results of ``op`` and what its blocks get may be the memory of operands."""
        for flow in flows(op):
            for source, target in zip(flow.values(), flow.targets, strict=True):
                if isinstance(target.type, ir.MemRefType):
                    self._unite([source, target])
        if control_op(op) is None and op.name not in _ALLOCATIONS and (results := _buffers(op.results)):
            self._unite([*results, *_buffers(op.operands)])
        if len(op.successors):
            self._unite(_buffers([*op.operands, *(each for block in op.successors for each in block.arguments)]))


def _is_older(value: ir.Value, allocation: ir.Value) -> bool:
    """True if ``value`` has its memory before ``allocation`` is made, as what a loop carries from round to round."""
    made, first = defining_op(allocation, "memref.alloc"), defining_op(value)
    place = None if made is None else around_in(made, block_of(value))
    return place is not None and (first is None or first.is_before_in_block(place))


def _written_by(op: ir.Operation) -> Iterator[ir.Value]:
    """The buffers that ``op`` itself may write to."""
    if is_structured(op):
        yield from list(op.operands)[len(op.operands) - num_outputs(op) :]
    elif op.name in ("memref.copy", "memref.store"):
        yield op.operands[1]
    elif op.name not in _WRITE_NOTHING and control_op(op) is None and not is_terminator(op):
        yield from _buffers(op.operands)


def static_layout(kind: ir.Type) -> tuple[tuple[int, ...], int] | None:
    """Strides and offset of a buffer type; None where they, or the sizes, are not numbers that are known."""
    if not isinstance(kind, ir.MemRefType) or not kind.has_static_shape or 0 in kind.shape:
        return None
    try:
        strides, offset = kind.get_strides_and_offset()
    except RuntimeError:  # an affine map that is no strides
        return None
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    return None if dynamic in (offset, *strides) else (tuple(strides), offset)


def _buffers(values: Iterable[ir.Value]) -> list[ir.Value]:
    return [value for value in values if isinstance(value.type, ir.MemRefType)]
