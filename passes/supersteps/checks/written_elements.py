"""The elements that a program of supersteps has written when it reads: asked by ``ipu-check-supersteps``."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ipu_mlir.dialects.analysis.buffers import memories_of, root_of, roots_of, strides_and_offset
from ipu_mlir.dialects.analysis.control_flow import blocks_of, flows, is_terminator
from ipu_mlir.dialects.analysis.effects import NO_EFFECTS, Effects, effects_of
from ipu_mlir.dialects.analysis.matchers import defining_op, symbol_of
from ipu_mlir.dialects.analysis.outlined_calls import callee_in
from ipu_mlir.dialects.analysis.variables import state_arguments, unset_arguments
from ipu_mlir.dialects.ipu import ComputeSetOp
from ipu_mlir.dialects.ops.compute_set import families_of
from ipu_mlir.dialects.support.bindings import ir

_CALL, _RETURN = "func.call", "func.return"


@dataclass(frozen=True)
class Touched:
    """The numbers of the arguments that a function may read before it has written them, and that it writes whole."""

    read: frozenset[int]
    written: frozenset[int]


class WrittenElements:
    """Follows which elements of each allocation have been written, in program order.

    Reports reads of what was not written, and writes to what stays as it is: arguments and constants.
    """

    def __init__(
        self,
        refuse: Callable[[Any, str], None],
        touched: dict[str, Touched],
        unset: Collection[ir.Value] = (),
    ) -> None:
        """Check a function by ``check``.

        Args:
            touched: functions by name, as far as they are known; others are added.
            unset: arguments that nobody has written before the function begins: the reads of them are noted in
                ``asked`` instead of refused.
        """
        self.refuse, self.touched = refuse, touched
        self.unset: dict[ir.Value, ir.Value] = {each: each for each in unset}
        """Each of those arguments, and each argument of a loop that begins as one of them, by which one that is."""
        self.carried: set[ir.Value] = set()
        """Arguments of loops that begin as an allocation of which not all was written."""
        self.asked: set[ir.Value] = set()
        self.written: dict[ir.Value, np.ndarray | bool] = {}
        """Per allocation, True once it is written whole, or which of its elements are."""

    def check(self, block: ir.Block) -> None:
        for op in block.operations:
            if op.operation.name == _RETURN:
                for value in op.operation.operands:
                    self._read(op, value)
            elif op.operation.name == _CALL:
                self._called(op)
            elif is_terminator(op.operation):
                self._yielded(op, block)
            acting = families_of(op) if isinstance(op, ComputeSetOp) else [op]
            touched = [(each, value, writes) for each in acting for value, writes in _effects(each).touches(each)]
            for each, value, writes in touched:
                if not writes:
                    self._read(each, value)
            for each, value, writes in touched:
                if writes:
                    self._write(each, value)
            self._carry(op.operation)
            for inner in blocks_of(op.operation) if effects_of(op) is None else ():
                self.check(inner)

    def _carry(self, op: ir.Operation) -> None:
        """What ``op`` hands to the first run of a block of a loop is written there as far as it is written here."""
        around = op.parent.operation if is_terminator(op) else op
        handed = [zip(flow.targets, flow.values(), strict=True) for flow in flows(around) if flow.source == op]
        for target, value in chain.from_iterable(handed):
            root = root_of(value)
            known = self.written.get(root, False)
            if known is True or not self._is_unset(root) or not isinstance(target.owner, ir.Block):
                continue
            if target.owner == op.block:  # in later runs it is what the block yields
                continue
            self.carried.add(target)
            if root in self.unset:
                self.unset[target] = self.unset[root]
            if known is not False:
                self.written[target] = written = _nothing_of(target)
                _show(written, target.type)[...] = _show(known, value.type)

    def _called(self, op: Any) -> None:
        """A buffer that is handed to a function is read if the function reads it before it has written it."""
        callee = callee_in(op.operation)
        touched = None if callee is None else self._touched(callee)
        for number, value in enumerate(op.operation.operands):
            if touched is None or number in touched.read:
                self._read(op, value)
            if touched is not None and number in touched.written:
                self._write(op, value)

    def _touched(self, function: ir.Operation) -> Touched | None:
        """How ``function`` uses its arguments; None for one whose body stands elsewhere or is not one block."""
        blocks = list(function.regions[0].blocks)
        name = symbol_of(function)
        if name not in self.touched and len(blocks) == 1:
            arguments = list(blocks[0].arguments)
            inside = WrittenElements(lambda op, message: None, self.touched, arguments)
            inside.check(blocks[0])
            whole = [memories_of(root) for root, written in inside.written.items() if written is True]
            numbers = {argument: number for number, argument in enumerate(arguments)}
            self.touched[name] = Touched(
                frozenset(numbers[each] for each in inside.asked),
                frozenset(number for argument, number in numbers.items() if {argument} in whole),
            )
        return self.touched.get(name)

    def _yielded(self, op: Any, block: ir.Block) -> None:
        """A buffer that was made in this block leaves it; whoever gets it finds nothing if nobody wrote any of it."""
        for value in op.operation.operands:
            root = root_of(value)
            maker = defining_op(root)
            if maker is not None and maker.block == block and self.written.get(root) is None:
                self._read(op, value)

    def _read(self, op: Any, value: ir.Value) -> None:
        root = root_of(value)
        if not isinstance(value.type, ir.MemRefType) or prod(value.type.shape) == 0:
            return
        if not self._is_unset(root):
            return
        written = self.written.get(root, False)
        if written is True or (written is not False and _show(written, value.type).all()):
            return
        if root in self.unset:
            self.asked.add(self.unset[root])
            return
        self.written[root] = True  # said once
        self.refuse(
            op, f"reads a buffer that nothing has written before: {value.type}; an exchange or a fill is missing"
        )

    def _write(self, op: Any, value: ir.Value) -> None:
        root = root_of(value)
        kept = next(filter(None, map(_kept, roots_of(value))), None)
        if kept is not None:
            self.refuse(op, f"writes {kept}, which stays as it is: {value.type}; write to a copy of it")
            return
        if self.written.get(root) is True:
            return
        if prod(value.type.shape) == prod(root.type.shape):
            self.written[root] = True
            return
        known = self.written.setdefault(root, _nothing_of(root))
        assert isinstance(known, np.ndarray), "written whole was asked before"
        _show(known, value.type)[...] = True
        if _show(known, root.type).all():
            self.written[root] = True

    def _is_unset(self, root: ir.Value) -> bool:
        return root in self.unset or root in self.carried or _begins_unset(root)


def _effects(op: ir.OpView) -> Effects:
    """Those of ``op``; ops that nobody has described are refused by the pass that asks."""
    return effects_of(op) or NO_EFFECTS


def _begins_unset(root: ir.Value) -> bool:
    """True if nothing is in the memory of ``root`` before the program writes it."""
    if not isinstance(root.owner, ir.Block):
        return root.owner.name == "memref.alloc"
    around = root.owner.owner.operation
    return around.name == "func.func" and ir.BlockArgument(root).arg_number in unset_arguments(around)


def _kept(root: ir.Value) -> str | None:
    """The name of ``root`` in a message, if it is a constant, or an argument but no variable.

    What a loop carries is looked for before it.
    """
    while isinstance(root.owner, ir.Block):
        around = root.owner.owner.operation
        if around.name == "func.func":
            if ir.BlockArgument(root).arg_number in state_arguments(around):
                return None
            return f"argument {ir.BlockArgument(root).arg_number}"
        initial = next((flow for flow in flows(around) if flow.source == around and root in flow.targets), None)
        if initial is None:
            return None
        root = root_of(initial.values()[initial.targets.index(root)])
    return "a constant" if root.owner.operation.name == "memref.get_global" else None


def _nothing_of(root: ir.Value) -> np.ndarray:
    """A flag for each element of the allocation that ``root`` shows, as far as it shows it; none is set."""
    strides, offset = strides_and_offset(root.type)
    last = offset + sum(stride * (size - 1) for stride, size in zip(strides, root.type.shape, strict=True))
    return np.zeros(last + 1, dtype=np.bool_)


def _show(elements: np.ndarray, memref: Any) -> np.ndarray:
    """The flags of those elements of an allocation that a view shows."""
    strides, offset = strides_and_offset(memref)
    return as_strided(elements[offset:], tuple(memref.shape), strides)
