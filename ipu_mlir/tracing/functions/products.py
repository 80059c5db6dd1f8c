"""Products of vectors and matrices, norms, and sliding products."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.specs.tensor_types import kind_of
from ipu_mlir.tracing import views
from ipu_mlir.tracing.elementwise import as_float, astype, conjugated
from ipu_mlir.tracing.emit import Loop, Sum, structured
from ipu_mlir.tracing.errors import TraceValueError
from ipu_mlir.tracing.functions import contractions
from ipu_mlir.tracing.functions.arranging import diagonal, moveaxis
from ipu_mlir.tracing.functions.padding import pad_with
from ipu_mlir.tracing.functions.reductions import axes_of
from ipu_mlir.tracing.operands import common_dtype, tensor, trace_of
from ipu_mlir.tracing.pairs import complex_of, is_complex
from ipu_mlir.tracing.scalar_ops import BODIES


def outer(a: Any, b: Any) -> Any:
    left, right = (views.reshape(each, (-1,)) for each in _tensors(a, b))
    return left[:, None] * right[None, :]


def inner(a: Any, b: Any, /) -> Any:
    return contractions.tensordot(a, b, ([-1], [-1])) if np.ndim(a) and np.ndim(b) else a * b


def vdot(a: Any, b: Any, /) -> Any:
    left, right = (views.reshape(each, (-1,)) for each in _tensors(a, b))
    return contractions.matmul(conjugated(left), right)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    left, right = _tensors(x1, x2)
    if not left.shape or not right.shape:
        raise TraceValueError(f"vecdot of {left} and {right}: a number is no vector; use *")
    left, right = moveaxis(left, axis, -1), moveaxis(right, axis, -1)
    if left.shape[-1] != right.shape[-1]:
        raise TraceValueError(f"vecdot of {left} and {right}: their sizes along axis {axis} differ")
    products = contractions.matmul(conjugated(left)[..., None, :], right[..., :, None])
    return products[..., 0, 0]


def matvec(x1: Any, x2: Any, /) -> Any:
    return contractions.matmul(x1, tensor(trace_of((x1, x2)), x2)[..., None])[..., 0]


def vecmat(x1: Any, x2: Any, /) -> Any:
    return contractions.matmul(conjugated(tensor(trace_of((x1, x2)), x1))[..., None, :], x2)[..., 0, :]


def kron(a: Any, b: Any) -> Any:
    left, right = _tensors(a, b)
    rank = max(len(left.shape), len(right.shape))
    shapes = [(1,) * (rank - len(each.shape)) + each.shape for each in (left, right)]
    wide = views.reshape(left, [size for each in shapes[0] for size in (each, 1)])
    long = views.reshape(right, [size for each in shapes[1] for size in (1, each)])
    return views.reshape(wide * long, [one * other for one, other in zip(*shapes, strict=True)])


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    left, right = _tensors(a, b)
    left, right = moveaxis(left, axisa, -1), moveaxis(right, axisb, -1)
    if left.shape[-1] != 3 or right.shape[-1] != 3:
        raise TraceValueError(f"cross of {left} and {right}: give vectors of three elements")
    x, y = ([each[..., place] for place in range(3)] for each in (left, right))
    parts = [x[(k + 1) % 3] * y[(k + 2) % 3] - x[(k + 2) % 3] * y[(k + 1) % 3] for k in range(3)]
    return np.stack(parts, axisc)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    return np.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    left, right = _vectors("convolve", a, v)
    if left.shape[0] < right.shape[0]:
        left, right = right, left
    return _slide("convolve", left, np.flip(right), mode)


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    left, right = _vectors("correlate", a, v)
    if left.shape[0] < right.shape[0]:
        return np.flip(_slide("correlate", conjugated(right), left, mode))
    return _slide("correlate", left, conjugated(right), mode)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """``np.linalg.norm``: of vectors along one axis, of matrices along two; of all elements if nothing is said."""
    x = as_float(x, may_be_complex=True)
    if axis is None and (ord is None or len(x.shape) == 1):
        return vector_norm(x, ord=2 if ord is None else ord, keepdims=keepdims)
    axes = axes_in_order(x, range(len(x.shape)) if axis is None else axis)
    if len(axes) == 1:
        return vector_norm(x, axis=axes[0], ord=2 if ord is None else ord, keepdims=keepdims)
    if len(axes) != 2:
        raise TraceValueError(f"norm of {x}: axes {axes} are those of no vector and no matrix")
    found = matrix_norm(moveaxis(x, axes, (-2, -1)), ord="fro" if ord is None else ord)
    return views.expand_dims(found, sorted(axes)) if keepdims else found


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    x = as_float(x, may_be_complex=True)
    axes = axes_of("vector_norm", x, axis)
    size = np.abs(x)
    if ord == np.inf:
        return np.max(size, axis=axes, keepdims=keepdims)
    if ord == -np.inf:
        return np.min(size, axis=axes, keepdims=keepdims)
    if ord == 0:
        return astype(np.sum(x != 0, axis=axes, keepdims=keepdims), size.dtype)
    if ord == 1:
        return np.sum(size, axis=axes, keepdims=keepdims)
    if ord == 2:
        return np.sqrt(np.sum(size * size, axis=axes, keepdims=keepdims))
    if isinstance(ord, str):
        raise TraceValueError(f"norm of {x}: {ord!r} is no norm of vectors; give a number")
    return np.sum(size**ord, axis=axes, keepdims=keepdims) ** (1.0 / ord)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    x = as_float(x, may_be_complex=True)
    if len(x.shape) < 2:
        raise TraceValueError(f"matrix_norm of {x}: a matrix has two dimensions")
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in (1, -1, np.inf, -np.inf):
        along, extreme = (-2 if abs(ord) == 1 else -1), (np.max if ord > 0 else np.min)
        return extreme(np.sum(np.abs(x), axis=along, keepdims=True), axis=(-2, -1), keepdims=keepdims)
    if ord not in (2, -2, "nuc"):
        raise TraceValueError(
            f"norm of {x}: {ord!r} is no norm of matrices; use 'fro', 'nuc', 1, -1, 2, -2 or infinity"
        )
    values = np.linalg.svdvals(x)
    found = np.sum(values, axis=-1) if ord == "nuc" else (np.max if ord > 0 else np.min)(values, axis=-1)
    return found[..., None, None] if keepdims else found


def multi_dot(arrays: Sequence[Any]) -> Any:
    """From left to right."""
    return reduce(contractions.matmul, arrays)


def matrix_power(a: Any, n: int) -> Any:
    if len(a.shape) < 2 or a.shape[-1] != a.shape[-2]:
        raise TraceValueError(f"matrix_power of {a}: the last two dimensions have to be equal")
    if n < 0:
        return matrix_power(np.linalg.inv(a), -n)
    found = None
    while n:
        if n & 1:
            found = a if found is None else contractions.matmul(found, a)
        n >>= 1
        a = contractions.matmul(a, a) if n else a
    return (
        views.broadcast_to(tensor(a.program, np.eye(a.shape[-1], dtype=a.dtype)), a.shape) if found is None else found
    )


def linalg_outer(x1: Any, x2: Any, /) -> Any:
    left, right = _tensors(x1, x2)
    if len(left.shape) != 1 or len(right.shape) != 1:
        raise TraceValueError(f"outer of {left} and {right}: give two vectors")
    return outer(left, right)


def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    left, right = _tensors(x1, x2)
    left, right = moveaxis(left, axis, -1), moveaxis(right, axis, -1)
    return moveaxis(cross(left, right), -1, axis)


def linalg_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    return diagonal(x, offset, -2, -1)


def linalg_trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return trace(x, offset, -2, -1, dtype)


def axes_in_order(x: Any, axis: Any) -> tuple[int, ...]:
    """The axes counted from the front, in the order given."""
    return tuple(views.axis_of("norm", x, each) for each in np.atleast_1d(axis))


def _tensors(*values: Any) -> list[Any]:
    owner = trace_of(values)
    return [tensor(owner, each) for each in values]


def _vectors(name: str, *values: Any) -> list[Any]:
    found = [each if each.shape else views.reshape(each, (1,)) for each in _tensors(*values)]
    if any(len(each.shape) != 1 or not each.shape[0] for each in found):
        raise TraceValueError(f"{name} of {' and '.join(map(str, found))}: give two vectors with elements")
    common = common_dtype(found)
    return [astype(each, common) for each in found]


def _slide(name: str, long: Any, short: Any, mode: str) -> Any:
    """``short`` times the part of ``long`` that it lies over, added up, at every place that ``mode`` says."""
    size, width = long.shape[0], short.shape[0]
    if mode not in ("full", "same", "valid"):
        raise TraceValueError(f"{name}: the mode is 'full', 'same' or 'valid', got {mode!r}")
    before = {"full": width - 1, "same": width // 2 if name == "correlate" else (width - 1) - (width - 1) // 2}.get(
        mode, 0
    )
    count = {"full": size + width - 1, "same": size}.get(mode, size - width + 1)
    if is_complex(long):
        (a, b), (c, d) = ((np.real(each), np.imag(each)) for each in (long, short))
        one, two, three, four = (_slide(name, *each, mode) for each in ((a, c), (b, d), (a, d), (b, c)))
        return complex_of(one - two, three + four)
    padded = pad_with(long, [(before, count + width - 1 - size - before)], 0)
    multiply, add = (BODIES[each].for_kind(kind_of(long.dtype)) for each in ("multiply", "add"))
    assert multiply is not None and add is not None, "every element type has sums and products"

    def code(element: ir.Value, weight: ir.Value, so_far: ir.Value) -> ir.Value:
        return add(so_far, multiply(element, weight))

    inputs = [(padded, (Sum((0, 1)),)), (short, (1,))]
    return structured(long.program, name, inputs, [Loop(count), Loop(width, "reduction")], (0,), long.dtype, code, 0)
