"""Rules of collectives: the cotangent of what a replica gives comes from all replicas that got something of it.

The gradient is that of the sum of what all replicas are differentiated for, each by its own arguments.
"""

from math import prod

from ipu_mlir.dialects.analysis.collectives import Collective, collective_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.scalar_attributes import scalar_attribute
from ipu_mlir.passes.autodiff.backward import Backward, NotDifferentiable, Rule, elementwise, zeros
from ipu_mlir.passes.autodiff.view_rules import window
from ipu_mlir.passes.support.linalg_builders import reshaped

arith, tensor = upstream("arith"), upstream("tensor")


def _all_reduce(op: ir.Operation, back: Backward) -> None:
    """What every replica adds reaches all of them: cotangents of all replicas are combined in the same way."""
    found, cotangent = _parts(op, back)
    _expect_sum(op, found)
    back.add(op.operands[0], _collective(op, "all_reduce", cotangent, op=found.reduction))


def _all_gather(op: ir.Operation, back: Backward) -> None:
    """A replica gave one block of what all of the group got: it gets the sum of their cotangents of it."""
    _, cotangent = _parts(op, back)
    source = op.operands[0].type
    flat = reshaped(cotangent, [prod(cotangent.type.shape)])
    block = _collective(op, "reduce_scatter", flat, [prod(source.shape)], op="add")
    back.add(op.operands[0], reshaped(block, list(source.shape)))


def _reduce_scatter(op: ir.Operation, back: Backward) -> None:
    """Every replica gave something to all blocks: it gets the cotangents of all, without those of the padding."""
    found, cotangent = _parts(op, back)
    _expect_sum(op, found)
    if found.group is None:
        raise NotDifferentiable(op, "does not say how many replicas take part, which its derivative needs; give group")
    (block,), source = cotangent.type.shape, op.operands[0].type
    if found.reduction == "mean":
        element = cotangent.type.element_type
        share = arith.ConstantOp(element, scalar_attribute(element, 1 / found.group)).result
        cotangent = elementwise([cotangent], cotangent.type, lambda values: arith.mulf(values[0], share))
    gathered = _collective(op, "all_gather", cotangent, [found.group, block])
    back.add(op.operands[0], window(reshaped(gathered, [found.group * block]), [0], list(source.shape)))


def _all_to_all(op: ir.Operation, back: Backward) -> None:
    """The blocks go back to where they came from."""
    found, cotangent = _parts(op, back)
    shape = list(op.operands[0].type.shape)
    back.add(
        op.operands[0],
        _collective(op, "all_to_all", cotangent, shape, split_dimension=found.concat, concat_dimension=found.split),
    )


def _broadcast(op: ir.Operation, back: Backward) -> None:
    """The root gave what all of its group got; what the others had reached nobody."""
    found, cotangent = _parts(op, back)
    total = _collective(op, "all_reduce", cotangent, op="add")
    number = tensor.ExtractOp(_replica_index(), []).result
    if found.group is not None:
        number = arith.remsi(number, arith.ConstantOp(number.type, found.group).result)
    is_root = arith.cmpi(arith.CmpIPredicate.eq, number, arith.ConstantOp(number.type, found.root).result)
    back.add(op.operands[0], arith.SelectOp(is_root, total, zeros(total.type)).result)


def _parts(op: ir.Operation, back: Backward) -> tuple[Collective, ir.Value]:
    found, cotangent = collective_of(op), back.of(op.results[0])
    assert found is not None and cotangent is not None, "a collective whose result has a cotangent"
    return found, cotangent


def _expect_sum(op: ir.Operation, found: Collective) -> None:
    if found.reduction not in ("add", "mean"):
        raise NotDifferentiable(op, f"combines replicas with '{found.reduction}', which has no rule for its derivative")


def _collective(
    op: ir.Operation, name: str, value: ir.Value, shape: list[int] | None = None, /, **attributes: str | int
) -> ir.Value:
    """Another collective of the groups of ``op``, which gives ``shape``; without one, that of ``value``."""
    kind = ir.RankedTensorType.get(list(value.type.shape) if shape is None else shape, value.type.element_type)
    number = ir.IntegerType.get_signless(64)
    written: dict[str, ir.Attribute] = {
        key: ir.StringAttr.get(each) if isinstance(each, str) else ir.IntegerAttr.get(number, each)
        for key, each in attributes.items()
    }
    if "group" in op.attributes:
        written["group"] = op.attributes["group"]
    return ir.Operation.create(f"ipu.{name}", [kind], [value], written).results[0]


def _replica_index() -> ir.Value:
    kind = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
    return ir.Operation.create("ipu.replica_index", [kind]).results[0]


COLLECTIVE_RULES: dict[str, Rule] = {
    "ipu.all_reduce": _all_reduce,
    "ipu.all_gather": _all_gather,
    "ipu.reduce_scatter": _reduce_scatter,
    "ipu.all_to_all": _all_to_all,
    "ipu.broadcast": _broadcast,
}
"""By the name of the op."""
