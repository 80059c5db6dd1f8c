"""Systems of linear equations: Cholesky factors, LU factors, triangular and general solutions, determinants.

What cannot be done gives NaN: the factor of a matrix that is not positive definite, a solution with a matrix that is
singular. Definitions are the textbook's; the fast forms are LAPACK by NumPy, or the same steps on whole stacks.
"""

from functools import partial
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import LibraryCodelet
from ipu_mlir.dialects.codelets.matrices import Array, Sizes, matrix_codelets, or_nan
from ipu_mlir.dialects.machine.size_arithmetic import smaller

_BLOCK = 32


def _cholesky_one(a: Array) -> Array:
    size = len(a)
    found = np.zeros_like(a)
    for j in range(size):
        square = a[j, j].real - np.sum(np.abs(found[j, :j]) ** 2)
        if not square > 0:
            return np.full_like(a, np.nan)
        found[j, j] = np.sqrt(square)
        found[j + 1 :, j] = (a[j + 1 :, j] - found[j + 1 :, :j] @ found[j, :j].conj()) / found[j, j]
    return found


def _cholesky_all(a: Array) -> tuple[Array, ...]:
    """A NaN of the lower triangle reaches its last element, and makes the whole factor NaN."""
    (found,) = or_nan(np.linalg.cholesky, a, cores=(2,))
    if a.size:
        found[np.isnan(found[..., -1, -1])] = np.nan
    return (found,)


def _solve_triangular_one(lower: bool, unit: bool, a: Array, b: Array) -> Array:
    """Row after row, by what is known already."""
    found = b.copy()
    size = len(a)
    for i in range(size) if lower else reversed(range(size)):
        known = slice(0, i) if lower else slice(i + 1, size)
        found[i] -= a[i, known] @ found[known]
        if not unit:
            found[i] /= a[i, i]
    return found


def _solve_triangular_all(lower: bool, unit: bool, a: Array, b: Array) -> tuple[Array, ...]:
    return (_substitute(lower, unit, a, b.copy()),)


def _substitute(lower: bool, unit: bool, a: Array, found: Array) -> Array:
    """Solve in place: rows of a block one after the other, for all matrices; what they know of others by a product."""
    size = a.shape[-1]
    starts = range(0, size, _BLOCK)
    for start in starts if lower else reversed(starts):
        stop = min(size, start + _BLOCK)
        before = slice(0, start) if lower else slice(stop, size)
        if before.start != before.stop:
            found[..., start:stop, :] -= a[..., start:stop, before] @ found[..., before, :]
        for i in range(start, stop) if lower else reversed(range(start, stop)):
            known = slice(start, i) if lower else slice(i + 1, stop)
            row = found[..., i : i + 1, :]
            row -= a[..., i : i + 1, known] @ found[..., known, :]
            if not unit:
                row /= a[..., i : i + 1, i : i + 1]
    return found


def _size(number: Array) -> Array:
    """The size that LAPACK compares to find a pivot."""
    return np.abs(number.real) + np.abs(number.imag) if number.dtype.kind == "c" else np.abs(number)


def _lu_one(a: Array) -> tuple[Array, Array, Array]:
    """Column after column, each with the largest of its elements on the diagonal."""
    a = a.copy()
    rows, columns = a.shape
    count = min(rows, columns)
    pivots, order = np.zeros(count, np.int32), np.arange(rows, dtype=np.int32)
    for k in range(count):
        pivot = k + int(np.argmax(_size(a[k:, k])))
        pivots[k] = pivot
        a[[k, pivot]] = a[[pivot, k]]
        order[[k, pivot]] = order[[pivot, k]]
        if a[k, k] != 0:
            a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a, pivots, order


