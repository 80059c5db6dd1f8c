"""``ipu-branch-switches``: switches with tensors as results become branches."""

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.linalg_builders import constant_index
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


class BranchSwitches(Pass):
    """Write scf.index_switch with tensors as results as a chain of scf.if.

    Bufferization does not see that the result of a switch may be a tensor from outside of it, and lets others write
    there; of ``scf.if`` it knows. On the machine both are tests of one number after another.

    Needs:  nothing.
    Leaves: no ``scf.index_switch`` that has a tensor as result.
    """

    name = "ipu-branch-switches"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for switch in list_ops(module, "scf.index_switch"):
                if any(isinstance(result.type, ir.RankedTensorType) for result in switch.results):
                    _branch(switch)


def _branch(switch: ir.Operation) -> None:
    cases = list(ir.DenseI64ArrayAttr(switch.attributes["cases"]))
    default, *blocks = [region.blocks[0] for region in switch.regions]
    if not cases:
        return
    with ir.InsertionPoint(switch), switch.location:
        results = _chain(switch, list(zip(cases, blocks, strict=True)), default)
    replace_op(switch, results)


def _chain(switch: ir.Operation, cases: list[tuple[int, ir.Block]], default: ir.Block) -> list[ir.Value]:
    """The results of a branch for the first of ``cases``, in whose else the others follow."""
    (number, block), *others = cases
    arith = upstream("arith")
    wanted = constant_index(number)
    is_case = arith.CmpIOp(arith.CmpIPredicate.eq, switch.operands[0], wanted).result
    types = [result.type for result in switch.results]
    branch = ir.Operation.create("scf.if", results=types, operands=[is_case], regions=2)
    block.append_to(branch.regions[0])
    if not others:
        default.append_to(branch.regions[1])
        return list(branch.results)
    otherwise = ir.Block.create_at_start(branch.regions[1], [], [])
    with ir.InsertionPoint(otherwise):
        upstream("scf").YieldOp(_chain(switch, others, default))
    return list(branch.results)
