"""``ipu-convert-control-flow``: while, case and if of StableHLO as ops of ``scf``."""

from collections.abc import Sequence

from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.importing.stablehlo.scalar_regions import Values, extract
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


class ConvertControlFlow(Pass):
    """Write while, case and if of StableHLO as scf.while, scf.index_switch and scf.if.

    A case whose index is out of range takes its last branch.

    Needs:  StableHLO.
    Leaves: none of the three; what stands in their regions as it was.
    """

    name = "ipu-convert-control-flow"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, *_CONVERT):
                with ir.InsertionPoint(op), op.location:
                    replace_op(op, _CONVERT[op.name](op))


def _while(op: ir.Operation) -> Values:
    types = [result.type for result in op.results]
    loop = ir.Operation.create("scf.while", results=types, operands=list(op.operands), regions=2)
    for old, new in zip(op.regions, loop.regions, strict=True):
        old.blocks[0].append_to(new)
    scf = upstream("scf")
    condition, body = (region.blocks[0] for region in loop.regions)
    end = terminator(condition)
    with ir.InsertionPoint(end), end.location:
        scf.ConditionOp(extract(end.operands[0]), list(condition.arguments))
    end.erase()
    _yield(body)
    return list(loop.results)


def _if(op: ir.Operation) -> Values:
    types = [result.type for result in op.results]
    branch = ir.Operation.create("scf.if", results=types, operands=[extract(op.operands[0])], regions=2)
    _move(op.regions, branch.regions)
    return list(branch.results)


def _case(op: ir.Operation) -> Values:
    """Its last branch is the default of the switch."""
    types = [result.type for result in op.results]
    which = upstream("arith").IndexCastOp(ir.IndexType.get(), extract(op.operands[0])).result
    cases = ir.DenseI64ArrayAttr.get(list(range(len(op.regions) - 1)))
    switch = ir.Operation.create(
        "scf.index_switch", results=types, operands=[which], attributes={"cases": cases}, regions=len(op.regions)
    )
    *first, last = op.regions
    _move([last, *first], switch.regions)
    return list(switch.results)


def _move(old: Sequence[ir.Region], new: Sequence[ir.Region]) -> None:
    for source, dest in zip(old, new, strict=True):
        source.blocks[0].append_to(dest)
        _yield(dest.blocks[0])


def _yield(block: ir.Block) -> None:
    end = terminator(block)
    with ir.InsertionPoint(end), end.location:
        upstream("scf").YieldOp(list(end.operands))
    end.erase()


_CONVERT = {"stablehlo.while": _while, "stablehlo.if": _if, "stablehlo.case": _case}