def _lu_all(a: Array) -> tuple[Array, ...]:
    """Blocks of columns, all matrices at once; what is right of a block is updated by a product."""
    *stack, rows, columns = a.shape
    a = a.reshape(-1, rows, columns).copy()
    every, count = np.arange(len(a)), min(rows, columns)
    pivots, order = np.zeros((len(a), count), np.int32), np.tile(np.arange(rows, dtype=np.int32), (len(a), 1))
    for start in range(0, count, _BLOCK):
        stop = min(count, start + _BLOCK)
        for k in range(start, stop):
            pivot = k + _size(a[:, k:, k]).argmax(1)
            pivots[:, k] = pivot
            for each in (a, order):
                taken = each[every, pivot]
                each[every, pivot] = each[:, k]
                each[:, k] = taken
            scale = a[:, k, k]
            a[:, k + 1 :, k] /= np.where(scale == 0, 1, scale)[:, None]
            a[:, k + 1 :, k + 1 : stop] -= a[:, k + 1 :, k, None] * a[:, None, k, k + 1 : stop]
        if stop < columns:
            right = _substitute(True, True, a[:, start:stop, start:stop], a[:, start:stop, stop:])
            a[:, stop:, stop:] -= a[:, stop:, start:stop] @ right
    return a.reshape(*stack, rows, columns), pivots.reshape(*stack, count), order.reshape(*stack, rows)


def _solve_one(a: Array, b: Array) -> Array:
    """By LU factors; NaN where a pivot is 0."""
    factors, _, order = _lu_one(a)
    if not np.diagonal(factors).all():
        return np.full_like(b, np.nan)
    return _solve_triangular_one(False, False, factors, _solve_triangular_one(True, True, factors, b[order]))


def _slogdet_one(a: Array) -> tuple[Array, Array]:
    factors, pivots, _ = _lu_one(a)
    diagonal = np.diagonal(factors)
    sizes = np.abs(diagonal)
    exchanges = np.count_nonzero(pivots != np.arange(len(pivots)))
    sign = np.prod(np.where(sizes == 0, 0, diagonal / np.where(sizes == 0, 1, sizes))) * (-1) ** exchanges
    return np.asarray(sign, a.dtype), np.asarray(np.sum(np.log(sizes)), sizes.dtype)


def _det_one(a: Array) -> Array:
    factors, pivots, _ = _lu_one(a)
    exchanges = np.count_nonzero(pivots != np.arange(len(pivots)))
    return np.asarray(np.prod(np.diagonal(factors)) * (-1) ** exchanges, a.dtype)


def _solve_tridiagonal_one(below: Array, on: Array, above: Array, b: Array) -> Array:
    return _solve_tridiagonal_all(below, on, above, b)[0]


def _solve_tridiagonal_all(below: Array, on: Array, above: Array, b: Array) -> tuple[Array, ...]:
    """Each row is taken off the next, or the next off it if its element below the pivot is the larger one."""
    size = on.shape[-1]
    on, above, found = on.copy(), above.copy(), b.copy()
    above[..., -1:] = 0
    second = np.zeros_like(on)  # above the diagonal above
    for i in range(size - 1):
        j = i + 1
        pivot, lower = on[..., i].copy(), below[..., j]
        turns = _size(pivot) < _size(lower)
        first = np.where(turns, lower, pivot)
        factor = np.where(turns, pivot, lower) / np.where(first == 0, 1, first)
        on[..., i] = first
        beside, under, after = above[..., i].copy(), on[..., j].copy(), above[..., j].copy()
        above[..., i] = np.where(turns, under, beside)
        second[..., i] = np.where(turns, after, 0)
        on[..., j] = np.where(turns, beside, under) - factor * above[..., i]
        above[..., j] = np.where(turns, -factor * after, after)
        upper, row = found[..., i, :].copy(), found[..., j, :].copy()
        turns, factor = turns[..., None], factor[..., None]
        found[..., i, :] = np.where(turns, row, upper)
        found[..., j, :] = np.where(turns, upper, row) - factor * found[..., i, :]
    is_singular = (on == 0).any(-1)
    on[is_singular] = 1
    for i in reversed(range(size)):
        for distance, coefficients in ((1, above), (2, second)):
            if i + distance < size:
                found[..., i, :] -= coefficients[..., i, None] * found[..., i + distance, :]
        found[..., i, :] /= on[..., i, None]
    found[is_singular] = np.nan
    return (found,)


def elimination_flops(rows: Any, columns: Any) -> Any:
    """Of an LU factorisation: in step ``i``, a multiply-add for each element behind row and column ``i``."""
    count = smaller(rows, columns)
    return 2 * rows * columns * count - (rows + columns) * count**2 + 2 * count**3 // 3


