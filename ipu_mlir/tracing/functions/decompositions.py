"""``np.linalg``: matrices solved and taken apart, by loops whose steps update whole matrices; batches come first.

What NumPy refuses when it sees the values (a singular matrix, one that is not positive definite) gives NaN or infinity.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ipu_mlir.specs.tensor_types import kind_of
from ipu_mlir.tracing import views
from ipu_mlir.tracing.control.loops import fori_loop
from ipu_mlir.tracing.elements.reading import gather_along
from ipu_mlir.tracing.elementwise import astype, where
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.functions.orders import argsort
from ipu_mlir.tracing.operands import common_dtype, tensor, trace_of


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


def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """Column by column; NaN where ``a`` is not positive definite."""
    a = _square("cholesky", a)
    a = a.mT if upper else a
    rows = np.arange(a.shape[-1])

    def column(step: Any, found: Any) -> Any:
        here = rows == step
        row = np.sum(where(here[:, None], found, 0), axis=-2)
        left = np.sum(where(here, a, 0), axis=-1) - (found @ row[..., None])[..., 0]
        pivot = np.sqrt(np.sum(where(here, left, 0), axis=-1, keepdims=True))
        return where(here, where(rows >= step, left / pivot, 0)[..., None], found)

    found = fori_loop(0, a.shape[-1], column, np.zeros_like(a))
    return found.mT if upper else found


def solve(a: Any, b: Any) -> Any:
    """By elimination with the largest pivot of each column; infinity or NaN where ``a`` is singular."""
    trace = trace_of((a, b))
    a, b = tensor(trace, a), tensor(trace, b)
    common = common_dtype([a, b])
    common = common if kind_of(common) in "fc" else np.dtype(np.float64)
    a, b = _square("solve", astype(a, common)), astype(b, common)
    right = b[..., None] if len(b.shape) == 1 else b
    size = a.shape[-1]
    if len(right.shape) < 2 or right.shape[-2] != size:
        raise TraceValueError(f"solve of {a} and {b}: the right side needs {size} rows")
    batch = np.broadcast_shapes(a.shape[:-2], right.shape[:-2])
    wide = np.concatenate(
        [np.broadcast_to(a, (*batch, size, size)), np.broadcast_to(right, (*batch, *right.shape[-2:]))], axis=-1
    )
    rows = np.arange(size)

    def clear(step: Any, state: Any) -> Any:
        swapped, row, column, _ = _with_pivot(step, state, rows)
        scaled = row / np.sum(where(rows == step, row[..., :size], 0), axis=-1, keepdims=True)
        return where((rows == step)[:, None], scaled[..., None, :], swapped - column[..., None] * scaled[..., None, :])

    found = fori_loop(0, size, clear, wide)[..., size:]
    return found[..., 0] if len(b.shape) == 1 else found


def inv(a: Any) -> Any:
    a = _square("inv", a)
    return solve(a, np.eye(a.shape[-1], dtype=a.dtype))


def slogdet(a: Any) -> SlogdetResult:
    sign, diagonal = _eliminated(_square("slogdet", a))
    signs = sign * np.prod(np.sign(diagonal), axis=-1)
    return SlogdetResult(signs, np.sum(np.log(np.abs(diagonal)), axis=-1))


def det(a: Any) -> Any:
    sign, diagonal = _eliminated(_square("det", a))
    return sign * np.prod(diagonal, axis=-1)


def qr(a: Any, mode: str = "reduced") -> Any:
    """By Householder's reflections, with the signs that LAPACK chooses."""
    if mode not in ("reduced", "complete", "r"):
        raise TraceValueError(f"qr of {a}: mode is 'reduced', 'complete' or 'r', got {mode!r}")
    a = _matrix("qr", a)
    rows, columns = a.shape[-2:]
    places, across = np.arange(rows), np.arange(columns)
    eye = np.broadcast_to(tensor(a.program, np.eye(rows, dtype=a.dtype)), (*a.shape[:-2], rows, rows))

    def reflect(step: Any, state: Any) -> Any:
        q, r = state
        below = where(places >= step, np.sum(where(across == step, r, 0), axis=-1), 0)
        here = places == step
        first = np.sum(where(here, below, 0), axis=-1, keepdims=True)
        length = np.sqrt(np.sum(below * below, axis=-1, keepdims=True))
        wanted = where(np.signbit(first), length, -length)
        vector = where(here, below - wanted, below)
        square = np.sum(vector * vector, axis=-1, keepdims=True)
        turn = (vector * where(square == 0, 0, 2 / where(square == 0, 1, square)))[..., None]
        vector = vector[..., None]
        return q - (q @ turn) @ vector.mT, r - turn @ (vector.mT @ r)

    q, r = fori_loop(0, min(rows - 1, columns), reflect, (eye, a))
    r = np.triu(r)
    kept = rows if mode == "complete" else min(rows, columns)
    return r[..., :kept, :] if mode == "r" else QRResult(q[..., :kept], r[..., :kept, :])


