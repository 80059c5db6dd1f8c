"""When a buffer of a block is used for the last time: the block as a list of what matters for memory.

A value lives from the op that makes it to the last op of its block that uses it, or in whose regions it is used; an
argument of a block from the beginning. What an op of control flow is handed, and nothing uses later, moves into it.
"""

from dataclasses import dataclass
from typing import Literal

from ipu_mlir.dialects.analysis.control_flow import control_op
from ipu_mlir.dialects.analysis.matchers import ops_around
from ipu_mlir.dialects.analysis.program.tree import Call, Node, Repeat, Sequence, Step, While
from ipu_mlir.dialects.support.bindings import ir

Slot = int
"""The number of a value that shows a buffer."""


@dataclass(frozen=True, eq=False)
class Action:
    """The effect of one op of a block on memory.

    Attributes:
        kind: ``allocate`` makes a buffer, ``constant`` shows one that always lives, ``show`` shows those of its
            operands, ``node`` is a step or control flow, ``use`` does nothing but read.
        op: the op.
        node: for a step or control flow.
        operands: slots of its operands; None for an operand that is no buffer.
        results: slots of its results, likewise.
        moved: slots that its operands fill and that nothing else uses: they end when control flow has begun.
        dying: the other slots that nothing uses after it.
    """

    kind: Literal["allocate", "constant", "show", "node", "use"]
    op: ir.Operation
    node: Node | None
    operands: tuple[Slot | None, ...]
    results: tuple[Slot | None, ...]
    moved: tuple[Slot, ...]
    dying: tuple[Slot, ...]


@dataclass(frozen=True, eq=False)
class BlockPlan:
    """A block, op by op.

    Attributes:
        arguments: slots of its arguments; None for one that is no buffer.
        unused: those of them that nothing in the block uses.
        actions: per op that makes, shows or uses a buffer, or is a step or control flow; without the terminator.
        yielded: slots of the operands of the terminator.
        last: slots that end with the block.
    """

    arguments: tuple[Slot | None, ...]
    unused: tuple[Slot, ...]
    actions: tuple[Action, ...]
    yielded: tuple[Slot | None, ...]
    last: tuple[Slot, ...]


class Planner:
    """Makes the plans of the blocks of a tree, each once."""

    def __init__(self) -> None:
        self._slots: dict[ir.Value, Slot] = {}
        self._plans: dict[int, BlockPlan] = {}

    def plan(self, sequence: Sequence) -> BlockPlan:
        """The plan of the block of ``sequence``."""
        if sequence.number not in self._plans:
            self._plans[sequence.number] = self._plan(sequence)
        return self._plans[sequence.number]

    def _plan(self, sequence: Sequence) -> BlockPlan:
        *ops, terminator = (op.operation for op in sequence.block.operations)
        arguments = self._slots_of(sequence.block.arguments)
        ending, is_used = self._last_uses(sequence.block, [*ops, terminator])
        actions: list[Action] = []
        children = (each for each in sequence.children if not _is_start(each))
        node = next(children, None)
        for op, ends in zip(ops, ending, strict=False):
            if node is not None and not isinstance(node, Sequence) and node.op == op:
                actions.append(self._action(op, node, tuple(ends)))
                node = next(children, None)
            elif ends or any(slot is not None for slot in self._slots_of(op.results)):
                actions.append(self._action(op, None, tuple(ends)))
        return BlockPlan(
            arguments,
            tuple(slot for slot in arguments if slot is not None and slot not in is_used),
            tuple(actions),
            self._slots_of(terminator.operands),
            tuple(ending[len(ops)]),
        )

    def _last_uses(self, block: ir.Block, ops: list[ir.Operation]) -> tuple[list[list[Slot]], set[Slot]]:
        """Per op, the slots whose last use it is, and all slots that are used at all.

        The bindings hash an op by its name, attributes and operands: allocations of one type would be equal keys.
        """
        place_of = {op: place for place, op in enumerate(ops) if len(op.operands)}
        inside = {each: place for place, op in enumerate(ops) for region in op.regions for each in region}
        ending: list[list[Slot]] = [[] for _ in ops]
        is_used: set[Slot] = set()
        made = [(value, -1) for value in block.arguments]
        made += [(value, place) for place, op in enumerate(ops) for value in op.results]
        for value, place in made:
            slot = self._slot_of(value)
            if slot is None:
                continue
            last = place
            for use in value.uses:
                user = use.owner.operation
                around = user.block
                while around != block and around not in inside:
                    around = around.owner.operation.block
                last = max(last, place_of[user] if around == block else inside[around])
                is_used.add(slot)
            if last >= 0:
                ending[last].append(slot)
        return ending, is_used

    def _action(self, op: ir.Operation, node: Node | None, ending: tuple[Slot, ...]) -> Action:
        operands, results = self._slots_of(op.operands), self._slots_of(op.results)
        moved: tuple[Slot, ...] = ()
        if isinstance(node, Repeat | While | Call):
            moved = tuple(slot for slot in ending if slot in operands and not self._is_used_inside(op, slot))
            ending = tuple(slot for slot in ending if slot not in moved)
        shown = [slot for slot in operands if slot is not None]
        kind: Literal["allocate", "constant", "show", "node", "use"] = "use"
        if node is not None:
            kind = "node"
        elif op.name == "memref.get_global":
            kind = "constant"
        elif any(slot is not None for slot in results):
            kind = "show" if shown else "allocate"
        return Action(kind, op, node, operands, results, moved, ending)

    def _is_used_inside(self, op: ir.Operation, slot: Slot) -> bool:
        """True if an op in the regions of ``op`` uses the operand of ``op`` in ``slot``."""
        value = next(value for value in op.operands if self._slots.get(value) == slot)
        return any(use.owner.operation != op for use in value.uses if op in ops_around(use.owner.operation))

    def _slots_of(self, values: "ir.OpOperandList | list[ir.Value]") -> tuple[Slot | None, ...]:
        return tuple(self._slot_of(value) for value in values)

    def _slot_of(self, value: ir.Value) -> Slot | None:
        if not isinstance(value.type, ir.MemRefType):
            return None
        return self._slots.setdefault(value, len(self._slots))


def _is_start(node: Node) -> bool:
    """True of the start of a vertex that is a loop, which is a node of its own."""
    return isinstance(node, Step) and control_op(node.op) is not None
