"""Functions made ready to run: SSA values get numbered slots, operations become Python functions."""

from collections.abc import Callable, Mapping

from ipu_mlir.dialects.analysis.control_flow import TERMINATORS
from ipu_mlir.dialects.analysis.outlined_calls import callee_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.per_tile.memory.keeping import Budget
from ipu_mlir.runtime.per_tile.memory.lifetimes import lifetimes_of
from ipu_mlir.runtime.per_tile.program.run_state import Block, Run

KEPT_ELEMENTS = 1 << 24
"""Index arrays of so many elements in all are kept for operations that run again."""

Maker = Callable[["Program", ir.OpView], Run]
MoverMaker = Callable[["Program", ir.OpView, tuple[int, ...]], Run]


class Program:
    """A module made ready, function by function as they are needed.

    Attributes:
        budget: for what operations keep for the next time they run.
    """

    def __init__(self, module: ir.Operation, makers: Mapping[str, Maker], movers: Mapping[str, MoverMaker]) -> None:
        """Make nothing ready yet.

        Args:
            makers: per name of an operation how it is made ready.
            movers: the same for operations of control flow, which also get the slots of the operands that they end.
        """
        self.budget = Budget(KEPT_ELEMENTS)
        self._makers = makers
        self._movers = movers
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

    def constants(self, name: str) -> list[ir.OpView]:
        """Every ``memref.get_global`` in the function ``name`` and in the functions that it calls."""
        found: list[ir.OpView] = []
        pending, seen = [name], {name}
        while pending:
            blocks = [block for region in self._symbols[pending.pop()].regions for block in region.blocks]
            while blocks:
                for op in blocks.pop().operations:
                    blocks += [block for region in op.operation.regions for block in region.blocks]
                    if op.operation.name == "memref.get_global":
                        found.append(op)
                    elif op.operation.name == "func.call":
                        callee = callee_of(op.operation)
                        pending += [callee] if callee not in seen else []
                        seen.add(callee)
        return found

    def block(self, block: ir.Block) -> Block:
        """``block`` and everything in it, ready to run."""
        arguments = tuple(self.slot_of(argument) for argument in block.arguments)
        lifetimes = lifetimes_of(block)
        yielded: tuple[int, ...] = ()
        last: tuple[int, ...] = ()
        steps: list[tuple[Run, tuple[int, ...]]] = []
        for op, *ending in zip(block.operations, lifetimes.moved, lifetimes.dying, strict=True):
            moved, dying = (tuple(self.slot_of(value) for value in values) for values in ending)
            if op.operation.name in TERMINATORS:
                yielded, last = tuple(self.slot_of(value) for value in op.operands), moved + dying
            elif op.operation.name in self._movers:
                steps.append((self._movers[op.operation.name](self, op, moved), dying))
            else:
                steps.append((self._makers[op.operation.name](self, op), moved + dying))
        unused = tuple(self.slot_of(value) for value in lifetimes.unused)
        return Block(arguments, unused, tuple(steps), yielded, last)
