"""``ipu-mask-terms``: sums of some of their terms are sums of all, in which the others are nothing."""

from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.matchers import has_one_use
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.combiners import neutral
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

_MASKED = ("arith.addf", "arith.mulf", "arith.addi", "arith.muli", "arith.ori", "arith.xori")


class MaskTerms(Pass):
    """Choose what is combined with a running value, not whether anything is.

    A bag of embeddings keeps its sum or adds a row to it, as an index says. Where a row or a neutral element is added
    instead, that is a sum like any other: it can be split and computed in any order.

    Needs:  linalg on tensors.
    Leaves: in no reduction a choice between the running value and its sum or product with something.
    """

    name = "ipu-mask-terms"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, "linalg.generic", "linalg.reduce"):
                if is_structured(op) and "library_call" not in op.attributes:
                    block = op.regions[0].blocks[0]
                    for argument in list(block.arguments)[-len(op.results) :] if len(op.results) else ():
                        _mask(argument)


def _mask(running: ir.Value) -> None:
    """Rewrite the choice that is made of the value ``running``, if its two uses are that choice and a combination."""
    users = [use.owner.operation for use in running.uses]
    selects = [user for user in users if user.name == "arith.select"]
    combiners = [user for user in users if user.name in _MASKED]
    if len(users) != 2 or len(selects) != 1 or len(combiners) != 1:
        return
    select, combiner = selects[0], combiners[0]
    combined = combiner.results[0]
    if not has_one_use(combined) or {*list(select.operands)[1:]} != {running, combined}:
        return
    nothing = neutral(combiner.name, running.type)
    if nothing is None:
        return
    term = combiner.operands[1] if combiner.operands[0] == running else combiner.operands[0]
    with ir.InsertionPoint(select), select.location:
        choice = [term, upstream("arith").ConstantOp(running.type, nothing).result]
        if select.operands[1] == running:
            choice.reverse()
        masked = upstream("arith").SelectOp(select.operands[0], *choice).result
        attributes = dict(combiner.attributes)
        total = ir.Operation.create(combiner.name, [running.type], [running, masked], attributes)
    replace_op(select, [total.results[0]])
    combiner.erase()
