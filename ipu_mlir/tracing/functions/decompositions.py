"""``np.linalg``: matrices solved and taken apart by library codelets, each on a tile; batches come first.

What NumPy refuses when it sees the values (a singular matrix, one that is not positive definite) gives NaN.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ipu_mlir.specs.tensor_types import finfo, kind_of
from ipu_mlir.tracing import views
from ipu_mlir.tracing.codelets import apply_codelet
from ipu_mlir.tracing.elementwise import astype, conjugated, where
from ipu_mlir.tracing.errors import TraceValueError
from ipu_mlir.tracing.operands import common_dtype, common_float, tensor, trace_of


class QRResult(NamedTuple):
    """What ``qr`` gives."""

    Q: Any
    R: Any


class EighResult(NamedTuple):
    """What ``eigh`` gives."""

    eigenvalues: Any
    eigenvectors: Any


class SVDResult(NamedTuple):
    """What ``svd`` gives."""

    U: Any
    S: Any
    Vh: Any


class SlogdetResult(NamedTuple):
    """What ``slogdet`` gives."""

    sign: Any
    logabsdet: Any


class LstsqResult(NamedTuple):
    """What ``lstsq`` gives."""

    x: Any
    residuals: Any
    rank: Any
    singular_values: Any


def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """NaN where ``a`` is not positive definite."""
    a = _square("cholesky", a)
    (found,) = _call("cholesky", _adjoint(a) if upper else a)
    return _adjoint(found) if upper else found


def solve(a: Any, b: Any) -> Any:
    """NaN where ``a`` is singular."""
    trace = trace_of((a, b))
    a, b = tensor(trace, a), tensor(trace, b)
    common = common_dtype([a, b])
    common = common if kind_of(common) in "fc" else common_float([a, b])
    a, b = _square("solve", astype(a, common)), astype(b, common)
    right = b[..., None] if len(b.shape) == 1 else b
    size = a.shape[-1]
    if len(right.shape) < 2 or right.shape[-2] != size:
        raise TraceValueError(f"solve of {a} and {b}: the right side needs {size} rows")
    stack = np.broadcast_shapes(a.shape[:-2], right.shape[:-2])
    a, right = (np.broadcast_to(each, (*stack, *each.shape[-2:])) for each in (a, right))
    (found,) = _call("solve", a, right)
    return found[..., 0] if len(b.shape) == 1 else found


def inv(a: Any) -> Any:
    a = _square("inv", a)
    return solve(a, np.eye(a.shape[-1], dtype=a.dtype))


def slogdet(a: Any) -> SlogdetResult:
    return SlogdetResult(*_call("slogdet", _square("slogdet", a)))


def det(a: Any) -> Any:
    return _call("det", _square("det", a))[0]


def qr(a: Any, mode: str = "reduced") -> Any:
    """By Householder's reflections, with the signs that LAPACK chooses."""
    if mode not in ("reduced", "complete", "r"):
        raise TraceValueError(f"qr of {a}: mode is 'reduced', 'complete' or 'r', got {mode!r}")
    a = _matrix("qr", a)
    rows, columns = a.shape[-2:]
    vectors, scales = _call("reflections", a)
    kept = rows if mode == "complete" else min(rows, columns)
    r = np.triu(vectors)[..., :kept, :]
    if mode == "r":
        return r
    stack = [(0, 0)] * (len(a.shape) - 1)
    wide = np.pad(vectors, [*stack, (0, kept - columns)]) if kept > columns else vectors[..., :kept]
    return QRResult(_call("reflections_product", wide, scales)[0], r)


def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Eigenvalues ascend."""
    return EighResult(*_call("eigh", _triangle("eigh", a, UPLO)))


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    return _call("eigvalsh", _triangle("eigvalsh", a, UPLO))[0]


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Singular values descend."""
    a = _matrix("svd", a)
    if not compute_uv:
        return _call("svdvals", a)[0]
    return SVDResult(*_call("svd" if full_matrices else "svd_reduced", a))


def svdvals(x: Any, /) -> Any:
    return svd(x, compute_uv=False)


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    a = _matrix("pinv", a)
    left, values, right = svd(a, full_matrices=False)
    given = rtol if rcond is None else rcond
    least = max(a.shape[-2:]) * float(finfo(a.dtype).eps) if rtol is None and rcond is None else given
    kept = values > values[..., :1] * (np.asarray(least)[..., None] if np.ndim(least) else least)
    inverse = where(kept, 1 / where(kept, values, 1), 0)
    return _adjoint(right) @ (inverse[..., None] * _adjoint(left))


