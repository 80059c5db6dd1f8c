"""Factors and solutions of matrices, each on a tile."""

from typing import Any

import numpy as np
import torch

from ipu_mlir.frontends.aten.rules import Made, constant, rule
from ipu_mlir.tracing.codelets import apply_codelet


def _info(x: Any) -> Any:
    return constant(np.zeros(x.shape[:-2], np.int32))


def _adjoint(x: Any) -> Any:
    return np.conjugate(np.swapaxes(x, -2, -1)) if x.dtype.kind == "c" else np.swapaxes(x, -2, -1)


@rule("linalg_cholesky_ex.default")
def _cholesky_ex(x: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    return np.linalg.cholesky(x, upper=upper), _info(x)


@rule("cholesky.default")
def _cholesky(x: Any, upper: bool = False) -> Any:
    return np.linalg.cholesky(x, upper=upper)


@rule("cholesky_solve.default")
def _cholesky_solve(b: Any, factor: Any, upper: bool = False) -> Any:
    lower = _adjoint(factor) if upper else factor
    return np.linalg.solve(np.matmul(np.tril(lower), _adjoint(np.tril(lower))), b)


@rule("cholesky_inverse.default")
def _cholesky_inverse(factor: Any, upper: bool = False) -> Any:
    lower = np.tril(_adjoint(factor) if upper else factor)
    return np.linalg.inv(np.matmul(lower, _adjoint(lower)))


@rule("linalg_inv_ex.default")
def _inv_ex(x: Any, *, check_errors: bool = False) -> Any:
    return np.linalg.inv(x), _info(x)


@rule("linalg_pinv.atol_rtol_tensor")
def _pinv(x: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    if hermitian:
        values, u = np.linalg.eigh(x, "L")
        s, vh = np.abs(values), np.sign(values)[..., None] * _adjoint(u)
    else:
        u, s, vh = np.linalg.svd(x, full_matrices=False)
    largest = np.max(s, axis=-1, keepdims=True)
    relative = max(x.shape[-2:]) * float(np.finfo(s.dtype).eps)
    bound = largest * (relative if rtol is None else rtol[..., None].astype(s.dtype))
    if rtol is None and atol is not None:
        bound = np.where(atol[..., None] > 0, atol[..., None].astype(s.dtype), bound)
    elif atol is not None:
        bound = np.maximum(bound, atol[..., None].astype(s.dtype))
    inverse = np.where(s > bound, 1.0 / np.where(s > bound, s, 1.0), 0.0)
    return np.matmul(_adjoint(vh) * inverse[..., None, :], _adjoint(u))


def _kept_factors(x: Any, made: Made) -> tuple[Any, Any]:
    """What gradients of determinants solve with: those of the transpose, of real matrices with contiguous rows."""
    is_contiguous = torch.empty_strided(x.shape, made.taken[0] or (), device="meta").is_contiguous()
    is_turned = is_contiguous and x.dtype.kind != "c"
    return _lu_factor(np.swapaxes(x, -2, -1) if is_turned else x, made=None)[:2]


@rule("_linalg_det.default")
def _det(x: Any, *, made: Made) -> Any:
    return np.linalg.det(x), *_kept_factors(x, made)


@rule("_linalg_slogdet.default")
def _slogdet(x: Any, *, made: Made) -> Any:
    return *np.linalg.slogdet(x), *_kept_factors(x, made)


@rule("_linalg_solve_ex.default")
def _solve_ex(a: Any, b: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    is_vector = len(b.shape) == 1 or (len(b.shape) == len(a.shape) - 1 and b.shape == a.shape[:-1])
    right = b[..., None] if is_vector else b
    found = np.linalg.solve(a, right) if left else np.swapaxes(
        np.linalg.solve(np.swapaxes(a, -2, -1), np.swapaxes(right, -2, -1)), -2, -1
    )  # fmt: skip
    lu, pivots, _ = _lu_factor(a, made=None)
    return found[..., 0] if is_vector else found, lu, pivots, _info(a)


def _triangular(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """Solves with one triangle of ``a`` alone."""
    kept = np.triu(a) if upper else np.tril(a)
    if unit:
        kept = np.where(np.eye(a.shape[-1], dtype=bool), np.asarray(1, a.dtype)[()], kept)
    return np.linalg.solve(kept, b)


@rule("linalg_solve_triangular.default")
def _solve_triangular(a: Any, b: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    if left:
        return _triangular(a, b, upper, unitriangular)
    turned = _triangular(np.swapaxes(a, -2, -1), np.swapaxes(b, -2, -1), not upper, unitriangular)
    return np.swapaxes(turned, -2, -1)


@rule("triangular_solve.default")
def _triangular_solve(b: Any, a: Any, upper: bool = True, transpose: bool = False, unit: bool = False) -> Any:
    given = np.swapaxes(a, -2, -1) if transpose else a
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    copy = np.broadcast_to(a, (*stack, *a.shape[-2:]))
    return _triangular(given, b, upper != transpose, unit), copy


@rule("linalg_lu_factor_ex.default")
def _lu_factor(x: Any, *, pivot: bool = True, check_errors: bool = False, made: Made | None = None) -> Any:
    if not pivot:
        raise NotImplementedError("factors with pivots alone")
    if 0 in x.shape:
        return x, constant(np.ones((*x.shape[:-2], min(x.shape[-2:])), np.int32)), _info(x)
    lu, pivots, *_ = apply_codelet("lu", "lu", x)
    return lu, pivots.astype(np.int32) + 1, _info(x)


def _rows_of(pivots: Any, rows: int) -> Any:
    """The order of rows after the swaps of ``pivots``, which count from 1."""
    stack = pivots.shape[:-1]
    order = np.broadcast_to(constant(np.arange(rows, dtype=np.int64)), (*stack, rows))
    places = np.arange(rows)
    for step in range(pivots.shape[-1]):
        other = (pivots[..., step : step + 1] - 1).astype(np.int64)
        mine, theirs = order[..., step : step + 1], np.take_along_axis(order, other, -1)
        order = np.where(places == other, mine, order)
        order = np.where(places == step, theirs, order)
    return order


def _permutation(pivots: Any, rows: int, dtype: Any) -> Any:
    order = _rows_of(pivots, rows)
    return (order[..., None, :] == np.arange(rows)[:, None]).astype(dtype)


def _parts(lu: Any) -> tuple[Any, Any]:
    rows, columns = lu.shape[-2:]
    kept = min(rows, columns)
    lower = np.tril(lu[..., :kept], -1)
    lower = lower + np.eye(rows, kept, dtype=lu.dtype)
    return lower, np.triu(lu[..., :kept, :])


@rule("linalg_lu.default")
def _lu(x: Any, *, pivot: bool = True) -> Any:
    lu, pivots, _ = _lu_factor(x, pivot=pivot, made=None)
    return (_permutation(pivots, x.shape[-2], x.dtype), *_parts(lu))


@rule("lu_unpack.default")
def _lu_unpack(lu: Any, pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    none = constant(np.zeros((0,), lu.dtype))
    lower, upper = _parts(lu) if unpack_data else (none, none)
    return _permutation(pivots, lu.shape[-2], lu.dtype) if unpack_pivots else none, lower, upper


@rule("linalg_lu_solve.default")
def _lu_solve(lu: Any, pivots: Any, b: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    lower, upper = _parts(lu)
    whole = np.matmul(_permutation(pivots, lu.shape[-2], lu.dtype), np.matmul(lower, upper))
    whole = _adjoint(whole) if adjoint else whole
    if left:
        return np.linalg.solve(whole, b)
    return np.swapaxes(np.linalg.solve(np.swapaxes(whole, -2, -1), np.swapaxes(b, -2, -1)), -2, -1)


@rule("linalg_qr.default")
def _qr(x: Any, mode: Any = "reduced", *, made: Made) -> Any:
    if mode == "r":
        return constant(np.zeros(*made.every[0])), np.linalg.qr(x, mode="r")
    return tuple(np.linalg.qr(x, mode=mode))


@rule("geqrf.default")
def _geqrf(x: Any) -> Any:
    vectors, scales = apply_codelet("geqrf", "reflections", x)
    return vectors, scales


@rule("linalg_householder_product.default")
def _householder(x: Any, scales: Any) -> Any:
    columns, count = x.shape[-1], scales.shape[-1]
    if count < columns:
        scales = np.pad(scales, [(0, 0)] * (len(scales.shape) - 1) + [(0, columns - count)])
    return apply_codelet("householder_product", "reflections_product", x, scales)[0]


@rule("ormqr.default")
def _ormqr(x: Any, scales: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    rows, count = x.shape[-2], scales.shape[-1]
    stack = [(0, 0)] * (len(x.shape) - 2)
    whole = np.pad(x[..., :count], [*stack, (0, 0), (0, rows - count)])
    q = _householder(whole, np.pad(scales, [*stack, (0, rows - count)]))
    q = _adjoint(q) if transpose else q
    return np.matmul(q, other) if left else np.matmul(other, q)


@rule("_linalg_eigh.default")
def _eigh(x: Any, uplo: Any = "L", compute_v: bool = True, *, made: Made) -> Any:
    if not compute_v:
        return np.linalg.eigvalsh(x, uplo), constant(np.zeros(*made.every[1]))
    return tuple(np.linalg.eigh(x, uplo))


@rule("linalg_eig.default")
def _eig(x: Any) -> Any:
    return apply_codelet("eig", "eig_complex" if x.dtype.kind == "c" else "eig", x)


@rule("linalg_eigvals.default", "_linalg_eigvals.default")
def _eigvals(x: Any) -> Any:
    return apply_codelet("eigvals", "eigvals_complex" if x.dtype.kind == "c" else "eigvals", x)[0]


@rule("_linalg_svd.default")
def _svd(x: Any, full_matrices: bool = False, compute_uv: bool = True, *, driver: Any = None, made: Made) -> Any:
    if not compute_uv:
        none = [constant(np.zeros(*each)) for each in made.every]
        return none[0], np.linalg.svdvals(x), none[2]
    return tuple(np.linalg.svd(x, full_matrices=full_matrices))


@rule("linalg_matrix_exp.default")
def _matrix_exp(x: Any) -> Any:
    """By 18 terms of the series for ``x / 2**8``, squared eight times."""
    small = x * np.asarray(2.0**-8, x.real.dtype)[()]
    eye = np.broadcast_to(constant(np.eye(x.shape[-1], dtype=x.dtype)), x.shape)
    found = eye
    for term in range(12, 0, -1):
        found = eye + np.matmul(small, found) * np.asarray(1.0 / term, x.real.dtype)[()]
    for _ in range(8):
        found = np.matmul(found, found)
    return found
