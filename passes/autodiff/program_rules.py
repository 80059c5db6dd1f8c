"""Rules of ops of ours: collectives, and those that only say where a value is."""

from ipu_mlir.dialects.analysis.collectives import collective_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.autodiff.backward import Backward, NotDifferentiable, Rule


def _same(op: ir.Operation, back: Backward) -> None:
    """The cotangent goes the same way: the op is linear, and its own adjoint."""
    source, cotangent = op.operands[0], back.of(op.results[0])
    assert cotangent is not None
    if cotangent.type != source.type:
        raise NotDifferentiable(op, f"has no rule for its derivative from {op.results[0].type} to {source.type}")
    back.add(source, _like(op, cotangent, source.type))


def _like(
    op: ir.Operation, operand: ir.Value, result: ir.Type, name: str | None = None, **changed: ir.Attribute
) -> ir.Value:
    attributes = {each: op.attributes[each] for each in op.attributes}
    return ir.Operation.create(name or op.name, [result], [operand], {**attributes, **changed}).results[0]


def _all_reduce(op: ir.Operation, back: Backward) -> None:
    """What every replica adds reaches all of them: cotangents of all replicas are combined in the same way."""
    found = collective_of(op)
    assert found is not None, "all_reduce is a collective"
    if found.reduction not in ("add", "mean"):
        raise NotDifferentiable(op, f"combines replicas with '{found.reduction}', which has no rule for its derivative")
    _same(op, back)


PROGRAM_RULES: dict[str, Rule] = {
    "ipu.all_reduce": _all_reduce,
    **dict.fromkeys(("ipu.place", "ipu.to_shard", "ipu.assume_equal"), _same),
}
"""By the name of the op."""