def lstsq(a: Any, b: Any, rcond: float | None = None) -> LstsqResult:
    """The shortest of the best solutions.

    Residuals are there as for matrices of full rank: one for each right side if there are more equations than unknowns.
    Without ``rcond``, what counts as 0 follows from the precision of ``a``, in which all is computed.
    """
    trace = trace_of((a, b))
    a, b = tensor(trace, a), tensor(trace, b)
    common = common_dtype([a, b])
    a, b = (astype(each, common if kind_of(common) in "fc" else np.float64) for each in (_matrix("lstsq", a), b))
    right = b[:, None] if len(b.shape) == 1 else b
    if len(a.shape) != 2 or len(right.shape) != 2 or right.shape[0] != a.shape[0]:
        raise TraceValueError(f"lstsq of {a} and {b}: give one matrix, and a right side of as many rows")
    rows, columns = a.shape
    left, values, vectors = svd(a, full_matrices=False)
    share = float(finfo(values.dtype).eps) * max(rows, columns) if rcond is None or rcond < 0 else rcond
    kept = values > values[:1] * share
    inverse = where(kept, 1 / where(kept, values, 1), 0)
    found = _adjoint(vectors) @ (inverse[:, None] * (_adjoint(left) @ right))
    missed = np.sum(np.square(np.abs(a @ found - right)), axis=0)
    residuals = missed if rows > columns else np.zeros_like(missed, shape=(0,))
    shaped = found[:, 0] if len(b.shape) == 1 else found
    return LstsqResult(shaped, residuals, np.sum(kept, dtype=np.int32), values)


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    A = _matrix("matrix_rank", A)
    values = svdvals(A)
    share = max(A.shape[-2:]) * float(finfo(A.dtype).eps) if rtol is None else rtol
    least = values[..., :1] * (np.asarray(share)[..., None] if np.ndim(share) else share) if tol is None else tol
    return np.sum(values > least, axis=-1)


def cond(x: Any, p: Any = None) -> Any:
    x = _matrix("cond", x)
    if p in (None, 2, -2):
        values = svdvals(x)
        return values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
    return np.linalg.norm(x, p, axis=(-2, -1)) * np.linalg.norm(inv(x), p, axis=(-2, -1))


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    trace = trace_of((a, b))
    a, b = tensor(trace, a), tensor(trace, b)
    if axes is not None:
        a = np.moveaxis(a, axes, range(len(a.shape) - len(axes), len(a.shape)))
    shape = a.shape[len(b.shape) :]
    flat = views.reshape(a, (-1, math.prod(shape)))
    return views.reshape(solve(flat, views.reshape(b, (-1,))), shape)


def tensorinv(a: Any, ind: int = 2) -> Any:
    flat = views.reshape(a, (math.prod(a.shape[:ind]), -1))
    return views.reshape(inv(flat), (*a.shape[ind:], *a.shape[:ind]))


def _matrix(name: str, a: Any) -> Any:
    """``a`` as matrices of floats or complex numbers.

    Raises:
        TraceValueError: it is none.
    """
    if len(a.shape) < 2:
        raise TraceValueError(f"{name} of {a}: a matrix has two dimensions")
    return a if kind_of(a.dtype) in "fc" else astype(a, np.float64)


def _square(name: str, a: Any) -> Any:
    a = _matrix(name, a)
    if a.shape[-1] != a.shape[-2]:
        raise TraceValueError(f"{name} of {a}: the last two dimensions have to be equal")
    return a


def _triangle(name: str, a: Any, uplo: str) -> Any:
    """The matrices whose lower triangles are those that ``uplo`` names."""
    if uplo.upper() not in ("L", "U"):
        raise TraceValueError(f"{name} of {a}: UPLO is 'L' or 'U', got {uplo!r}")
    a = _square(name, a)
    return a if uplo.upper() == "L" else _adjoint(a)


def _adjoint(a: Any) -> Any:
    return conjugated(a.mT)


def _call(name: str, *operands: Any) -> tuple[Any, ...]:
    """What codelet ``name`` gives; floats of few bits are computed in f32."""
    dtype = operands[0].dtype
    is_narrow = kind_of(dtype) == "f" and dtype.itemsize < 4
    wide = [astype(each, np.float32) for each in operands] if is_narrow else operands
    found = apply_codelet(name, name, *wide)
    return tuple(astype(each, dtype) for each in found) if is_narrow else found
