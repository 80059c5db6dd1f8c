"""Complex tensors are pairs of reals: the SSA value has one dimension more, the last, of real and imaginary part.

That is how NumPy stores them, so that arguments and results are seen as such without a copy.
"""

from typing import Any

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.specs.tensor_types import element_type, part_dtype, whole_dtype
from ipu_mlir.tracing.graph import Symbol, no_elements

tensor = upstream("tensor")


def is_complex(value: Any) -> bool:
    """True if ``value`` is a tensor, array or number of complex type.

    >>> is_complex(1j), is_complex(1.0), is_complex("1j")
    (True, False, False)
    """
    dtype = getattr(value, "dtype", None)
    return isinstance(value, complex) if dtype is None else getattr(dtype, "kind", "") == "c"


def as_pairs(value: Symbol) -> Any:
    """A complex tensor as the real one with a last dimension of 2."""
    return value.program.wrap(value.value, (*value.shape, 2), part_dtype(value.dtype))


def from_pairs(pairs: Symbol) -> Any:
    """A real tensor with a last dimension of 2 as the complex one."""
    return pairs.program.wrap(pairs.value, pairs.shape[:-1], whole_dtype(pairs.dtype))


def part(value: Symbol, which: int) -> Any:
    """The real part (0) or the imaginary part (1) of a complex tensor."""
    dtype = part_dtype(value.dtype)
    with value.program.emit("part"):
        type_ = ir.RankedTensorType.get(list(value.shape), element_type(dtype))
        if 0 in value.shape:
            return value.program.wrap(no_elements(type_), value.shape, dtype)
        op = tensor.ExtractSliceOp(type_, value.value, [], [], [], *_slice_of(value.shape, which))
        return value.program.wrap(op.result, value.shape, dtype)


def complex_of(real: Symbol, imaginary: Symbol) -> Any:
    """The complex tensor of two parts, which have one shape and type."""
    shape, trace = real.shape, real.program
    with trace.emit("complex"):
        pairs = tensor.empty([*shape, 2], element_type(real.dtype))
        if 0 not in shape:
            for which, each in enumerate((real, imaginary)):
                pairs = tensor.InsertSliceOp(each.value, pairs, [], [], [], *_slice_of(shape, which)).result
        return trace.wrap(pairs, shape, whole_dtype(real.dtype))


def _slice_of(shape: tuple[int, ...], which: int) -> tuple[list[int], list[int], list[int]]:
    """Offsets, sizes and steps of one part."""
    return [*(0 for _ in shape), which], [*shape, 1], [1] * (len(shape) + 1)
