"""Functions made ready to run: SSA values get numbered slots, operations become Python functions."""

from collections.abc import Callable, Mapping

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.runtime.per_tile.keeping import Room
from ipu_mlir.runtime.per_tile.lifetimes import values_dying_after
from ipu_mlir.runtime.per_tile.machine import Block, Run

KEPT_ELEMENTS = 1 << 24
"""Index arrays of so many elements in all are kept for operations that run again."""

TERMINATORS = frozenset(("func.return", "scf.yield", "scf.condition"))


class Program:
    """A module made ready, function by function as they are needed.

    Attributes:
        room: for what operations keep for the next time they run.
    """

    def __init__(self, module: ir.Operation, makers: Mapping[str, Callable[["Program", ir.OpView], Run]]) -> None:
        """``makers`` gives per name of an operation how it is made ready."""
        self.room = Room(KEPT_ELEMENTS)
        self._makers = makers
        self._slots: dict[ir.Value, int] = {}
        self._functions: dict[str, Block] = {}
        self._symbols = {
            ir.StringAttr(op.attributes["sym_name"]).value: op
            for op in module.regions[0].blocks[0].operations
            if "sym_name" in op.attributes
        }

    def slot_of(self, value: ir.Value) -> int:
        """The number under which machines keep ``value``."""
        return self._slots.setdefault(value, len(self._slots))

    def symbol(self, name: str) -> ir.OpView:
        return self._symbols[name]

    def function(self, name: str) -> Block:
        """The body of the function ``name``."""
        if name not in self._functions:
            self._functions[name] = self.block(self._symbols[name].regions[0].blocks[0])
        return self._functions[name]

    def block(self, block: ir.Block) -> Block:
        """``block`` and everything in it, ready to run."""
        arguments = tuple(self.slot_of(argument) for argument in block.arguments)
        handed_on: tuple[int, ...] = ()
        last = list(arguments)
        steps: list[tuple[Run, tuple[int, ...]]] = []
        for op, values in zip(block.operations, values_dying_after(block), strict=True):
            dying = tuple(self.slot_of(value) for value in values)
            if op.operation.name in TERMINATORS:
                handed_on = tuple(self.slot_of(value) for value in op.operands)
                last.extend(dying)
            else:
                steps.append((self._makers[op.operation.name](self, op), dying))
        return Block(arguments, tuple(steps), handed_on, tuple(last))