def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """By Jacobi's rotations, of as many pairs at once as there are; eigenvalues ascend."""
    if UPLO.upper() not in ("L", "U"):
        raise TraceValueError(f"eigh of {a}: UPLO is 'L' or 'U', got {UPLO!r}")
    a = _square("eigh", a)
    size = a.shape[-1]
    strict = np.tril(a, -1) if UPLO.upper() == "L" else np.triu(a, 1).mT
    a = strict + strict.mT + np.tril(np.triu(a))
    if size == 1:
        return EighResult(a[..., 0], np.ones_like(a))
    odd = size % 2
    a = np.pad(a, [(0, 0)] * (len(a.shape) - 2) + [(0, odd), (0, odd)])
    half = (size + odd) // 2
    vectors = np.broadcast_to(tensor(a.program, np.eye(size + odd, dtype=a.dtype)), a.shape)
    order = _next_pairs(size + odd)

    def rotate(_: Any, state: Any) -> Any:
        matrix, found = state
        diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
        beside = np.diagonal(matrix[..., :half, half:], axis1=-2, axis2=-1)
        cosine, sine = _rotation(beside, diagonal[..., half:] - diagonal[..., :half])
        matrix = _turned(_turned(matrix, cosine, sine, half)[..., order].mT, cosine, sine, half)[..., order]
        return (matrix + matrix.mT) * 0.5, _turned(found, cosine, sine, half)[..., order]

    matrix, vectors = fori_loop(0, _rounds(size + odd, a.dtype), rotate, (a, vectors))
    values = np.diagonal(matrix, axis1=-2, axis2=-1)[..., :size]
    places = argsort(values, -1)
    chosen = gather_along(vectors[..., :size, :size], places[..., None, :], len(a.shape) - 1)
    return EighResult(gather_along(values, places, len(values.shape) - 1), chosen)


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    return eigh(a, UPLO).eigenvalues


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """By Jacobi's rotations of columns until they are orthogonal; singular values descend."""
    a = _matrix("svd", a)
    rows, columns = a.shape[-2:]
    if rows < columns:
        if not compute_uv:
            return svd(a.mT, compute_uv=False)
        right, values, left = svd(a.mT, full_matrices)
        return SVDResult(left.mT, values, right.mT)
    odd = columns % 2
    work = np.pad(a, [(0, 0)] * (len(a.shape) - 1) + [(0, odd)])
    half = (columns + odd) // 2
    eye = tensor(a.program, np.eye(columns + odd, dtype=a.dtype))
    right = np.broadcast_to(eye, (*a.shape[:-2], columns + odd, columns + odd))
    if columns > 1:
        order = _next_pairs(columns + odd)

        def rotate(_: Any, state: Any) -> Any:
            matrix, found = state
            lengths = np.sum(matrix * matrix, axis=-2)
            beside = np.sum(matrix[..., :half] * matrix[..., half:], axis=-2)
            cosine, sine = _rotation(beside, lengths[..., half:] - lengths[..., :half])
            return tuple(_turned(each, cosine, sine, half)[..., order] for each in (matrix, found))

        work, right = fori_loop(0, _rounds(columns + odd, a.dtype), rotate, (work, right))
    work = work[..., :columns]
    values = np.sqrt(np.sum(work * work, axis=-2))
    places = argsort(-values, -1)
    values = gather_along(values, places, len(values.shape) - 1)
    if not compute_uv:
        return values
    last = len(a.shape) - 1
    work, right = (gather_along(each, places[..., None, :], last) for each in (work, right[..., :columns, :columns]))
    q, r = qr(work, "complete" if full_matrices else "reduced")  # orthogonal also where singular values are 0
    signs = where(np.signbit(np.diagonal(r, axis1=-2, axis2=-1)), -1, 1)
    signs = np.pad(signs, [(0, 0)] * (last - 1) + [(0, q.shape[-1] - columns)], constant_values=1)
    return SVDResult(q * astype(signs, q.dtype)[..., None, :], values, right.mT)


