"""Rules of ops that only say something about a value: where it is, or that it is one on all replicas."""

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.autodiff.backward import Backward, NotDifferentiable, Rule


def _same(op: ir.Operation, back: Backward) -> None:
    """The cotangent goes the same way: the op is linear, and its own adjoint."""
    source, cotangent = op.operands[0], back.of(op.results[0])
    assert cotangent is not None
    if cotangent.type != source.type:
        raise NotDifferentiable(op, f"has no rule for its derivative from {op.results[0].type} to {source.type}")
    attributes = {each: op.attributes[each] for each in op.attributes}
    back.add(source, ir.Operation.create(op.name, [source.type], [cotangent], attributes).results[0])


PROGRAM_RULES: dict[str, Rule] = {
    **dict.fromkeys(("ipu.place", "ipu.to_shard", "ipu.keep", "ipu.barrier", "ipu.assume_equal"), _same),
}
"""By the name of the op."""
