"""``scf.while`` that counts, as ``scf.for``: the number of its iterations is known then."""

from ipu_mlir.dialects.analysis.matchers import integer_of, predicate_of, terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.linalg_builders import constant_index
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.wrapped_scalars import scalar_op, splat_integer

scf = upstream("scf")


def count_whiles(function: ir.Operation) -> None:
    """Write every ``scf.while`` of ``function`` whose number of iterations is known as ``scf.for``."""
    for loop in list_ops(function, "scf.while"):
        count = iterations(loop)
        if count is not None:
            with ir.InsertionPoint(loop), loop.location:
                _as_for(loop, count)


def iterations(loop: ir.Operation) -> int | None:
    """The number of iterations of a loop that carries a counter from a constant up to one, by ones."""
    before, body = (region.blocks[0] for region in loop.regions)
    condition, yielded = terminator(before), list(terminator(body).operands)
    if list(condition.operands)[1:] != list(before.arguments):
        return None
    limit = scalar_op(condition.operands[0])
    if limit is None or limit[0].name != "arith.cmpi" or limit[1][0] not in before.arguments:
        return None
    counter = list(before.arguments).index(limit[1][0])
    step = scalar_op(yielded[counter])
    if step is None or step[0].name != "arith.addi" or step[1][0] != body.arguments[counter]:
        return None
    first, end = _integer(loop.operands[counter]), _integer(limit[1][1])
    if predicate_of(limit[0]) not in ("slt", "ult") or first is None or end is None or _integer(step[1][1]) != 1:
        return None
    return max(0, end - first) if first >= 0 else None


def _integer(value: ir.Value) -> int | None:
    found = integer_of(value)
    return splat_integer(value) if found is None else found


def _as_for(loop: ir.Operation, count: int) -> None:
    body = loop.regions[0].blocks[0], loop.regions[1].blocks[0]
    made = scf.ForOp(constant_index(0), constant_index(count), constant_index(1), list(loop.operands))
    with ir.InsertionPoint(made.body):
        known: Known = dict(zip(body[1].arguments, made.inner_iter_args, strict=True))
        for op in list(body[1].operations)[:-1]:
            clone_into(op.operation, known)
        scf.YieldOp([known.get(value, value) for value in terminator(body[1]).operands])
    replace_op(loop, made.results)