def _triangular(lower: bool, unit: bool) -> tuple[LibraryCodelet, ...]:
    return matrix_codelets(
        f"solve_{'lower' if lower else 'upper'}{'_unit' if unit else ''}",
        "n1 n2, n1 k -> n1 k",
        "n1 n2 p, n1 k p -> n1 k p",
        partial(_solve_triangular_one, lower, unit),
        partial(_solve_triangular_all, lower, unit),
        parallel="k",
        flops=lambda sizes: sizes["n"] ** 2 * sizes["k"],
        steps=lambda sizes: sizes["n"],
        scratch=lambda sizes: sizes["n"],
        source="substitution, as LAPACK's trtrs; the other triangle is not read",
    )


def _n(sizes: Sizes) -> Any:
    return sizes["n"]


def _squared(sizes: Sizes) -> Any:
    return sizes["n"] ** 2


SOLVERS: tuple[LibraryCodelet, ...] = (
    *matrix_codelets(
        "cholesky",
        "n1 n2 -> n1 n2",
        "n1 n2 p -> n1 n2 p",
        _cholesky_one,
        _cholesky_all,
        flops=lambda sizes: sizes["n"] ** 3 // 3 + sizes["n"] ** 2,
        steps=_n,
        scratch=_n,
        source="numpy.linalg.cholesky: the lower factor, of the lower triangle; NaN if not positive definite",
    ),
    *(codelet for lower in (True, False) for unit in (False, True) for codelet in _triangular(lower, unit)),
    *matrix_codelets(
        "lu",
        "m n -> m n, k, m",
        "m n p -> m n p, k, m",
        _lu_one,
        _lu_all,
        related=lambda sizes: sizes["k"] == min(sizes["m"], sizes["n"]),
        flops=lambda sizes: elimination_flops(sizes["m"], sizes["n"]),
        steps=lambda sizes: 2 * sizes["k"],
        scratch=lambda sizes: sizes["n"],
        source="LAPACK's getrf with pivots from 0, and the order of the rows that they give",
    ),
    *matrix_codelets(
        "solve",
        "n1 n2, n1 k -> n1 k",
        "n1 n2 p, n1 k p -> n1 k p",
        _solve_one,
        partial(or_nan, np.linalg.solve, cores=(2, 2)),
        parallel="k",
        flops=lambda sizes: elimination_flops(sizes["n"], sizes["n"]) + 2 * sizes["n"] ** 2 * sizes["k"],
        steps=lambda sizes: 4 * sizes["n"],
        scratch=_squared,
        source="numpy.linalg.solve; NaN if singular",
    ),
    *matrix_codelets(
        "solve_tridiagonal",
        "n, n, n, n k -> n k",
        "n p, n p, n p, n k p -> n k p",
        _solve_tridiagonal_one,
        _solve_tridiagonal_all,
        parallel="k",
        flops=lambda sizes: 8 * sizes["n"] + 7 * sizes["n"] * sizes["k"],
        steps=lambda sizes: 2 * sizes["n"],
        scratch=lambda sizes: 3 * sizes["n"],
        source="LAPACK's gtsv, of the elements below, on and above the diagonal in each row; NaN if singular",
    ),
    *matrix_codelets(
        "slogdet",
        "n1 n2 -> ,",
        "n1 n2 p -> p,",
        _slogdet_one,
        lambda a: tuple(np.asarray(each) for each in np.linalg.slogdet(a)),
        flops=lambda sizes: elimination_flops(sizes["n"], sizes["n"]) + 8 * sizes["n"],
        steps=lambda sizes: 2 * sizes["n"],
        scratch=_squared,
        source="numpy.linalg.slogdet",
    ),
    *matrix_codelets(
        "det",
        "n1 n2 ->",
        "n1 n2 p -> p",
        _det_one,
        lambda a: (np.asarray(np.linalg.det(a)),),
        flops=lambda sizes: elimination_flops(sizes["n"], sizes["n"]) + sizes["n"],
        steps=lambda sizes: 2 * sizes["n"],
        scratch=_squared,
        source="numpy.linalg.det",
    ),
)
"""Loops are those of the stack, then rows and columns; columns of right sides may lie on several tiles."""
