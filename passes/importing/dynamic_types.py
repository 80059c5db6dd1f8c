"""Tensor types with sizes that are not known, and casts between types that say more or less."""

from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir, upstream


def dynamic_sizes(shaped: ir.Type) -> int:
    """The number of ``?`` in a tensor type.

    Types that are no tensors have none.
    """
    if not isinstance(shaped, ir.RankedTensorType):
        return 0
    return sum(shaped.is_dynamic_dim(dimension) for dimension in range(shaped.rank))


def before_cast(value: ir.Value) -> ir.Value:
    """``value`` before it was cast, if it was."""
    cast = defining_op(value, "tensor.cast")
    return value if cast is None else cast.operands[0]


def cast_to(value: ir.Value, wanted: ir.Type) -> ir.Value:
    """``value`` as a tensor of type ``wanted``."""
    return value if value.type == wanted else upstream("tensor").CastOp(wanted, value).result
