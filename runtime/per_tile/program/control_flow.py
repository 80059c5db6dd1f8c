"""``scf`` and ``func.call`` in functions: buffers and scalars go in and out of blocks."""

from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.analysis.outlined_calls import callee_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.per_tile.program.prepared_functions import MoverMaker, Program
from ipu_mlir.runtime.per_tile.program.run_state import Machine, Run
from ipu_mlir.runtime.per_tile.scalar.integer_ops import unsigned


def _for(program: Program, op: ir.OpView, moved: tuple[int, ...]) -> Run:
    slots, results = _slots(program, op)
    block = program.block(op.regions[0].blocks[0])
    place = place_of(op.location)
    read = unsigned if "unsignedCmp" in op.attributes else (lambda x: x)

    def run(machine: Machine) -> None:
        low, end, step, *carried = machine.take(slots)
        machine.forget(moved)
        if step <= 0:
            raise RunError(f"{place_of(op.location)}: the loop has a step of {step}; it must be positive")
        rounds = machine.agreed(place, range(int(read(low)), int(read(end)), int(step)))
        for number in rounds:
            carried = machine.run(block, [low.dtype.type(number), *carried])
        machine.receive(results, carried)

    return run


def _while(program: Program, op: ir.OpView, moved: tuple[int, ...]) -> Run:
    slots, results = _slots(program, op)
    before, after = (program.block(region.blocks[0]) for region in op.regions)
    place = place_of(op.location)

    def run(machine: Machine) -> None:
        taken = machine.take(slots)
        machine.forget(moved)
        condition, *found = machine.run(before, taken)
        while machine.agreed(place, bool(condition)):
            condition, *found = machine.run(before, machine.run(after, found))
        machine.receive(results, found)

    return run


def _if(program: Program, op: ir.OpView, moved: tuple[int, ...]) -> Run:
    (condition,), results = _slots(program, op)
    yes, no = (program.block(region.blocks[0]) if len(region.blocks) else None for region in op.regions)
    place = place_of(op.location)

    def run(machine: Machine) -> None:
        block = yes if machine.agreed(place, bool(machine.values[condition])) else no
        machine.forget(moved)
        if block is not None:
            machine.receive(results, machine.run(block, []))

    return run


def _index_switch(program: Program, op: ir.OpView, moved: tuple[int, ...]) -> Run:
    (selector,), results = _slots(program, op)
    default, *blocks = (program.block(region.blocks[0]) for region in op.regions)
    place = place_of(op.location)
    cases = dict(zip(ir.DenseI64ArrayAttr(op.attributes["cases"]), blocks, strict=True))

    def run(machine: Machine) -> None:
        case = machine.agreed(place, int(machine.values[selector]))
        machine.forget(moved)
        machine.receive(results, machine.run(cases.get(case, default), []))

    return run


def _call(program: Program, op: ir.OpView, moved: tuple[int, ...]) -> Run:
    slots, results = _slots(program, op)
    name = callee_of(op.operation)

    def run(machine: Machine) -> None:
        if name in machine.active:
            raise RunError(f"{place_of(op.location)}: @{name} calls itself; a machine without a stack has no recursion")
        machine.active.add(name)
        try:
            taken = machine.take(slots)
            machine.forget(moved)
            found = machine.run(program.function(name), taken)
        finally:
            machine.active.remove(name)
        machine.receive(results, found)

    return run


def _slots(program: Program, op: ir.OpView) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Of the operands and of the results."""
    return tuple(map(program.slot_of, op.operands)), tuple(map(program.slot_of, op.results))


CONTROL_FLOW: dict[str, MoverMaker] = {
    "scf.for": _for,
    "scf.while": _while,
    "scf.if": _if,
    "scf.index_switch": _index_switch,
    "func.call": _call,
}
