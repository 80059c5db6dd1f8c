"""A number of bytes that no tile exceeds, found much quicker than what each of them needs.

One imagined tile holds the largest part of every buffer, and runs the largest vertex of every family. Most programs fit
even so, and then nobody has to look at the tiles one by one.
"""

from typing import Any

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.analysis.program.build_program import program_tree
from ipu_mlir.dialects.analysis.program.tree import steps
from ipu_mlir.dialects.attributes.attributes import mapping_from_attr, module_target, parts_from_attr
from ipu_mlir.dialects.costs.classify import work_of
from ipu_mlir.dialects.costs.exchange import side_of
from ipu_mlir.dialects.costs.family import distinct_sizes
from ipu_mlir.dialects.costs.footprint import FIELD_BYTES, code_bytes, scratch_bytes, vertex_state_bytes
from ipu_mlir.dialects.costs.scalar_ops import takes_time
from ipu_mlir.dialects.machine.machine import Machine, machine_of
from ipu_mlir.dialects.memory import exchange_code
from ipu_mlir.dialects.memory.assumptions import ALLOCATION_BYTES
from ipu_mlir.dialects.memory.report import control_bytes
from ipu_mlir.dialects.memory.resident import kept_arguments, trees_beside
from ipu_mlir.dialects.memory.timeline import Timeline, timeline_of
from ipu_mlir.dialects.memory.vertex_bytes import code_identity
from ipu_mlir.dialects.support.bindings import ADVANCE, ir
from ipu_mlir.dialects.support.remembered import analysis

_PLAIN = ("linalg.fill", "linalg.copy")
_PLAIN_CODE_BYTES, _OP_CODE_BYTES, _LONG_OP_CODE_BYTES, _LOAD_CODE_BYTES = 352, 96, 640, 256
"""No less than what ``costs.footprint`` says of a vertex without reductions, of each op in its body, of each load."""


@analysis
def memory_bound(module: ir.Module | ir.Operation | ir.OpView, entry: str = "main") -> int:
    """Bytes that the program ``entry`` never exceeds on any tile: at least the largest peak of ``memory_report``.

    Exchanges may gather their messages or not (``exchange_code.GATHERS``).

    Raises:
        CompileError: no tree can be made of the program (``program_tree``).
    """
    tree, bound = program_tree(module, entry), _Bound(machine_of(module_target(module.operation)))
    timeline, beside = timeline_of(tree), trees_beside(module, entry)
    always = sum(map(control_bytes, (tree, *beside)))
    always += sum(bound.buffer(value.type) for value in kept_arguments(tree, beside))
    constants = [op for each in (timeline, *map(timeline_of, beside)) for op in each.constants]
    always += sum(bound.buffer(constant.results[0].type) for constant in constants)
    most_scratch = 0
    for step in (step for each in (tree, *beside) for step in steps(each)):
        needs: list[tuple[int, int]] = []
        if step.kind == "exchange":
            needs = [bound.exchange(step.op)]
        elif step.kind == "compute":
            needs = [bound.family(each.operation) for each in step.op.regions[0].blocks[0].operations]
        always += sum(code for code, _ in needs)
        most_scratch = max(most_scratch, sum(scratch for _, scratch in needs))
    return always + most_scratch + _most_alive(timeline, [bound.buffer(value.type) for value in timeline.allocations])


def data_bound(module: ir.Module | ir.Operation | ir.OpView, entry: str = "main") -> int:
    """Bytes that arguments and buffers of the program ``entry`` alone never exceed on any tile.

    Raises:
        CompileError: as of ``memory_bound``.
    """
    tree, bound = program_tree(module, entry), _Bound(machine_of(module_target(module.operation)))
    timeline = timeline_of(tree)
    always = sum(bound.buffer(value.type) for value in kept_arguments(tree, ()))
    return always + _most_alive(timeline, [bound.buffer(value.type) for value in timeline.allocations])


def _most_alive(timeline: Timeline, sizes: list[int]) -> int:
    alive = most = 0
    for event in timeline.events:
        if event.kind != "step":
            alive += sizes[event.number] if event.kind == "birth" else -sizes[event.number]
            most = max(most, alive)
    return most


