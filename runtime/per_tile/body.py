"""The scalar body of a structured op, made ready to run on arrays of iterations."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.errors import CompileError
from ipu_mlir.runtime.per_tile.memory import View
from ipu_mlir.runtime.per_tile.scalar_ops import SCALAR_OPS

Array = np.ndarray[Any, Any]
Load = Callable[[View, list[Array]], Array]

FOLDS: dict[str, np.ufunc] = {
    "arith.addf": np.add,
    "arith.addi": np.add,
    "arith.mulf": np.multiply,
    "arith.muli": np.multiply,
}
"""Combiners whose ufunc folds along an axis in order, with the rounding or wrap-around of each step."""

BODY_OPS = frozenset(SCALAR_OPS) | {"linalg.index", "linalg.yield", "memref.load"}
"""The operations that a body may hold."""


@dataclass(frozen=True)
class Instruction:
    """Apply ``function`` to the slots ``operands`` and keep what it returns in the slots ``results``."""

    name: str
    function: Callable[..., Any]
    operands: tuple[int, ...]
    results: tuple[int, ...]


class Body:
    """A body as instructions on numbered slots: arguments first, then what it captures, then its results."""

    def __init__(self, block: ir.Block, outside: Callable[[ir.Value], Any]) -> None:
        """Read ``block``; ``outside`` gives what it captures: a scalar, or the ``View`` that it loads from."""
        self._slots: dict[ir.Value, int] = {value: slot for slot, value in enumerate(block.arguments)}
        self._initial: list[Any] = [None] * len(self._slots)
        self._outside = outside
        self.num_arguments = len(self._slots)
        self.instructions: list[Instruction] = []
        self.index_slots: dict[int, int] = {}
        self.yields: tuple[int, ...] = ()
        self.loads: list[View] = []
        self._load_slot = self._new_slot(None)
        for op in block.operations:
            self._add(op)
        read = {slot for instruction in self.instructions for slot in instruction.operands} | set(self.yields)
        self.reads_argument = [slot in read for slot in range(self.num_arguments)]

    def run(self, arguments: list[Any], loops: list[Array], load: Load | None = None) -> list[Array]:
        """The yielded values, from arrays of arguments and of loop indices that broadcast with each other."""
        frame = self._frame(arguments, loops, load)
        for instruction in self.instructions:
            _execute(instruction, frame)
        return [frame[slot] for slot in self.yields]

    def fold(self) -> tuple[np.ufunc, int] | None:
        """Combiner and the slot of what it combines, where the body is ``yield (accumulator op expression)``."""
        if len(self.yields) != 1 or not self.instructions:
            return None
        last, accumulator = self.instructions[-1], self.num_arguments - 1
        if last.name not in FOLDS or last.results != self.yields or last.operands.count(accumulator) != 1:
            return None
        if any(accumulator in instruction.operands for instruction in self.instructions[:-1]):
            return None
        return FOLDS[last.name], last.operands[1 - last.operands.index(accumulator)]

    def run_until_fold(self, arguments: list[Any], loops: list[Array], load: Load | None, slot: int) -> Array:
        """The expression in ``slot`` that the last instruction would combine with the accumulator."""
        frame = self._frame(arguments, loops, load)
        for instruction in self.instructions[:-1]:
            _execute(instruction, frame)
        found: Array = frame[slot]
        return found

    def _frame(self, arguments: list[Any], loops: list[Array], load: Load | None) -> list[Any]:
        frame = list(self._initial)
        frame[: self.num_arguments] = arguments[: self.num_arguments]
        frame[self._load_slot] = load
        for dimension, slot in self.index_slots.items():
            frame[slot] = loops[dimension]
        return frame

    def _new_slot(self, value: Any) -> int:
        self._initial.append(value)
        return len(self._initial) - 1

    def _slot(self, value: ir.Value) -> int:
        if value not in self._slots:
            self._slots[value] = self._new_slot(self._outside(value))
        return self._slots[value]

    def _add(self, op: ir.OpView) -> None:
        name = op.operation.name
        if name == "linalg.yield":
            self.yields = tuple(self._slot(value) for value in op.operands)
        elif name == "linalg.index":
            slot = self.index_slots.setdefault(ir.IntegerAttr(op.attributes["dim"]).value, len(self._initial))
            self._slots[op.results[0]] = slot if slot < len(self._initial) else self._new_slot(None)
        elif name == "memref.load":
            self.loads.append(self._outside(op.operands[0]))
            self._append(name, lambda load, view, *indices: load(view, list(indices)), (self._load_slot,), op)
        elif name in SCALAR_OPS:
            self._append(name, SCALAR_OPS[name](op), (), op)
        else:
            raise CompileError(f"a vertex cannot run {name}")

    def _append(self, name: str, function: Callable[..., Any], first: tuple[int, ...], op: ir.OpView) -> None:
        operands = first + tuple(self._slot(value) for value in op.operands)
        results = tuple(self._new_slot(None) for _ in op.results)
        self._slots.update(zip(op.results, results, strict=True))
        self.instructions.append(Instruction(name, function, operands, results))


def _execute(instruction: Instruction, frame: list[Any]) -> None:
    found = instruction.function(*(frame[slot] for slot in instruction.operands))
    if len(instruction.results) == 1:
        frame[instruction.results[0]] = found
    else:
        for slot, value in zip(instruction.results, found, strict=True):
            frame[slot] = value
