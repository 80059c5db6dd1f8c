"""Put ``ipu.place`` behind values that a hint speaks of."""

from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.ipu import PlaceOp
from ipu_mlir.dialects.support.bindings import ir


def place_value(value: ir.OpResult, mapping: ir.Attribute) -> None:
    """Let all users of ``value`` take it from where ``mapping`` says."""
    op = value.owner.operation
    with ir.InsertionPoint.after(op), op.location:
        place = PlaceOp(source=value, mapping=mapping, placed=value.type)
    value.replace_all_uses_except(place.placed, place.operation)


def place_memory(op: ir.Operation, mapping: ir.Attribute) -> None:
    """Let the constant or the empty tensor that ``op`` makes lie where ``mapping`` says.

    The memory that an op fills is its result, so it is the results of ops that start from an empty tensor that are
    placed.
    """
    elsewhere = op.name != "tensor.empty"
    for use in list(op.results[0].uses):
        user = use.owner.operation
        result = use.operand_number - (len(user.operands) - len(user.results))
        if op.name == "tensor.empty" and is_structured(user) and result >= 0:
            place_value(user.results[result], mapping)
        else:
            elsewhere = True
    if elsewhere:
        place_value(op.results[0], mapping)
