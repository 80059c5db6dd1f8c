"""``ipu-hoist-invariants``: what every iteration of a loop computes alike is computed once, before the loop."""

from collections.abc import Callable
from math import prod

from ipu_mlir.dialects.analysis.control_flow import is_loop
from ipu_mlir.dialects.analysis.loop_nest import is_structured, num_outputs
from ipu_mlir.dialects.analysis.matchers import defining_op, is_made_inside
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.clone import clone_slice, operands_from_outside
from ipu_mlir.passes.support.rewriting import list_outside_bodies
from ipu_mlir.passes.support.tensor_views import VIEW_OPS

_GOES_ALONG = frozenset((*VIEW_OPS, "tensor.empty", "linalg.fill", "arith.constant"))


class HoistInvariants(Pass):
    """Move ops that compute the same in every iteration of a loop before it.

    Upstream's ``loop-invariant-code-motion`` would take fills along, which then have to be copied in every iteration,
    and tensors that are larger than what they are made of. What only one branch in a loop computes stays there, and so
    do single numbers: loops on elements are recognised by them.

    Needs:  linalg on tensors, ``ipu-generalize-ops``; before ops are fused with others that a loop changes.
    Leaves: right in a loop no structured op that computes at least two elements, and no more than it reads, from values
            of outside alone.
    """

    name = "ipu-hoist-invariants"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            loops = [op for op in list_outside_bodies(module) if is_loop(op)]
            for loop in reversed(loops):  # those inside first
                for region in loop.regions:
                    for block in region.blocks:
                        for op in list(block.operations):
                            if _is_worth_it(op.operation):
                                _hoist(op.operation, loop)


def _is_worth_it(op: ir.Operation) -> bool:
    """True if ``op`` computes, and gives no more than it is given."""
    return _gives_no_more(op) and len(op.regions[0].blocks[0].operations) > 1


def _goes_along(op: ir.Operation) -> bool:
    """True if ``op`` is copied for an op that needs it, and is not worth a move of its own, as a transpose."""
    return op.name in _GOES_ALONG or (_gives_no_more(op) and len(op.regions[0].blocks[0].operations) == 1)


def _gives_no_more(op: ir.Operation) -> bool:
    """True if ``op`` gives elements, and no more than it is given; one that only checks gives nothing."""
    if not is_structured(op) or not len(op.regions) or not len(op.results):
        return False
    inputs = list(op.operands)[: len(op.operands) - num_outputs(op)]
    given = [_elements(value) for value in inputs if isinstance(value.type, ir.RankedTensorType)]
    made = [_elements(value) for value in op.results]
    return "library_call" not in op.attributes and min(made) > 1 and max(made) <= max(given, default=0)


def _elements(value: ir.Value) -> int:
    return prod(value.type.shape) if value.type.has_static_shape else 0


def _hoist(op: ir.Operation, loop: ir.Operation) -> None:
    def is_inside(value: ir.Value) -> bool:
        return is_made_inside(value, loop)

    used = operands_from_outside(op)
    if all(_is_alike(value, is_inside) for value in used):
        with ir.InsertionPoint(loop):
            known: dict[ir.Value, ir.Value] = {}
            for value in used:
                clone_slice(value, known, is_inside)
            for result in op.results:
                result.replace_all_uses_with(clone_slice(result, known, is_inside))
        op.erase()


def _is_alike(value: ir.Value, is_inside: Callable[[ir.Value], bool]) -> bool:
    """True if ``value`` is made outside of the loop, or from what is."""
    if not is_inside(value):
        return True
    op = defining_op(value)
    return (
        op is not None
        and _goes_along(op)
        and all(_is_alike(operand, is_inside) for operand in operands_from_outside(op))
    )
