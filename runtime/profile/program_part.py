"""The program tree, as the profile has it."""

from ipu_mlir.dialects.analysis.buffers import root_of
from ipu_mlir.dialects.analysis.control_flow import CONTROL_OPS
from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.analysis.program.tree import Branch, Call, Node, Repeat, Sequence, Step, While
from ipu_mlir.dialects.memory.names import argument_name, constant_name, writer_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.profile.compilation import NodeKind, ProgramNode
from ipu_mlir.runtime.profile.counting import BlockCounts


def program_part(tree: Sequence, counts: BlockCounts, step_names: list[str]) -> ProgramNode:
    """The tree of ``tree``, between the steps of the host.

    Args:
        step_names: the name of every step by its id; the last two are those of the host.
    """
    part = _Part(counts, step_names)
    first, last = len(step_names) - 2, len(step_names) - 1
    body = part.block(tree, "program")
    children = (part.step(first, None, 1), *body.children, part.step(last, None, 1))
    return ProgramNode(body.kind, body.name, body.location, body.count, None, children)


def exchange_name(op: ir.Operation) -> str:
    """``exchange of %x``: what an exchange copies."""
    root = root_of(op.operands[0])
    if isinstance(root.owner, ir.Block):
        is_argument = root.owner.owner.operation.name == "func.func"  # an OpView's own name is the function's
        name = argument_name(ir.BlockArgument(root)) if is_argument else "a carried value"
    elif (constant := defining_op(root, "memref.get_global")) is not None:
        name = constant_name(constant)
    else:
        writer = writer_of(root)
        name = "a buffer" if writer is None or writer.name in ("ipu.exchange", "memref.copy") else writer.name
    return f"exchange of {name}"


MOST_NODES = 100_000
"""Nodes of the tree, after which the bodies of functions that were shown before are left out."""


class _Part:
    def __init__(self, counts: BlockCounts, step_names: list[str]) -> None:
        self._counts = counts
        self._names = step_names
        self._num_nodes = 0
        self._functions: dict[int, tuple[ProgramNode, int]] = {}
        """By the number of its block, the body of a function, and how many nodes it has."""

    def block(self, sequence: Sequence, name: str) -> ProgramNode:
        """A block, with how often it ran."""
        times = self._counts.of.get(sequence.number, 0) if self._is_known(sequence) else None
        location = place_of(sequence.block.owner.location) or None
        children = tuple(self._node(child, times) for child in sequence.children)
        self._num_nodes += 1 + len(children)
        return ProgramNode("sequence", name, location, times, None, children)

    def step(self, number: int, location: str | None, times: int | None) -> ProgramNode:
        """A step, which runs as often as its block."""
        return ProgramNode("step", self._names[number], location, times, number, ())

    def _is_known(self, sequence: Sequence) -> bool:
        return self._counts.known.get(sequence.number, self._counts.measured)

    def _node(self, node: Node, times: int | None) -> ProgramNode:
        match node:
            case Step():
                return self.step(node.number, place_of(node.op.location) or None, times)
            case Sequence():
                return self.block(node, "block")
            case Repeat():
                name = "repeat" if node.count is None else f"repeat {node.count:,} times"
                return self._control("repeat", name, node.op, times, [self.block(node.body, "body")])
            case While():
                bodies = [self.block(node.condition, "condition"), self.block(node.body, "body")]
                return self._control("while", "while", node.op, times, bodies)
            case Branch():
                control = CONTROL_OPS[node.op.name]
                names = control.block_names(node.op)
                arms = [self.block(body, name) for body, name in zip(node.bodies, names, strict=False)]
                return self._control(control.kind, control.kind, node.op, times, arms)
            case Call():
                return self._control("call", f"@{node.callee}", node.op, times, self._body(node.body))

    def _body(self, sequence: Sequence) -> list[ProgramNode]:
        """The body of a function, which all calls of it share; none where the tree would become too large."""
        if sequence.number not in self._functions:
            before = self._num_nodes
            found = self.block(sequence, "body")
            self._functions[sequence.number] = found, self._num_nodes - before
            return [found]
        found, size = self._functions[sequence.number]
        if self._num_nodes + size > MOST_NODES:
            return []
        self._num_nodes += size
        return [found]

    @staticmethod
    def _control(
        kind: NodeKind, name: str, op: ir.Operation, times: int | None, children: list[ProgramNode]
    ) -> ProgramNode:
        return ProgramNode(kind, name, place_of(op.location) or None, times, None, tuple(children))
