"""The values of a block that depend on what is differentiated by."""

from collections.abc import Iterable

from ipu_mlir.dialects.analysis.control_flow import flows
from ipu_mlir.dialects.support.bindings import ADVANCE, ir

STOP_GRADIENT = "ipu.stop_gradient"


def is_differentiable(kind: ir.Type) -> bool:
    """True of a float, and of a tensor of floats."""
    element = kind.element_type if isinstance(kind, ir.RankedTensorType) else kind
    return isinstance(element, ir.FloatType)


def active_values(ops: Iterable[ir.Operation], seeds: Iterable[ir.Value]) -> set[ir.Value]:
    """``seeds``, and the floats of ``ops`` and of the regions in them that are computed from one of them.

    Values go round in loops: what a body yields is what it takes in the next iteration. What ``ops`` make is no seed:
    one that is equal to it belonged to code that has been erased, whose memory ``ops`` have now.
    """
    ops = list(ops)
    active = set(seeds).difference(made_in(ops))
    found = -1
    while found != len(active):
        found = len(active)
        for op in ops:
            op.walk(lambda inner: _visit(inner, active) or ADVANCE, ir.WalkOrder.PRE_ORDER)
    return active


def made_in(ops: Iterable[ir.Operation]) -> set[ir.Value]:
    """The results of ``ops`` and of the ops in their regions, and the arguments of those."""
    made: set[ir.Value] = set()

    def note(op: ir.Operation) -> ir.WalkResult:
        made.update(op.results)
        for region in op.regions:
            for block in region.blocks:
                made.update(block.arguments)
        return ADVANCE

    for op in ops:
        op.walk(note, ir.WalkOrder.PRE_ORDER)
    return made


def _visit(op: ir.Operation, active: set[ir.Value]) -> None:
    if len(op.regions) and not op.name.startswith(("linalg.", "tensor.")):
        for flow in flows(op):
            for source, target in zip(flow.values(), flow.targets, strict=True):
                if source in active and is_differentiable(target.type):
                    active.add(target)
        return
    if op.name == STOP_GRADIENT:
        return
    if any(operand in active for operand in op.operands) or any(each in active for each in _inner_operands(op)):
        active.update(result for result in op.results if is_differentiable(result.type))


def _inner_operands(op: ir.Operation) -> Iterable[ir.Value]:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from inner.operation.operands
