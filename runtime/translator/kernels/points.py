"""The points of a loop nest: where each access lies in memory, and what expressions are there."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.scalar.code import I32, I64, LANES, NoKernel, Value, type_text
from ipu_mlir.runtime.translator.kernels.scalar.numpy_functions import apply_call
from ipu_mlir.runtime.translator.statements.access import Access, merged_loops
from ipu_mlir.runtime.translator.statements.expression import Apply, Const, Expression, Gather, LoopNumber, Read

_FEW_APART = 16
"""Elements from one lane to the next up to which loading all and taking some beats loading each."""


@dataclass(frozen=True)
class Cut:
    """The part of a nest that is done at a time: ``units`` from ``start`` on, each with ``size`` points of ``loop``.

    In scratch memory, which is for one block, they are ``first`` units from the beginning.
    """

    loop: int
    size: int
    start: str
    units: str
    first: str


@dataclass
class Points:
    """The points of loops of ``extents``; those that act as one in all of ``accesses`` are one axis.

    Attributes:
        axes: runs of loops, outermost first.
        vector_axis: the axis of which several points are computed at once, as the lanes of vectors.
        at: the number of the point at hand, per axis.
        mask: the lanes that have a point; None for all of them.
        begin: what is added to the place of what is written.
    """

    function: Function
    extents: tuple[int, ...]
    axes: list[list[int]]
    cut: Cut | None = None
    vector_axis: int | None = None
    at: dict[int, str] = field(default_factory=dict)
    mask: Value | None = None
    begin: str | None = None

    @staticmethod
    def over(
        function: Function,
        extents: tuple[int, ...],
        accesses: Sequence[Access],
        kinds: Sequence[object] | None = None,
        cut: Cut | None = None,
    ) -> "Points":
        """Loops of different ``kinds`` are apart."""
        strides = [access.strides for access in accesses]
        axes = merged_loops(extents, strides, kinds or [0] * len(extents), cut.loop if cut else None)
        return Points(function, extents, axes, cut)

    def count(self, axis: int) -> int | str:
        """The number of points of ``axis``: an i64 where it is cut."""
        loops = self.axes[axis]
        if self.cut is None or loops[0] != self.cut.loop:
            return prod(self.extents[loop] for loop in loops)
        inner = self.cut.size * prod(self.extents[loop] for loop in loops[1:])
        return self.function.times(self.cut.units, inner) or ""

    def known_count(self, axis: int) -> int:
        """The number of points of ``axis`` in all."""
        return prod(self.extents[loop] for loop in self.axes[axis])

    @contextmanager
    def loops(self, axes: Sequence[int]) -> Iterator[None]:
        """What is done at each point of ``axes``."""
        with ExitStack() as stack:
            for axis in axes:
                self.at[axis] = stack.enter_context(self.function.loop(self.count(axis)))
            yield
        for axis in axes:
            self.at.pop(axis)

    def stride(self, access: Access, axis: int) -> int:
        """How far the next point of ``axis`` is where all of the buffer is in memory; addresses take ``step``."""
        return access.strides[self.axes[axis][-1]]

    def depth(self, node: Expression, depths: dict[int, int]) -> int:
        """The number of axes that have to be known for ``node``; ``depths`` has those of its arguments."""
        match node:
            case Read():
                return self._depth_of(node.access)
            case Gather():
                return max(self._depth_of(node.access), depths[id(node.index)])
            case Apply():
                return max((depths[id(arg)] for arg in node.args), default=0)
        return 0

    def _depth_of(self, access: Access) -> int:
        return max((axis + 1 for axis in range(len(self.axes)) if self.stride(access, axis)), default=0)

    # -- values

    def value(self, node: Expression, values: dict[int, Value]) -> Value:
        """The value of ``node`` at the point at hand; ``values`` has its arguments."""
        ops = self.function.ops
        match node:
            case Const():
                return ops.code.constant(node.value, node.dtype)
            case LoopNumber():
                return self._number(node)
            case Read():
                return self.load(node.access, node.dtype)
            case Gather():
                return self._gathered(node, values[id(node.index)])
            case Apply():
                return apply_call(ops, node.call, node.dtype, [values[id(arg)] for arg in node.args])
        raise NoKernel(f"{type(node).__name__} has no form in kernels")

    def _number(self, node: LoopNumber) -> Value:
        number = self.function.number(node.buffer)
        if node.offset:
            number = self.function.plus(number, self.function.code.index(node.offset)) or ""
        return self.function.ops.cast(Value(number, I64), node.dtype)

    def _gathered(self, node: Gather, index: Value) -> Value:
        """The element that ``index`` names, or the nearest inside."""
        ops = self.function.ops
        if index.dtype.kind not in "iu":
            raise NoKernel("an index is an integer")
        wide = ops.cast(index, I64) if index.dtype.itemsize < 8 or index.dtype == I64 else None
        if wide is None:
            raise NoKernel("an index has a sign")
        low = ops.op("arith.maxsi", wide, ops.constant(0, wide))
        inside = ops.op("arith.minsi", low, ops.constant(node.limit - 1, wide))
        if node.stride != 1:
            inside = ops.op("arith.muli", inside, ops.constant(node.stride, inside))
        return self.load(node.access, node.dtype, inside)

    # -- memory

    def load(self, access: Access, dtype: np.dtype, index: Value | None = None) -> Value:
        """The element that ``access`` names, ``index`` elements further on."""
        function = self.function
        pointer, place = function.pointer(access.buffer), self.place(access)
        if index is not None and index.lanes == 1:
            place, index = function.plus(place, index.name), None
        place = place or function.code.index(0)
        step = 0 if self.vector_axis is None else self.step(access, self.vector_axis)
        known = self.vector_axis is not None and self.vector_axis in self.at
        if index is None and (step == 0 or not known):
            return function.load(pointer, place, dtype)
        if index is None and step == 1:
            return function.load(pointer, place, dtype, LANES, self.mask)
        ops = function.ops
        is_wide = index is None and self.mask is None and dtype.itemsize >= 4
        if is_wide and step == 2 and self._is_part(access):
            begin = replace(access, offset=access.offset - access.offset % 2)
            place = self.place(begin) or function.code.index(0)
            after = function.plus(place, function.code.index(LANES)) or place
            low, high = (function.load(pointer, at, dtype, LANES) for at in (place, after))
            return ops.every_other(low, high, access.offset % 2)
        if is_wide and 0 < abs(step) <= _FEW_APART:
            if step > 0:
                return function.load_apart(pointer, place, dtype, step)
            last = function.plus(place, function.code.index((LANES - 1) * step)) or function.code.index(0)
            return ops.reversed(function.load_apart(pointer, last, dtype, -step))
        is_narrow = index is None and abs(step) * LANES <= np.iinfo(np.int32).max
        kind = I32 if is_narrow else I64  # that are known, and take half the instructions
        dense = ", ".join(str(step * lane) for lane in range(LANES))
        lanes = Value(function.code.first(f"arith.constant dense<[{dense}]> : {type_text(kind, LANES)}"), kind, LANES)
        if index is not None:
            lanes = ops.op("arith.addi", lanes, index) if step else index
        return function.gather(pointer, lanes, dtype, self.mask, place)

    def _is_part(self, access: Access) -> bool:
        """True of parts of pairs, both of which lie in memory, as those of complex numbers."""
        is_even = access.buffer.elements % 2 == 0 and not any(stride % 2 for stride in access.strides)
        return is_even and self.function.in_scratch(access.buffer) is None

    def store(self, access: Access, value: Value, between: Value | None = None) -> None:
        """Write ``value`` where ``access`` says, and what is to be ``between`` its lanes if these are two apart."""
        function, ops = self.function, self.function.ops
        lanes = 1 if self.vector_axis is None or not self.stride(access, self.vector_axis) else LANES
        apart = 1 if between is None else 2
        assert lanes == 1 or self.stride(access, self.vector_axis or 0) == apart, "lanes are stored side by side"
        place = function.plus(self.begin, self.place(access)) or function.code.index(0)
        mask = self.mask if lanes > 1 else None
        is_streamed = lanes > 1 and function.place(access.buffer) in function.streamed
        wide = ops.wide(value, lanes)
        pointer = function.pointer(access.buffer)
        if between is None:
            function.store(pointer, place, wide, mask, is_streamed)
            return
        halves = ops.alternating(wide, ops.wide(between, lanes))
        for half, held in zip(halves, ops.alternating(mask, mask) if mask else (None, None), strict=True):
            function.store(pointer, place, half, held, is_streamed)
            place = function.plus(place, function.code.index(lanes)) or place

    def place(self, access: Access) -> str | None:
        """The number of the element that ``access`` names: of the first lane."""
        function, cut = self.function, self.cut
        total: str | None = None
        turn, turn_in_block = self._turns(access)
        if cut is not None:
            held = function.in_scratch(access.buffer)
            if held is not None:
                function.hold_in_scratch(access.buffer, -(-access.buffer.elements // turn) * turn_in_block)
            total = function.times(cut.start if held is None else cut.first, cut.size * access.strides[cut.loop])
        for axis, number in self.at.items():
            total = function.plus(total, function.times(number, self.step(access, axis)))
        turns, rest = divmod(function.offset(access), turn)
        offset = turns * turn_in_block + rest
        return function.plus(total, function.code.index(offset) if offset else None)

    def step(self, access: Access, axis: int) -> int:
        """How far the next point of ``axis`` is in memory."""
        turn, turn_in_block = self._turns(access)
        step = self.stride(access, axis)
        if step % turn == 0 and (self.cut is None or self.axes[axis][0] != self.cut.loop):
            return step // turn * turn_in_block
        return step

    def _turns(self, access: Access) -> tuple[int, int]:
        """Elements of all units, and of one block where there is only one in memory."""
        held = None if self.cut is None else self.function.in_scratch(access.buffer)
        if held is None or self.cut is None:
            return 1, 1
        unit = self.cut.size * access.strides[self.cut.loop]
        return held[0] * unit, held[1] * unit
