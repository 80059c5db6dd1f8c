"""The operations of a function that are no control flow: how each is made ready to run."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.collectives import collective_of
from ipu_mlir.dialects.analysis.host_calls import host_call_of
from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.ipu import HOST_CALLS
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.runtime.per_tile.memory.keeping import Kept
from ipu_mlir.runtime.per_tile.memory.tile_memories import Buffer, View, buffer_of
from ipu_mlir.runtime.per_tile.program.compute_set import ComputeSet
from ipu_mlir.runtime.per_tile.program.constants import dense_value
from ipu_mlir.runtime.per_tile.program.exchange import Route
from ipu_mlir.runtime.per_tile.program.host import gather, place
from ipu_mlir.runtime.per_tile.program.prepared_functions import Program
from ipu_mlir.runtime.per_tile.program.replicas import combined
from ipu_mlir.runtime.per_tile.program.run_state import Machine, Run
from ipu_mlir.runtime.per_tile.scalar.element_types import narrow_float
from ipu_mlir.runtime.per_tile.scalar.scalar_ops import SCALAR_OPS


def _alloc(program: Program, op: ir.OpView) -> Run:
    """Every time it runs, a new allocation full of poison."""
    result = program.slot_of(op.results[0])
    buffer: Buffer | None = None

    def run(machine: Machine) -> None:
        nonlocal buffer
        buffer = buffer or buffer_of(op.results[0])
        machine.bind(result, machine.new_buffer(buffer))

    return run


def _get_global(program: Program, op: ir.OpView) -> Run:
    result = program.slot_of(op.results[0])

    def run(machine: Machine) -> None:
        machine.bind(result, constant(program, op, machine))

    return run


def constant(program: Program, op: ir.OpView, machine: Machine) -> View:
    """The buffer of the constant that a ``memref.get_global`` names."""
    name = ir.FlatSymbolRefAttr(op.attributes["name"]).value

    def make() -> View:
        view = machine.resident_buffer(buffer_of(op.results[0]))
        definition = program.symbol(name)
        value = dense_value(definition, definition.attributes.get("initial_value", None))
        place(value.reshape(view.shape), view, machine.memories)
        return view

    return machine.constant(name, make)


def _view(program: Program, op: ir.OpView) -> Run:
    """A view's type says which elements of its allocation it shows."""
    memref = ir.MemRefType(op.results[0].type)
    strides, offset = memref.get_strides_and_offset()
    if not memref.has_static_shape or ir.ShapedType.get_dynamic_stride_or_offset() in (*strides, offset):
        raise CompileError(f"{place_of(op.location)}: the view has the dynamic type {memref}; make its bounds static")
    source, result = program.slot_of(op.operands[0]), program.slot_of(op.results[0])
    shape, strides = tuple(memref.shape), tuple(strides)

    def run(machine: Machine) -> None:
        machine.bind(result, View(machine.values[source].allocation, shape, strides, offset))

    return run


def _exchange(program: Program, op: ir.OpView) -> Run:
    slots = tuple(program.slot_of(value) for value in op.operands)
    kept: Kept[Route] = Kept(program.budget)

    def run(machine: Machine) -> None:
        source, dest = (machine.values[slot] for slot in slots)
        key = (source.geometry, dest.geometry)
        route = kept.get(key, lambda: Route(source, dest, machine.memories, op.location))
        route.move(source, dest, machine.memories)
        machine.traffic.append(route.traffic)
        machine.record_step(route.traffic.location)

    return run


def _read_control(program: Program, op: ir.OpView) -> Run:
    """The scalar of a buffer, which all tiles that hold it must have written, and alike."""
    source, result = program.slot_of(op.operands[0]), program.slot_of(op.results[0])

    def run(machine: Machine) -> None:
        found = gather(machine.values[source], machine.memories, machine.strict, op.location, "the control scalar")
        machine.bind(result, found[()])
        machine.record_step(place_of(op.location))

    return run


def _assert(program: Program, op: ir.OpView) -> Run:
    condition, message = program.slot_of(op.operands[0]), ir.StringAttr(op.attributes["msg"]).value

    def run(machine: Machine) -> None:
        if not machine.values[condition]:
            raise RunError(f"{place_of(op.location)}: {message}")

    return run


