"""Element-wise bodies as chains of ufuncs with ``out=``.

Each node of a body is computed at the rank that it depends on: a row statistic stays a column. Temporaries are slots
that are reused as soon as their value is dead; the result's own memory is a slot too while nothing reads it.
"""

from collections import Counter
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.runtime.translator.codegen.gather import flattened, source_view, squeezed
from ipu_mlir.runtime.translator.codegen.run_time_slices import index_text, sliced, whole
from ipu_mlir.runtime.translator.codegen.schedule import COPY, Axes, Operand, Schedule, View, template
from ipu_mlir.runtime.translator.statements.access import Access
from ipu_mlir.runtime.translator.statements.expression import (
    Apply,
    Const,
    Expression,
    Gather,
    LoopNumber,
    Read,
    Slice,
    arguments,
    postorder,
    rewrite,
)
from ipu_mlir.runtime.translator.statements.intervals import Ranges
from ipu_mlir.runtime.translator.statements.statements import Elementwise, Origin


@dataclass(eq=False)
class _Slot:
    """Memory for one value at a time; ``uses`` calls still read the value in it."""

    view: View
    axes: frozenset[int]
    uses: int = 0
    is_dest: bool = False

    def holds(self, axes: frozenset[int], dtype: np.dtype[Any]) -> bool:
        """True if such a value fits exactly."""
        return self.axes == axes and self.view.dtype.itemsize == dtype.itemsize


def emit_elementwise(statement: Elementwise, schedule: Schedule) -> None:
    """Append the calls of ``statement``."""
    _Emission(statement.outputs, statement.values, axes_of(statement, schedule), schedule, statement.origin).run()


def axes_of(statement: Elementwise, schedule: Schedule) -> Axes:
    """One axis per loop, in the order of the first result's memory. NumPy itself merges axes that lie together."""
    order = sorted(range(len(statement.extents)), key=lambda loop: (-statement.outputs[0].strides[loop], loop))
    groups = tuple((loop,) for loop in order if statement.extents[loop] > 1)
    return Axes(statement.extents, groups, schedule.block_loop, schedule.block_units)


