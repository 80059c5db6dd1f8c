"""From the functions of a module to the tree of its program."""

from collections.abc import Iterator

from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op
from ipu_mlir.dialects.analysis.host_calls import host_call_of
from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.analysis.outlined_calls import callee_of
from ipu_mlir.dialects.analysis.program.tree import Branch, Call, Node, Repeat, Sequence, Step, StepKind, While
from ipu_mlir.dialects.analysis.vertex_loops import ONE_VERTEX
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.dialects.support.diagnostics import DiagnosedError, diagnostic_at
from ipu_mlir.dialects.support.errors import CompileError

STEP_KINDS: dict[str, StepKind] = {
    "ipu.compute_set": "compute",
    "ipu.exchange": "exchange",
    "memref.copy": "exchange",
    "ipu.read_control": "control",
    "ipu.collective": "collective",
}
"""The ops that take time of the machine, besides those that ask the host for something."""


def program_tree(module: ir.Module | ir.Operation | ir.OpView, entry: str = "main") -> Sequence:
    """The tree of the program that begins with the function ``entry`` of a module of supersteps.

    Args:
        module: a module, or one of its functions; ``entry`` is then of no account. Keep it in a variable as long as the
            tree is in use: MLIR frees the ops with it.

    Raises:
        CompileError: there is no such function, or it comes to a place that no tree can have: a function without a
            body or with several blocks, a function that calls itself.
    """
    operation: ir.Operation = module.operation
    if operation.name == "func.func":
        entry, operation = symbol_of(operation), operation.parent.operation
    functions = {
        symbol_of(op): op.operation
        for op in operation.regions[0].blocks[0].operations
        if op.operation.name == "func.func"
    }
    if entry not in functions:
        raise CompileError(f"the program has no function '{entry}'; it has {', '.join(functions) or 'none'}")
    return _Builder(functions).function(entry, functions[entry])


class _Builder:
    """Numbers steps and blocks while it walks over the text."""

    def __init__(self, functions: dict[str, ir.Operation]) -> None:
        self._functions = functions
        self._bodies: dict[str, Sequence | None] = {}
        """By function; None while its body is being read."""
        self._num_steps = 0
        self._num_blocks = 0

    def function(self, name: str, caller: ir.Operation) -> Sequence:
        """The body of the function ``name``: one for all that call it."""
        if name in self._bodies:
            body = self._bodies[name]
            if body is None:
                raise _error(caller, f"'@{name}' calls itself; a machine without a stack has no recursion")
            return body
        blocks = list(self._functions[name].regions[0].blocks) if name in self._functions else []
        if len(blocks) != 1:
            has = counted(len(blocks), "block")
            raise _error(caller, f"'@{name}' has {has}; a program of supersteps has one per function")
        self._bodies[name] = None
        body = self._bodies[name] = self._sequence(blocks[0])
        return body

    def _sequence(self, block: ir.Block) -> Sequence:
        number = self._num_blocks
        self._num_blocks += 1
        return Sequence(number, block, tuple(node for op in block.operations for node in self._nodes(op.operation)))

    def _nodes(self, op: ir.Operation) -> Iterator[Node]:
        """The nodes of ``op`` in the tree: its own, if it takes time, behind the start of the vertex that it is."""
        if ONE_VERTEX in op.attributes:
            yield self._step(op, "control")
        node = self._node(op)
        if node is not None:
            yield node

    def _step(self, op: ir.Operation, kind: StepKind) -> Step:
        self._num_steps += 1
        return Step(self._num_steps - 1, op, kind)

    def _node(self, op: ir.Operation) -> Node | None:
        """The node of ``op`` in the tree; None for an op that takes no time."""
        name = op.name
        if name in STEP_KINDS or host_call_of(op) is not None:
            return self._step(op, STEP_KINDS.get(name, "host_exchange"))
        if name == "func.call":
            callee = callee_of(op)
            return Call(op, callee, self.function(callee, op))
        control = control_op(op)
        if control is None:
            return None
        bodies = tuple(map(self._sequence, blocks_of(op)))
        match control.kind:
            case "repeat":
                return Repeat(op, bodies[0], control.trip_count(op))
            case "while":
                return While(op, bodies[0], bodies[1])
            case "if" | "switch":
                return Branch(op, bodies)


def _error(op: ir.Operation, message: str) -> CompileError:
    return DiagnosedError([diagnostic_at(op.location, message)])
