"""The scalar body of a structured op, made ready to run on arrays of iterations."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.per_tile.scalar.element_types import dtype_of, narrow_float
from ipu_mlir.runtime.per_tile.scalar.integer_ops import unsigned
from ipu_mlir.runtime.per_tile.scalar.rounding import MODES, function_of
from ipu_mlir.runtime.per_tile.scalar.scalar_ops import SCALAR_OPS, constant_value
from ipu_mlir.runtime.per_tile.vertices.body_control import Branch, ForLoop, WhileLoop
from ipu_mlir.runtime.per_tile.vertices.instructions import Check, Code, Frame, Instruction, Load, LoadElements, Scalar

Array = np.ndarray[Any, Any]

FOLDS: dict[str, np.ufunc] = {
    "arith.addf": np.add,
    "arith.addi": np.add,
    "arith.mulf": np.multiply,
    "arith.muli": np.multiply,
}
"""Combiners whose ufunc folds along an axis in order, with the rounding or wrap-around of each step."""

_TERMINATORS = frozenset(("linalg.yield", "scf.yield", "scf.condition"))


class Body:
    """A body as instructions on numbered slots: its arguments have the first ones.

    Attributes:
        captures: slot and SSA value of everything from outside: scalars, and buffers that the body loads from.
        reads_argument: per argument, whether the body uses it.
    """

    def __init__(self, block: ir.Block) -> None:
        self.num_arguments = len(block.arguments)
        self.captures: list[tuple[int, ir.Value]] = []
        self.reads_argument = [next(iter(argument.uses), None) is not None for argument in block.arguments]
        self._slots: dict[ir.Value, int] = {}
        self._initial: list[Any] = []
        self._index_slots: dict[int, int] = {}
        self._code = self._read(block)
        self._fold = self._find_fold(block)

    @property
    def num_results(self) -> int:
        return len(self._code.yields)

    def frame(self, captured: Sequence[Any], loops: list[Array], load: LoadElements | None = None) -> Frame:
        """The start of a run: values of the ``captures``, and loop indices that broadcast with each other."""
        frame = Frame(list(self._initial), loops, load)
        for (slot, _), value in zip(self.captures, captured, strict=True):
            frame.slots[slot] = value
        self.move(frame, loops)
        return frame

    def move(self, frame: Frame, loops: list[Array]) -> None:
        """Go on to other iterations."""
        frame.loops = loops
        for dimension, slot in self._index_slots.items():
            frame.slots[slot] = loops[dimension]

    def run(self, frame: Frame, arguments: list[Any]) -> list[Array]:
        """The yielded values, from arguments that broadcast with the loop indices."""
        return self._code.run(frame, None, arguments)

    def fold(self) -> tuple[np.ufunc, int] | None:
        """Combiner and the slot of what it combines, where the body is ``yield (accumulator op expression)``."""
        return self._fold

    def run_until_fold(self, frame: Frame, arguments: list[Any], slot: int) -> Array:
        """The expression in ``slot`` that the last instruction would combine with the accumulator."""
        Code(self._code.arguments, self._code.instructions[:-1], (slot,)).run(frame, None, arguments)
        found: Array = frame.slots[slot]
        return found

    def _find_fold(self, block: ir.Block) -> tuple[np.ufunc, int] | None:
        last = self._code.instructions[-1] if self._code.instructions else None
        if not isinstance(last, Scalar) or last.name not in FOLDS or last.results != self._code.yields:
            return None
        accumulator = self.num_arguments - 1
        used_once = len(list(block.arguments[accumulator].uses)) == 1
        if not used_once or accumulator not in last.operands or narrow_float(block.arguments[accumulator].type):
            return None
        return FOLDS[last.name], last.operands[1 - last.operands.index(accumulator)]

    def _read(self, block: ir.Block) -> Code:
        arguments = tuple(self._define(argument) for argument in block.arguments)
        instructions: list[Instruction] = []
        for op in block.operations:
            name = op.operation.name
            if name in _TERMINATORS:
                return Code(arguments, tuple(instructions), self._operands(op))
            if name == "linalg.index":
                dimension = ir.IntegerAttr(op.attributes["dim"]).value
                slot = self._index_slots.setdefault(dimension, len(self._initial))
                self._slots[op.results[0]] = slot if slot < len(self._initial) else self._new_slot(None)
            elif name == "arith.constant":
                self._define(op.results[0], constant_value(op))
            elif name in MODES:
                function, values = function_of(op)
                instructions.append(Scalar(name, function, tuple(map(self._slot, values)), self._results(op)))
            elif name in _READERS:
                instructions.append(_READERS[name](self, op))
            else:
                operands = self._operands(op)
                instructions.append(Scalar(name, SCALAR_OPS[name](op), operands, self._results(op)))
        raise AssertionError("a block ends in its terminator")

    def _load(self, op: ir.OpView) -> Instruction:
        view, *indices = self._operands(op)
        return Load(view, tuple(indices), self._define(op.results[0]))

    def _check(self, op: ir.OpView) -> Instruction:
        (condition,) = self._operands(op)
        return Check(condition, ir.StringAttr(op.attributes["msg"]).value, place_of(op.location))

    def _if(self, op: ir.OpView) -> Instruction:
        def choose(condition: Array) -> list[Array]:
            return [condition, ~condition]

        return self._branch(op, list(op.regions), choose)

    def _index_switch(self, op: ir.OpView) -> Instruction:
        cases = list(ir.DenseI64ArrayAttr(op.attributes["cases"]))

        def choose(selector: Array) -> list[Array]:
            chosen = [selector == case for case in cases]
            return [~np.any(chosen, axis=0) if chosen else np.ones_like(selector, np.bool_), *chosen]

        return self._branch(op, list(op.regions), choose)

    def _branch(self, op: ir.OpView, regions: list[ir.Region], choose: Callable[[Array], list[Array]]) -> Instruction:
        (selector,) = self._operands(op)
        blocks = tuple(self._read(region.blocks[0]) if len(region.blocks) else Code((), (), ()) for region in regions)
        return Branch(selector, choose, blocks, self._results(op), tuple(dtype_of(x.type) for x in op.results))

    def _for(self, op: ir.OpView) -> Instruction:
        low, high, step, *initial = self._operands(op)
        block, place = self._read(op.regions[0].blocks[0]), place_of(op.location)

        def below(at: Any, end: Any) -> Array:
            return np.less(unsigned(at), unsigned(end)) if "unsignedCmp" in op.attributes else np.less(at, end)

        return ForLoop((low, high, step), tuple(initial), block, self._results(op), below, place)

    def _while(self, op: ir.OpView) -> Instruction:
        initial = self._operands(op)
        before, after = (self._read(region.blocks[0]) for region in op.regions)
        return WhileLoop(initial, before, after, self._results(op))

    def _operands(self, op: ir.OpView) -> tuple[int, ...]:
        return tuple(self._slot(value) for value in op.operands)

    def _results(self, op: ir.OpView) -> tuple[int, ...]:
        return tuple(self._define(result) for result in op.results)

    def _slot(self, value: ir.Value) -> int:
        if value not in self._slots:
            self.captures.append((self._define(value), value))
        return self._slots[value]

    def _define(self, value: ir.Value, initial: Any = None) -> int:
        self._slots[value] = self._new_slot(initial)
        return self._slots[value]

    def _new_slot(self, initial: Any) -> int:
        self._initial.append(initial)
        return len(self._initial) - 1


_READERS: dict[str, Callable[[Body, ir.OpView], Instruction]] = {
    "memref.load": Body._load,
    "cf.assert": Body._check,
    "scf.if": Body._if,
    "scf.index_switch": Body._index_switch,
    "scf.for": Body._for,
    "scf.while": Body._while,
}

BODY_OPS = frozenset(SCALAR_OPS) | frozenset(_READERS) | MODES | _TERMINATORS | {"linalg.index"}
"""The operations that a body may hold."""
