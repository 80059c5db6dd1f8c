"""``ipu-generalize-ops``: named element-wise ops as generic ones."""

from ipu_mlir.dialects.analysis.loop_nest import LoopNest, is_structured, loop_nest
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.linalg_builders import bodiless_generic
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

# These say more than their loops do: codelets and rewrites know them by name.
_KEPT = frozenset(("linalg.generic", "linalg.fill", "linalg.copy"))


class GeneralizeOps(Pass):
    """Write named element-wise ops, maps, broadcasts, transposes and reductions as linalg.generic.

    Upstream fuses generic ops only, and its ``linalg-generalize-named-ops`` would take contractions and convolutions
    along, which codelets know by name.

    Needs:  linalg on tensors.
    Leaves: no named op that has one input dimension per loop or less, other than fills and copies.
    """

    name = "ipu-generalize-ops"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module):
                if is_structured(op) and op.name not in _KEPT and len(op.regions) and len(op.results):
                    nest = loop_nest(op)
                    if nest is not None and _is_simple(op, nest):
                        _generalize(op, nest)


def _is_simple(op: ir.Operation, nest: LoopNest) -> bool:
    """True if every index is one loop, and either nothing is reduced or one operand is (no contraction, no window)."""
    plain = all(index.plain_loop is not None for indices in nest.indices for index in indices)
    return plain and (all(nest.parallel) or op.name == "linalg.reduce")


def _generalize(op: ir.Operation, nest: LoopNest) -> None:
    loops = len(nest.extents)
    maps = [
        ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(index.plain_loop) for index in indices])
        for indices in nest.indices
    ]
    inputs, outputs = list(op.operands)[: nest.num_inputs], list(op.operands)[nest.num_inputs :]
    with ir.InsertionPoint(op), op.location:
        generic = bodiless_generic(inputs, outputs, maps, nest.parallel)
    block = op.regions[0].blocks[0]
    for output in list(op.operands)[len(block.arguments) :]:  # linalg.map yields its inputs only
        block.add_argument(output.type.element_type, op.location)
    block.append_to(generic.regions[0])
    replace_op(op, generic.results)
