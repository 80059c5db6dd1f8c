"""Questions about one value or op that everybody asks: what makes it, which constant it is, how it compares."""

from collections.abc import Iterator
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
    if isinstance(owner, ir.Block):
        return None
    op = owner.operation  # the class of an op may have another ``name``: of ``memref.get_global``, that of the constant
    return op if not names or op.name in names else None


def loop_of(index: ir.Value) -> int | None:
    """The loop whose number ``index`` is in the body of a structured op, if it is one."""
    op = defining_op(index, "linalg.index")
    return None if op is None else ir.IntegerAttr(op.attributes["dim"]).value


def block_of(value: ir.Value) -> ir.Block:
    """The block that ``value`` is made in, or is an argument of."""
    owner = value.owner
    return owner if isinstance(owner, ir.Block) else owner.operation.block


def ops_around(op: ir.Operation | None) -> Iterator[ir.Operation]:
    """``op`` and the ops that it stands in, the innermost first, inside its function."""
    while op is not None and op.name != "func.func":
        yield op
        op = op.parent and op.parent.operation


def around_in(op: ir.Operation, block: ir.Block) -> ir.Operation | None:
    """The op of ``block`` that ``op`` is, or that it stands in; None if it does not stand in ``block``."""
    return next((each for each in ops_around(op) if each.block == block), None)


def is_made_inside(value: ir.Value, op: ir.Operation) -> bool:
    """True if ``value`` is made inside of ``op``, or is an argument of a block in it."""
    return op in ops_around(block_of(value).owner.operation)


def module_around(op: ir.Operation) -> ir.Operation:
    """The module that ``op`` stands in, or is."""
    while op.name != "builtin.module":
        op = op.parent.operation
    return op


def symbol_of(op: ir.Operation | ir.OpView) -> str:
    """The name of a function, a variable, a queue: of what others name by ``@name``."""
    return ir.StringAttr(op.attributes["sym_name"]).value


def function_type(function: ir.Operation | ir.OpView) -> ir.FunctionType:
    """The type of a ``func.func``."""
    return ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)


def constant_of(value: ir.Value) -> Any:
    """The attribute that ``value`` is, if it is an ``arith.constant``, else None."""
    op = defining_op(value, "arith.constant")
    return None if op is None else op.attributes["value"]


def integer_of(value: ir.Value) -> int | None:
    """The integer that the scalar ``value`` is, if it is a constant."""
    constant = constant_of(value)
    return constant.value if isinstance(constant, ir.IntegerAttr) else None


def float_of(value: ir.Value) -> float | None:
    """The number that the scalar ``value`` is, if it is a constant float."""
    constant = constant_of(value)
    return constant.value if isinstance(constant, ir.FloatAttr) else None


def predicate_of(comparison: ir.Operation) -> str:
    """The name of the predicate of an ``arith.cmpi`` or ``arith.cmpf``."""
    return PREDICATES[comparison.name][ir.IntegerAttr(comparison.attributes["predicate"]).value]


def is_used(value: ir.Value) -> bool:
    """True if anything uses ``value``."""
    return next(iter(value.uses), None) is not None


def has_one_use(value: ir.Value) -> bool:
    """True if one operand of one op is ``value``."""
    return sum(1 for _ in value.uses) == 1


def terminator(block: ir.Block) -> ir.Operation:
    """The op that ends ``block``."""
    return block.operations[len(block.operations) - 1].operation
