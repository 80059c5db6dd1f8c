"""The values that may differ between the replicas of a program, on tensors and on buffers.

A replica has data of its own: its number, elements of infeeds, what the host gives to each of them. What is computed
from that may differ as well; collectives over all replicas make it one value again. A buffer counts with all that is
ever written to it.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from ipu_mlir.dialects.analysis.buffers import VIEW_OPS, root_of
from ipu_mlir.dialects.analysis.collectives import collective_of
from ipu_mlir.dialects.analysis.control_flow import control_op, flows, is_terminator
from ipu_mlir.dialects.analysis.effects import effects_of
from ipu_mlir.dialects.analysis.loop_nest import is_structured, num_outputs
from ipu_mlir.dialects.analysis.matchers import symbol_of, terminator
from ipu_mlir.dialects.analysis.outlined_calls import callee_of
from ipu_mlir.dialects.analysis.remote import MOVES, STORES, moved_and_rows, remote_buffer_of, remote_buffers_in
from ipu_mlir.dialects.analysis.variables import variable_arguments, variable_results, variables_in
from ipu_mlir.dialects.support.bindings import ADVANCE, SKIP_INSIDE, ir

VARIES = "ipu.varies"
"""Attribute of a variable, of an argument or of a result of a function: whether replicas may have different ones."""

REPLICAS = "ipu.replicas"
"""Attribute of a module without a target: how many replicas run it, where what varies has a dimension for them."""

_SOURCES = frozenset(("ipu.replica_index", "ipu.element"))
_WRITING_SOURCES = frozenset(("ipu.number_replica", "ipu.receive"))
_NAMES_OF_ONE_MEMORY = VIEW_OPS | {"memref.transpose", "arith.select"}


class Varying:
    """The values of all functions of a module that may differ, as far as marks on arguments and variables say.

    Attributes:
        variables: names of the variables that may differ.
        buffers: names of the remote buffers that may; those on the host all replicas share.
    """

    def __init__(self, module: ir.Operation, replicas: int) -> None:
        self._replicas = replicas
        self._origins: dict[ir.Value, ir.Location] = {}
        self._ops = _ops_of_functions(module)
        self._functions = {symbol_of(op): op for op in self._ops if _is_function(op)}
        declared = variables_in(module)
        self.variables = {name for name, op in declared.items() if is_marked(op.attributes)}
        self._open = {name for name, op in declared.items() if VARIES not in op.attributes}
        found = {name: each.op for name, each in remote_buffers_in(module).items() if each.memory != "host"}
        remote = {name: op for name, op in found.items() if not _is_yet_to_be_cut(op)}
        self.buffers = {name for name, op in remote.items() if is_marked(op.attributes) or "whole" in op.attributes}
        self._open_buffers = {name for name, op in remote.items() if VARIES not in op.attributes} - self.buffers
        for function in self._functions.values():
            for number, entries in enumerate(function.attributes.get("arg_attrs", ())):
                if is_marked(entries):
                    self._mark(function.regions[0].blocks[0].arguments[number], function.location)
        self._is_changed = True
        while self._is_changed:
            self._is_changed = False
            for op in self._ops:
                self._visit(op)

    def __contains__(self, value: ir.Value) -> bool:
        return value in self._origins

    def forget(self, value: ir.Value) -> None:
        """``value`` goes away."""
        self._origins.pop(value, None)

    def origin(self, value: ir.Value) -> ir.Location:
        """Where the difference comes from."""
        return self._origins[value]

    def divergent(self) -> Iterator[tuple[ir.Operation, ir.Value]]:
        """The control flow that may go different ways, each with what decides that."""
        for op in self._ops:
            row = control_op(op)
            for value in row.decided_by(op) if row is not None else ():
                if value in self:
                    yield op, value
                    break

    def _mark(self, value: ir.Value, origin: ir.Location) -> None:
        if value in self._origins:
            return
        self._origins[value] = origin
        self._is_changed = True

    def _mark_memory(self, value: ir.Value, origin: ir.Location) -> None:
        self._mark(value, origin)
        self._mark(root_of(value), origin)

    def _visit(self, op: ir.Operation) -> None:
        collective = collective_of(op)
        if op.name in _SOURCES:
            for result in op.results:
                self._mark(result, op.location)
        elif op.name in _WRITING_SOURCES:
            self._mark_memory(op.operands[0], op.location)
        elif op.name in MOVES:
            self._move(op)
        elif collective is not None and collective.makes_equal(self._replicas):
            return
        elif collective is not None and collective.gives_blocks:
            self._mark_memory(op.results[0] if len(op.results) else op.operands[1], op.location)
        elif (row := control_op(op)) is not None:
            for flow in flows(op):
                self._join(zip(flow.values(), flow.targets, strict=True))
            for value in row.decided_by(op):
                if value in self:
                    for result in op.results:
                        self._mark(result, self._origins[value])
        elif op.name == "func.call":
            self._call(op)
        elif _is_function(op):
            self._function(op)
        elif not is_terminator(op):
            self._compute(op)

    def _move(self, op: ir.Operation) -> None:
        """Rows differ where they are stored so, or at places that differ; what is loaded then differs as well."""
        name, (moved, rows) = remote_buffer_of(op), moved_and_rows(op)
        origin = self._origins.get(rows)
        if op.name in STORES:
            if (origin is not None or moved in self) and name in self._open_buffers:
                self._open_buffers.remove(name)
                self.buffers.add(name)
                self._is_changed = True
        elif name in self.buffers or origin is not None:
            self._mark_memory(moved, origin or op.location)

    def _compute(self, op: ir.Operation) -> None:
        read, written = _touched(op)
        origin = next((self._origins[value] for value in read if value in self._origins), None)
        if origin is not None:
            for result in op.results:
                self._mark(result, origin)
            for value in written:
                self._mark_memory(value, origin)
        if op.name in _NAMES_OF_ONE_MEMORY:
            memory = [value for value in op.operands if isinstance(value.type, ir.MemRefType)]
            self._join((value, result) for result in op.results for value in memory)

    def _join(self, pairs: Iterable[tuple[ir.Value, ir.Value]]) -> None:
        """Note that one value goes to another; what is memory is the same memory under both names."""
        for value, target in pairs:
            if value in self._origins:
                self._mark(target, self._origins[value])
            elif target in self._origins and isinstance(value.type, ir.MemRefType):
                self._mark_memory(value, self._origins[target])

    def _call(self, call: ir.Operation) -> None:
        callee = self._functions.get(callee_of(call))
        if callee is not None and len(callee.regions[0].blocks) == 1:
            block = callee.regions[0].blocks[0]
            self._join(zip(call.operands, block.arguments, strict=True))
            self._join(zip(terminator(block).operands, call.results, strict=True))

    def _function(self, function: ir.Operation) -> None:
        """A variable that may differ in one function may differ in all, unless its mark says that it does not."""
        if not len(function.regions[0].blocks):
            return
        block = function.regions[0].blocks[0]
        end = terminator(block)
        given = [(name, end.operands[number]) for number, name in variable_results(function).items()]
        taken = [(name, block.arguments[number]) for number, name in variable_arguments(function).items()]
        for name, value in (*given, *taken):
            if value in self and name in self._open:
                self._open.remove(name)
                self.variables.add(name)
                self._is_changed = True
        for name, argument in taken:
            if name in self.variables:
                self._mark(argument, function.location)


def replicas_of(module: ir.Operation) -> int:
    """The number of replicas that run a module without a target: 1 unless it says otherwise."""
    return ir.IntegerAttr(module.attributes[REPLICAS]).value if REPLICAS in module.attributes else 1


def is_marked(attributes: Any) -> bool:
    """True if the mark among ``attributes`` says that replicas may have different ones."""
    return VARIES in attributes and ir.BoolAttr(attributes[VARIES]).value


def _is_function(op: ir.Operation) -> bool:
    return op.name == "func.func"


def _is_yet_to_be_cut(buffer: ir.Operation) -> bool:
    """True for rows that replicas will share among them: what is loaded is then gathered, and one on all."""
    return "partition" in buffer.attributes and "whole" not in buffer.attributes


def _ops_of_functions(module: ir.Operation) -> list[ir.Operation]:
    """The functions and all ops in them, each before those inside it, without the bodies of structured ops."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name not in _CONTAINERS:
            found.append(op)
        return SKIP_INSIDE if is_structured(op) else ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


_CONTAINERS = frozenset(("builtin.module", "ipu.compute_set", "ipu.vertices"))


def _touched(op: ir.Operation) -> tuple[list[ir.Value], list[ir.Value]]:
    """The values that the results of ``op`` and what it writes are computed from; the buffers that it writes to."""
    if is_structured(op):
        outputs = list(op.operands)[len(op.operands) - num_outputs(op) :]
        return _used_in(op), [value for value in outputs if isinstance(value.type, ir.MemRefType)]
    buffers = [value for value in op.operands if isinstance(value.type, ir.MemRefType)]
    others = [value for value in op.operands if not isinstance(value.type, ir.MemRefType)]
    effects = effects_of(op)
    if effects is None:
        return [*others, *buffers], buffers
    touched = list(effects.touches(op))
    return [*others, *(value for value, writes in touched if not writes)], [
        value for value, writes in touched if writes
    ]


def _used_in(op: ir.Operation) -> list[ir.Value]:
    """The operands of a structured op, and everything that its body uses."""
    found: list[ir.Value] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        found.extend(inner.operands)
        return ADVANCE

    op.walk(visit)
    return found