def _select(program: Program, op: ir.OpView) -> Run:
    """One of two scalars or buffers."""
    condition, yes, no = (program.slot_of(value) for value in op.operands)
    result = program.slot_of(op.results[0])

    def run(machine: Machine) -> None:
        machine.bind(result, machine.values[yes if machine.values[condition] else no])

    return run


def _scalar(program: Program, op: ir.OpView) -> Run:
    function = SCALAR_OPS[op.operation.name](op)
    operands = tuple(program.slot_of(value) for value in op.operands)
    results = tuple(program.slot_of(value) for value in op.results)

    def run(machine: Machine) -> None:
        found = function(*[np.asarray(machine.values[slot]) for slot in operands])
        machine.bind_all(results, found if len(results) > 1 else [found])

    return run


def _number_replica(program: Program, op: ir.OpView) -> Run:
    slot = program.slot_of(op.operands[0])

    def run(machine: Machine) -> None:
        place(np.full((), machine.replica, np.int32), machine.values[slot], machine.memories)

    return run


def _collective(program: Program, op: ir.OpView) -> Run:
    """All replicas bring what they give, and take what they get."""
    source, dest = (program.slot_of(value) for value in op.operands)
    collective, place_in_text = collective_of(op), place_of(op.location)
    assert collective is not None, "an ipu.collective is one"
    narrow = narrow_float(op.operands[0].type)

    def run(machine: Machine) -> None:
        given = gather(machine.values[source], machine.memories, machine.strict, op.location, "what a replica gives")
        found = machine.together(
            place_in_text, given, lambda values: combined(collective, values, narrow, place_in_text)
        )
        place(found[machine.replica], machine.values[dest], machine.memories)
        machine.record_step(place_in_text)

    return run


def _host_call(program: Program, op: ir.OpView) -> Run:
    """The replicas ask the host together: what each of them reads and fills has a first dimension for them."""
    call = host_call_of(op)
    assert call is not None, "an op that declares it"
    operation, place_in_text = op.operation, place_of(op.location)
    filled = call.filled_by(operation)
    fills = None if filled is None else program.slot_of(filled)
    slots = [program.slot_of(value) for value in call.read_by(operation)]
    constants = [call.symbol_of(operation), *([] if call.number is None else [call.number_of(operation)])]

    def run(machine: Machine) -> None:
        def read(slot: int) -> Any:
            value = machine.values[slot]
            if not isinstance(value, View):
                return value
            return gather(value, machine.memories, machine.strict, op.location, "what the host gets")

        def ask(given: list[list[Any]]) -> Any:
            of_all = np.stack if call.server == "remote" and leading else _of_all  # rows are those of each replica
            read_by_all = [of_all(values) for values in zip(*given, strict=True)]
            taken = [] if dest is None else [np.empty(leading + dest.shape, dest.allocation.dtype)]
            server = getattr(machine, call.server)
            getattr(server, operation.name.removeprefix("ipu."))(*constants, *read_by_all, *taken)
            return taken[0] if taken else None

        dest = None if fills is None else machine.values[fills]
        leading = () if machine.replicas == 1 else (machine.replicas,)
        found = machine.together(place_in_text, [read(slot) for slot in slots], ask)
        if dest is not None:
            place(found[machine.replica] if leading else found, dest, machine.memories)
        machine.record_step(place_in_text)

    return run


def _of_all(values: Sequence[Any]) -> Any:
    """The values of the replicas, one if they are the same."""
    return values[0] if all(np.array_equal(each, values[0]) for each in values[1:]) else np.stack(values)


_VIEWS = ("cast", "collapse_shape", "expand_shape", "reinterpret_cast", "subview", "transpose")

FUNCTION_OPS: dict[str, Callable[[Program, ir.OpView], Run]] = {
    **dict.fromkeys(SCALAR_OPS, _scalar),
    "arith.select": _select,
    "cf.assert": _assert,
    "memref.alloc": _alloc,
    "memref.get_global": _get_global,
    **{f"memref.{view}": _view for view in _VIEWS},
    "ipu.exchange": _exchange,
    "ipu.compute_set": lambda program, op: ComputeSet(op, program.slot_of, program.budget).run,
    "ipu.read_control": _read_control,
    "ipu.number_replica": _number_replica,
    "ipu.collective": _collective,
    **{f"ipu.{kind}": _host_call for kind in HOST_CALLS},
}