class _Emission:
    """The state while the calls of one statement are made."""

    def __init__(
        self,
        outputs: tuple[Access, ...],
        values: tuple[Expression, ...],
        axes: Axes,
        schedule: Schedule,
        origin: Origin,
    ) -> None:
        self.outputs, self.axes, self.schedule, self.origin = outputs, axes, schedule, origin
        self.ranges = Ranges(axes.extents)
        self.roots = rewrite([_without_bits(value) for value in values], self._takeable)
        if len(values) > 1:
            self.roots = rewrite(self.roots, lambda node: node)  # slices that begin at one place compute it once
        self.dests = [axes.full_view(out, root.dtype) for out, root in zip(outputs, self.roots, strict=True)]
        self.nodes = postorder(self.roots)
        self.uses: Counter[int] = Counter()
        for node in self.nodes:
            self.uses.update(id(arg) for arg in arguments(node))
        self.uses.update(id(root) for root in self.roots)
        self.operands: dict[int, Operand] = {}
        self.node_axes: dict[int, frozenset[int]] = {}
        self.slots: dict[int, _Slot] = {}
        self.free: list[_Slot] = []
        self.everywhere = frozenset(range(len(axes.groups)))
        self.dest_slot = _Slot(self.dests[0], self.everywhere, is_dest=True)
        self.dest_free = len(outputs) == 1
        self.done: set[int] = set()
        self.near = [  # per output, the reads that may lie where it does
            [
                n
                for n in self.nodes
                if isinstance(n, Read | Gather | Slice) and schedule.same_place(n.access.buffer, out.buffer)
            ]
            for out in outputs
        ]

    def run(self) -> None:
        for node in self.nodes:
            match node:
                case Const() | LoopNumber():
                    self.operands[id(node)], self.node_axes[id(node)] = node, frozenset()
                case Read():
                    view = self.axes.view(node.access, node.dtype)
                    self.operands[id(node)] = view
                    strides = self.axes.strides(node.access)
                    self.node_axes[id(node)] = frozenset(i for i, s in enumerate(strides) if s)
                case Apply(call="bits"):
                    self._reinterpret(node)
                case Apply():
                    self._compute(node)
                case Gather():
                    self._take(node)
                case Slice():
                    self._slice(node)
        self._put(
            [
                index
                for index, root in enumerate(self.roots)
                if id(root) not in self.done or self.operands[id(root)] != self.dests[index]
            ]
        )

    def _put(self, late: list[int]) -> None:
        """Copy these results to where they belong, each of them before something else is written where it lies."""
        sources = {index: self.operands[id(self.roots[index])] for index in late}

        def readers(index: int) -> list[int]:
            place = self.outputs[index].buffer
            return [
                other
                for other, source in sources.items()
                if other != index and isinstance(source, View) and self.schedule.same_place(source.buffer, place)
            ]

        while sources:
            index = next((index for index in sources if not readers(index)), None)
            if index is not None:
                self.schedule.call(COPY, (sources.pop(index),), self.dests[index], self.origin)
                continue
            for other in readers(next(iter(sources))):  # they change places
                root = self.roots[other]
                aside = self._scratch(self.node_axes[id(root)], root.dtype)
                self.schedule.call(COPY, (sources[other],), aside, self.origin)
                sources[other] = aside

    def _reinterpret(self, node: Apply) -> None:
        (arg,) = node.args
        operand = self.operands[id(arg)]
        assert isinstance(operand, View), "the bits of a constant are a constant"
        self.operands[id(node)] = replace(operand, dtype=node.dtype)
        self.node_axes[id(node)] = self.node_axes[id(arg)]
        slot = self.slots.get(id(arg))
        if slot is not None:
            self.slots[id(node)] = slot
            slot.uses += self.uses[id(node)] - 1

    def _takeable(self, node: Expression) -> Expression:
        """A gather in a form that one call can do; the bits of a constant as a constant."""
        if isinstance(node, Apply) and node.call == "bits" and isinstance(node.args[0], Const):
            return Const(node.dtype, np.asarray(node.args[0].value).view(node.dtype)[()])
        found = sliced(node, self.axes, self.ranges) if isinstance(node, Gather) else None
        if found is not None:
            return found
        if isinstance(node, Gather) and source_view(node, self.axes) is None:
            return flattened(node, self.axes.extents)
        return node

    def _compute(self, node: Apply) -> None:
        axes = frozenset().union(*(self.node_axes[id(arg)] for arg in node.args))
        dying = self._consume(node)
        target = self._target(node, axes, dying)
        operands = tuple(self.operands[id(arg)] for arg in node.args)
        text = COPY if node.call == "cast" else template(node.call, len(operands))
        out = replace(target.view, dtype=node.dtype)
        self.schedule.call(text, operands, out, self.origin)
        self._finish(node, axes, target, dying)

    def _take(self, node: Gather) -> None:
        """Elements chosen by an index; ``take`` wants arrays without axes of extent 1."""
        found = source_view(node, self.axes)
        assert found is not None, "gathers were made takeable"
        source, axis = found
        index_axes, rank = self.node_axes[id(node.index)], len(self.axes.groups)
        axes = index_axes | {i for i, s in enumerate(self.axes.strides(node.access)) if s}
        dying = self._consume(node)
        target = self._target(node, axes, [])  # the index must not be overwritten while it is used
        index = self.operands[id(node.index)]
        if isinstance(index, View):
            index = squeezed(index, rank, index_axes)
        out = squeezed(replace(target.view, dtype=node.dtype), rank, axes)
        text = f"{{0}}.take({{1}}, {axis}, {{out}}, 'clip')"
        if isinstance(index, LoopNumber):  # known to lie inside; half the time of take
            text = f"copyto({{out}}, {{0}}[{':, ' * axis}{{1}}], 'unsafe')"
        self.schedule.call(text, (source, index), out, self.origin)
        self._finish(node, axes, target, dying)

    def _slice(self, node: Slice) -> None:
        """A box of an array that begins where only the run knows."""
        axes = frozenset(i for i, s in enumerate(self.axes.strides(node.access)) if s)
        dying = self._consume(node)
        target = self._target(node, axes, [])
        out = squeezed(replace(target.view, dtype=node.dtype), len(self.axes.groups), axes)
        text = f"copyto({{out}}, {{0}}[{index_text(node.starts, node.sizes, node.steps, 1)}], 'unsafe')"
        starts = (self.operands[id(start)] for start in node.starts if not isinstance(start, Const))
        source = replace(whole(node.access.buffer), dtype=node.dtype)
        self.schedule.call(text, (source, *starts), out, self.origin)
        self._finish(node, axes, target, dying)

    def _consume(self, node: Expression) -> list[_Slot]:
        """Count the uses that ``node`` makes of its arguments; the slots that are dead after it."""
        dying = []
        for arg, count in Counter(arguments(node)).items():
            slot = self.slots.get(id(arg))
            self.uses[id(arg)] -= count
            if slot is not None:
                slot.uses -= count
                if slot.uses == 0:
                    dying.append(slot)
        return dying

    def _finish(self, node: Expression, axes: frozenset[int], target: _Slot, dying: list[_Slot]) -> None:
        for slot in dying:
            if slot is not target:
                self._release(slot)
        target.uses = self.uses[id(node)]
        self.slots[id(node)] = target
        self.operands[id(node)] = replace(target.view, dtype=node.dtype)
        self.node_axes[id(node)] = axes
        self.done.add(id(node))

    def _release(self, slot: _Slot) -> None:
        if slot.is_dest:
            self.dest_free = True
        else:
            self.free.append(slot)

    def _target(self, node: Expression, axes: frozenset[int], dying: list[_Slot]) -> _Slot:
        for index, root in enumerate(self.roots):
            if root is node and axes == self.everywhere and self._writable(index, node):
                if self.dests[index] == self.dest_slot.view and len(self.roots) == 1:
                    return self.dest_slot
                return _Slot(self.dests[index], axes, is_dest=True)
        size = node.dtype.itemsize
        for slot in dying:
            if slot.holds(axes, node.dtype):
                return slot
        if (
            self.dest_free
            and axes == self.everywhere
            and self.dests[0].dtype.itemsize == size
            and (axes or self.dests[0].dtype == node.dtype)
            and self._writable(0, node)
        ):
            self.dest_free = False
            return self.dest_slot
        for slot in self.free:
            if slot.holds(axes, node.dtype):
                self.free.remove(slot)
                return slot
        return _Slot(self._scratch(axes, node.dtype), axes)

    def _writable(self, index: int, node: Expression) -> bool:
        """True if nothing that is still to be read lies where output ``index`` does."""
        dest = self.dests[index]
        for read in self.near[index]:
            if isinstance(read, Gather | Slice):
                if id(read) not in self.done:
                    return False
                continue
            if self.uses[id(read)] > 0:
                return False
            if any(arg is read for arg in arguments(node)) and self.axes.full_view(read.access, dest.dtype) != replace(
                dest, buffer=read.access.buffer
            ):
                return False
        return True

    def _scratch(self, axes: frozenset[int], dtype: np.dtype[Any]) -> View:
        shape = [n if i in axes else 1 for i, n in enumerate(self.axes.shape)]
        strides, stride = [0] * len(shape), 1
        for i in reversed(range(len(shape))):
            if i in axes:
                strides[i] = stride
                stride *= shape[i]
        name = f"{self.outputs[0].buffer.name}_{_suffix(axes, len(shape))}"
        buffer = self.schedule.scratch(name, prod(shape), dtype)
        first = min(axes, default=len(shape))
        axis, step = self.axes.block_of(tuple(range(first, len(shape))))
        if axis is not None and first + axis not in axes:
            axis, step = None, 1
        return View(buffer, dtype, 0, tuple(shape[first:]), tuple(strides[first:]), axis, step)


def _suffix(axes: frozenset[int], rank: int) -> str:
    """The end of the name of a temporary: for all axes, or by those that it has."""
    if len(axes) == rank:
        return "tmp"
    if rank - 1 not in axes:
        return "col"
    return "row"


def _without_bits(value: Expression) -> Expression:
    """The value whose bits are stored."""
    while isinstance(value, Apply) and value.call == "bits":
        value = value.args[0]
    return value
