"""``ipu-fold-collectives``: a replica that is alone in its group computes what it would with others."""

from ipu_mlir.dialects.analysis.collectives import COLLECTIVES, collective_of
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.linalg_builders import elementwise
from ipu_mlir.passes.support.rewriting import list_ops


class FoldCollectives(Pass):
    """Replace collectives in groups of one by what they give: their operand, its squares, or a reshape of it.

    Needs:  tensors; the target says how many replicas there are.
    Leaves: no collective of one replica, and no ``ipu.replica_index`` where there is only one.
    """

    name = "ipu-fold-collectives"

    def run(self, module: ir.Operation) -> None:
        replicas = module_target(module).replicas
        with module.context:
            for op in list_ops(module, *COLLECTIVES, "ipu.replica_index"):
                collective = collective_of(op)
                if (replicas if collective is None else collective.size(replicas)) == 1:
                    with ir.InsertionPoint(op), op.location:
                        op.results[0].replace_all_uses_with(_alone(op))
                    op.erase()


def _alone(op: ir.Operation) -> ir.Value:
    kind, collective = op.results[0].type, collective_of(op)
    if collective is None:
        zero = ir.DenseElementsAttr.get_splat(kind, ir.IntegerAttr.get(kind.element_type, 0))
        return upstream("arith").ConstantOp(kind, zero).result
    source = op.operands[0]
    if collective.reduction == "square_add":
        arith = upstream("arith")
        square = arith.MulFOp if isinstance(kind.element_type, ir.FloatType) else arith.MulIOp
        return elementwise(source, kind.element_type, lambda x: square(x, x).result).results[0]
    if collective.kind != "all_gather":
        return source
    rank = source.type.rank
    groups = [[0, 1], *([d] for d in range(2, rank + 1))] if rank else []
    return upstream("tensor").ExpandShapeOp(kind, source, groups, [], list(kind.shape)).result
