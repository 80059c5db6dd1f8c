"""The question to a planner about a structured op."""

from collections.abc import Mapping as Dict
from collections.abc import Sequence
from dataclasses import replace
from math import prod

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.analysis.locations import name_scope, place_of
from ipu_mlir.dialects.analysis.loop_nest import LoopNest, reads_operand
from ipu_mlir.dialects.analysis.memory_access import MemoryAccess
from ipu_mlir.dialects.codelets.naming import codelet_name
from ipu_mlir.dialects.costs.classify import classify
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.placement.partition.proportions import MemoryProportions
from ipu_mlir.passes.placement.partition.reduction_steps import step_loops
from ipu_mlir.passes.placement.partition.shifted_readers import reach_of_readers
from ipu_mlir.passes.placement.partition.split_reduction import can_split
from ipu_mlir.passes.placement.planner.operation import OperandUse, Operation
from ipu_mlir.passes.support.initial_values import is_filled_here
from ipu_mlir.passes.support.tensor_views import view_of


def operation_of(
    op: ir.Operation,
    nest: LoopNest,
    accesses: Sequence[MemoryAccess],
    homes: Dict[ir.Value, Mapping],
    proportions: MemoryProportions,
    target: Target,
) -> Operation:
    """``op`` as a planner sees it.

    Args:
        accesses: of ``op``, as ``memory_accesses`` gives them.
        homes: where memory lies, as far as that is decided.
    """
    work, splittable = classify(op, nest), can_split(op, nest)
    written = [(access, _use(access, homes)) for access in accesses if access.written]
    return Operation(
        op.name,
        codelet_name(op, nest),
        nest.extents,
        nest.parallel,
        tuple(uses_of([access for access in accesses if not access.written], homes)),
        tuple(use for _, (_, use) in written),
        inits=tuple(use for access, (_, use) in written if _starts_from(access, use)),
        work=work,
        splittable=splittable,
        step_loops=step_loops(op, nest, splittable),
        temporary_bytes=proportions.bytes_for(work, name_scope(op.location), target),
        reach=reach_of_readers(op.results[0]) if all(nest.parallel) and len(op.results) else (),
        location=place_of(op.location),
    )


def _starts_from(access: MemoryAccess, use: OperandUse) -> bool:
    """True if an output begins with what lies somewhere already."""
    is_placed = use.home is not None and not is_filled_here(access.value)
    return is_placed and reads_operand(access.owner, access.number)


def uses_of(accesses: Sequence[MemoryAccess], homes: Dict[ir.Value, Mapping]) -> list[OperandUse]:
    """``accesses`` as a planner sees them; those of one allocation have the same ``root``."""
    found = [_use(access, homes) for access in accesses]
    roots = [root for root, _ in found]
    return [replace(use, root=roots.index(root)) if roots.count(root) > 1 else use for root, use in found]


def _use(access: MemoryAccess, homes: Dict[ir.Value, Mapping]) -> tuple[ir.Value, OperandUse]:
    """The tensor whose memory ``access`` touches, and the use of it."""
    value = access.value
    found = view_of(value)
    assert found is not None, "a view without evenly spaced elements; ipu-materialize-views copies those"
    root, view = found
    return root, OperandUse(
        access.indices,
        view.shape,
        view.strides,
        view.offset,
        prod(root.type.shape),
        element_bytes(value.type.element_type),
        homes.get(root),
    )
