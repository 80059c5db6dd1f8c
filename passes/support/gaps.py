"""Questions about sums of products whose factors have zeros between their elements."""

from ipu_mlir.dialects.analysis.matchers import constant_of, defining_op, terminator
from ipu_mlir.dialects.support.bindings import ir


def is_sum_of_products(op: ir.Operation) -> bool:
    """True if the body adds the product of its first two arguments to the third, and does nothing else."""
    block = op.regions[0].blocks[0]
    first, second, total = block.arguments
    sums = defining_op(terminator(block).operands[0], "arith.addf", "arith.addi")
    if sums is None or len(block.operations) != 3:
        return False
    others = [value for value in sums.operands if value != total]
    found = defining_op(others[0], "arith.mulf", "arith.muli") if len(others) == 1 else None
    return found is not None and {*found.operands} == {first, second}


def fills_with_zero(fill: ir.Operation) -> bool:
    """True if a ``linalg.fill`` writes the constant zero."""
    constant = constant_of(fill.operands[0])
    return constant is not None and constant.value == 0


def static_numbers(view: ir.Operation, name: str) -> list[int]:
    """The static ``offsets``, ``sizes`` or ``strides`` of an op on a slice."""
    return list(ir.DenseI64ArrayAttr(view.attributes[f"static_{name}"]))