def svdvals(x: Any, /) -> Any:
    return svd(x, compute_uv=False)


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    a = _matrix("pinv", a)
    left, values, right = svd(a, full_matrices=False)
    given = rtol if rcond is None else rcond
    least = max(a.shape[-2:]) * float(np.finfo(a.dtype).eps) if rtol is None and rcond is None else given
    kept = values > values[..., :1] * (np.asarray(least)[..., None] if np.ndim(least) else least)
    inverse = where(kept, 1 / where(kept, values, 1), 0)
    return right.mT @ (inverse[..., None] * left.mT)


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    A = _matrix("matrix_rank", A)
    values = svdvals(A)
    share = max(A.shape[-2:]) * float(np.finfo(A.dtype).eps) if rtol is None else rtol
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
    """``a`` as real matrices of floats.

    Raises:
        TraceValueError: it is none. TraceTypeError: it is complex.
    """
    if a.dtype.kind == "c":
        raise TraceTypeError(f"{name} of {a}: complex matrices are not supported; use [[re, -im], [im, re]]")
    if len(a.shape) < 2 or 0 in a.shape[-2:]:
        raise TraceValueError(f"{name} of {a}: a matrix has two dimensions, with elements")
    return a if kind_of(a.dtype) == "f" else astype(a, np.float64)


def _square(name: str, a: Any) -> Any:
    a = _matrix(name, a)
    if a.shape[-1] != a.shape[-2]:
        raise TraceValueError(f"{name} of {a}: the last two dimensions have to be equal")
    return a


def _with_pivot(step: Any, matrix: Any, rows: np.ndarray) -> tuple[Any, Any, Any, Any]:
    """Row ``step`` exchanged with the one below that has the largest element in this column.

    Returns:
        The matrix, its row ``step``, its column ``step``, and the number of the row that was exchanged.
    """
    here = rows == step
    columns = np.arange(matrix.shape[-1])
    column = np.sum(where(columns == step, matrix, 0), axis=-1)
    chosen = np.argmax(where(rows >= step, np.abs(column), -1), axis=-1)[..., None]
    own = np.sum(where(here[:, None], matrix, 0), axis=-2, keepdims=True)
    pivot = np.sum(where((rows == chosen)[..., None], matrix, 0), axis=-2, keepdims=True)
    swapped = where(here[:, None], pivot, where((rows == chosen)[..., None], own, matrix))
    return swapped, pivot[..., 0, :], np.sum(where(columns == step, swapped, 0), axis=-1), chosen[..., 0]


def _eliminated(a: Any) -> tuple[Any, Any]:
    """The sign of the exchanges, and the diagonal after elimination."""
    rows = np.arange(a.shape[-1])

    def clear(step: Any, state: Any) -> Any:
        matrix, sign = state
        swapped, row, column, chosen = _with_pivot(step, matrix, rows)
        pivot = np.sum(where(rows == step, row, 0), axis=-1, keepdims=True)
        factor = where(rows > step, column / where(pivot == 0, 1, pivot), 0)
        return swapped - factor[..., None] * row[..., None, :], where(chosen == step, sign, -sign)

    ones = np.ones_like(a, shape=a.shape[:-2])
    matrix, sign = fori_loop(0, a.shape[-1], clear, (a, ones))
    return sign, np.diagonal(matrix, axis1=-2, axis2=-1)


def _rotation(beside: Any, difference: Any) -> tuple[Any, Any]:
    """Cosine and sine of the smaller angle that makes ``beside`` 0; ``difference`` is that of the diagonal."""
    none = beside == 0
    ratio = difference / where(none, 1, 2 * beside)
    tangent = where(none, 0, np.copysign(1 / (np.abs(ratio) + np.hypot(ratio, 1)), ratio))
    cosine = 1 / np.sqrt(1 + tangent * tangent)
    return cosine, tangent * cosine


def _turned(matrix: Any, cosine: Any, sine: Any, half: int) -> Any:
    """Each column of the first half and its partner in the second, rotated."""
    first, second = matrix[..., :half], matrix[..., half:]
    cosine, sine = cosine[..., None, :], sine[..., None, :]
    return np.concatenate([cosine * first - sine * second, sine * first + cosine * second], axis=-1)


def _next_pairs(size: int) -> np.ndarray:
    """The order of columns in which, step by step, each meets every other one: one stays, the others go round.

    Column ``i`` is paired with ``i + size // 2``; after ``size - 1`` steps all are where they began.

    >>> _next_pairs(4).tolist()
    [0, 2, 3, 1]
    """
    half = size // 2
    ring = [*range(1, half), *range(size - 1, half - 1, -1)]
    moved = dict(zip(ring, ring[-1:] + ring[:-1], strict=True))
    return np.array([0, *(moved[place] for place in range(1, size))])


def _rounds(size: int, dtype: np.dtype[Any]) -> int:
    """How many steps make what is beside the diagonal vanish: it shrinks quadratically from a few sweeps on."""
    sweeps = (6 if dtype.itemsize <= 4 else 8) + math.ceil(math.log2(size))
    return sweeps * (size - 1)