class _Bound:
    """Bounds of what a tile needs; equal questions have one answer."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._elements: dict[ir.Attribute, int] = {}
        self._exchanges: dict[Any, tuple[int, int]] = {}
        self._families: dict[Any, tuple[int, int]] = {}
        self._codes: set[Any] = set()
        """The code that is counted already."""

    def buffer(self, memref: ir.Type) -> int:
        """Of a buffer, with the gap behind it."""
        memref = ir.MemRefType(memref)
        size = self._held(memref.memory_space) * element_bytes(memref.element_type)
        return size + -size % ALLOCATION_BYTES

    def _held(self, memory_space: ir.Attribute) -> int:
        """Elements of an allocation on a tile."""
        if memory_space not in self._elements:
            mapping, held = mapping_from_attr(memory_space), 1
            for loop in mapping.loops:
                held *= min(loop.block, loop.extent) if loop.stride else 1
            self._elements[memory_space] = min(held, mapping.elements)
        return self._elements[memory_space]

    def exchange(self, op: ir.Operation) -> tuple[int, int]:
        """Of the code of an exchange, and of its messages: a tile moves all that it holds."""
        source, dest = (operand.type for operand in op.operands)
        key = source, dest, exchange_code.order_of(op, self._machine)
        if key not in self._exchanges:
            (give, shown), (take, filled) = side_of(source), side_of(dest)
            pieces = exchange_code.piece_elements((give, shown), (take, filled), key[2])
            sent, received = (min(self._held(each.memory_space), shown.size) for each in (source, dest))
            size = element_bytes(source.element_type)
            self._exchanges[key] = exchange_code.most_code(sent, received, pieces, size), (sent + received) * size
        return self._exchanges[key]

    def family(self, vertices: ir.Operation) -> tuple[int, int]:
        """Of code and state of a vertex, and of its scratch."""
        op = vertices.regions[0].blocks[0].operations[0].operation
        if op.name in _PLAIN:
            return _state_bytes(op) + self._code((op.name, _element_type(op)), _PLAIN_CODE_BYTES), 0
        if op.name == "linalg.generic" and _has_no_reduction(op):
            return _state_bytes(op) + _PLAIN_CODE_BYTES + _body_code_bytes(op), 0
        work, parts = work_of(op), parts_from_attr(vertices.attributes["parts"])
        assert work is not None, "vertices hold an op with a loop nest, says their verifier"
        key = work, parts, len(op.operands)
        if key not in self._families:
            sizes, _ = distinct_sizes(parts)
            state = vertex_state_bytes(work, sizes, len(op.operands), self._machine)
            self._families[key] = int(state.max()), int(scratch_bytes(work, sizes, self._machine).max())
        state, scratch = self._families[key]
        return state + self._code(code_identity(work), code_bytes(work)), scratch

    def _code(self, identity: Any, size: int) -> int:
        """Its ``size`` when it comes for the first time: a tile has one copy of it."""
        is_new = identity not in self._codes
        self._codes.add(identity)
        return size if is_new else 0


def _element_type(op: ir.Operation) -> ir.Type:
    """Of what a fill or a copy writes."""
    return ir.MemRefType(op.operands[len(op.operands) - 1].type).element_type


def _state_bytes(op: ir.Operation) -> int:
    return FIELD_BYTES * (3 + len(op.operands))


def _has_no_reduction(op: ir.Operation) -> bool:
    return "library_call" not in op.attributes and "reduction" not in str(op.attributes["iterator_types"])


def _body_code_bytes(op: ir.Operation) -> int:
    total = 0

    def visit(inner: ir.Operation) -> ir.WalkResult:
        nonlocal total
        name = inner.name
        if name == "memref.load":
            total += _LOAD_CODE_BYTES
        elif inner != op and takes_time(inner):
            total += _LONG_OP_CODE_BYTES if name.startswith("math.") else _OP_CODE_BYTES
        return ADVANCE

    op.walk(visit)
    return total
