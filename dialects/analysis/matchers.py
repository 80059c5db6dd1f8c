"""Questions about one value or op that everybody asks: what makes it, which constant it is, how it compares."""

from typing import Any

from ipu_mlir.dialects.support.bindings import ir

PREDICATES = {
    "arith.cmpi": ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"),
    "arith.cmpf": (
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
        "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
    ),
}  # fmt: skip
"""Names of the predicates of comparisons, by number."""


def defining_op(value: ir.Value, *names: str) -> ir.Operation | None:
    """The op that makes ``value``, if it is one of ``names``, or any op without names; None for a block's argument."""
    owner = value.owner
    if isinstance(owner, ir.Block) or (names and owner.name not in names):
        return None
    return owner.operation


def block_of(value: ir.Value) -> ir.Block:
    """The block that ``value`` is made in, or is an argument of."""
    owner = value.owner
    return owner if isinstance(owner, ir.Block) else owner.operation.block


def around_in(op: ir.Operation, block: ir.Block) -> ir.Operation | None:
    """The op of ``block`` that ``op`` is, or that it stands in; None if it does not stand in ``block``."""
    while op.name != "func.func":
        if op.block == block:
            return op
        op = op.parent.operation
    return None


def constant_of(value: ir.Value) -> Any:
    """The attribute that ``value`` is, if it is an ``arith.constant``, else None."""
    op = defining_op(value, "arith.constant")
    return None if op is None else op.attributes["value"]


def integer_of(value: ir.Value) -> int | None:
    """The integer that the scalar ``value`` is, if it is a constant."""
    constant = constant_of(value)
    return constant.value if isinstance(constant, ir.IntegerAttr) else None


def predicate_of(comparison: ir.Operation) -> str:
    """The name of the predicate of an ``arith.cmpi`` or ``arith.cmpf``."""
    return PREDICATES[comparison.name][ir.IntegerAttr(comparison.attributes["predicate"]).value]


def terminator(block: ir.Block) -> ir.Operation:
    """The op that ends ``block``."""
    return block.operations[len(block.operations) - 1].operation
