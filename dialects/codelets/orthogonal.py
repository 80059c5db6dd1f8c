"""Orthogonal factors: Householder's reflections, eigenvectors, singular vectors."""

from functools import partial
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import LibraryCodelet
from ipu_mlir.dialects.codelets.matrices import Array, Sizes, matrix_codelets, on_pairs, or_nan, stack_codelet, to_pairs
from ipu_mlir.dialects.codelets.signature import Signature
from ipu_mlir.dialects.codelets.solve import elimination_flops
from ipu_mlir.dialects.machine.size_arithmetic import Size, larger, smaller


def _reflections_one(a: Array) -> tuple[Array, Array]:
    """Column after column: the reflection that makes all below the diagonal 0, applied to the columns behind it."""
    a = a.copy()
    count = min(a.shape)
    scales = np.zeros(count, a.dtype)
    for k in range(count):
        first, below = a[k, k], a[k + 1 :, k]
        length = np.linalg.norm(below)
        if length == 0 and first.imag == 0:
            continue
        beta = -np.copysign(np.hypot(np.abs(first), length), first.real).astype(a.real.dtype)
        scales[k] = (beta - first) / beta
        vector = np.concatenate([[1], below / (first - beta)]).astype(a.dtype)
        a[k + 1 :, k], a[k, k] = vector[1:], beta
        a[k:, k + 1 :] -= np.outer(np.conj(scales[k]) * vector, vector.conj() @ a[k:, k + 1 :])
    return a, scales


def _reflections_all(a: Array) -> tuple[Array, ...]:
    turned, scales = np.linalg.qr(a, mode="raw")
    return np.swapaxes(turned, -1, -2), scales


def _product_all(vectors: Array, scales: Array) -> tuple[Array, ...]:
    """The first columns of the product of the reflections, the last of which is applied first."""
    columns = vectors.shape[-1]
    found = np.zeros(vectors.shape, vectors.dtype)
    found[..., np.arange(columns), np.arange(columns)] = 1
    for k in reversed(range(scales.shape[-1])):
        vector = vectors[..., k:, k].copy()
        vector[..., 0] = 1
        turned = vector[..., None, :].conj() @ found[..., k:, k:]
        found[..., k:, k:] -= (scales[..., k, None] * vector)[..., None] * turned
    return (found,)


def _product_one(vectors: Array, scales: Array) -> Array:
    """Of whole matrices: ``I - scale * vector * vector'``, one after the other."""
    rows, columns = vectors.shape
    found = np.eye(rows, dtype=vectors.dtype)
    for k, scale in enumerate(scales):
        vector = np.concatenate([np.zeros(k), [1], vectors[k + 1 :, k]]).astype(vectors.dtype)
        found = found - np.outer(scale * (found @ vector), vector.conj())
    return found[:, :columns]


def _or_nan(function: Any) -> tuple[Any, Any]:
    """Of one matrix and of stacks: vectors have signs that only the function itself defines."""
    whole = partial(or_nan, function, cores=(2,))
    return whole, whole


def _eigh_flops(sizes: Sizes) -> Any:
    return 9 * sizes["n"] ** 3


def product_flops(m: Size, n: Size, k: Size) -> Any:
    """Of the first ``n`` columns of the product of ``k`` reflections."""
    return 4 * m * n * k - 2 * (m + n) * k**2 + 4 * k**3 // 3


def singular_flops(m: Size, n: Size, vectors: str = "") -> Any:
    """Of a matrix, or of its triangular factor, as LAPACK has it of long ones: what takes less.

    Args:
        vectors: none of them, those that go with a value (``reduced``), or all (``full``).
    """
    rows, columns = larger(m, n), smaller(m, n)
    whole, factored = rows * columns**2, columns**3
    if vectors == "full":
        return 4 * rows**2 * columns + smaller(8 * whole + 9 * factored, 22 * factored)
    if vectors == "reduced":
        return smaller(14 * whole + 8 * factored, 6 * whole + 20 * factored)
    return smaller(4 * whole - 4 * factored // 3, 2 * whole + 2 * factored)


def _eig(a: Array) -> tuple[Array, ...]:
    """NumPy gives real numbers where all happen to be so."""
    whole = np.result_type(a.dtype, np.complex64)
    return tuple(np.asarray(each, whole) for each in np.linalg.eig(a))


def _eigvals(a: Array) -> Array:
    return np.asarray(np.linalg.eigvals(a), np.result_type(a.dtype, np.complex64))


def _general(name: str, outputs: str, function: Any, flops: int) -> tuple[LibraryCodelet, ...]:
    """Eigenvalues, which are complex for real matrices as well."""
    one, every = _or_nan(function)

    def definition(a: Array) -> tuple[Array, ...]:
        return tuple(map(to_pairs, one(a)))

    def declared(kind: str, wrapped: Any, operand: str, share: int) -> LibraryCodelet:
        return stack_codelet(
            f"{name}{kind}",
            Signature.parse(f"{operand} -> {outputs}"),
            wrapped,
            wrapped,
            lambda sizes: share * flops * sizes["n"] ** 3,
            lambda sizes: 12 * sizes["n"],
            lambda sizes: 4 * sizes["n"] ** 2 + 6 * sizes["n"],
            f"{_LAPACK}.{name}, in its order; NaN for NaN; flops, an assumption for all matrices: Golub and Van Loan, "
            "7.5.6",
        )

    return declared("", definition, "n1 n2", 1), declared("_complex", on_pairs(every), "n1 n2 p", 4)


def _has_shorter_side(sizes: Any) -> bool:
    return sizes["k"] == min(sizes["m"], sizes["n"])


def _svd(full: bool, a: Array) -> tuple[Array, ...]:
    return tuple(np.linalg.svd(a, full_matrices=full))


_LAPACK = "LAPACK by numpy.linalg"
_COUNTS = "flops: Golub and Van Loan, Matrix Computations, 5.2.9, 5.4.5, 8.3.3"

FACTORS: tuple[LibraryCodelet, ...] = (
    *matrix_codelets(
        "reflections",
        "m n -> m n, k",
        "m n p -> m n p, k p",
        _reflections_one,
        _reflections_all,
        related=_has_shorter_side,
        flops=lambda sizes: 2 * elimination_flops(sizes["m"], sizes["n"]),
        steps=lambda sizes: 3 * sizes["k"],
        scratch=lambda sizes: sizes["m"],
        source=f"LAPACK's geqrf: R, below it the vectors of reflections, and their scales; {_COUNTS}",
    ),
    *matrix_codelets(
        "reflections_product",
        "m n, k -> m n",
        "m n p, k p -> m n p",
        _product_one,
        _product_all,
        related=lambda sizes: sizes["k"] <= sizes["n"] <= sizes["m"],
        flops=lambda sizes: product_flops(sizes["m"], sizes["n"], sizes["k"]),
        steps=lambda sizes: 2 * sizes["k"],
        scratch=lambda sizes: sizes["m"] + sizes["n"],
        source="LAPACK's orgqr and its count of flops: the first columns of the product of reflections",
    ),
    *matrix_codelets(
        "eigh",
        "n1 n2 -> n1, n1 n2",
        "n1 n2 p -> n1, n1 n2 p",
        *_or_nan(lambda a: tuple(np.linalg.eigh(a))),
        flops=_eigh_flops,
        steps=lambda sizes: 6 * sizes["n"],
        scratch=lambda sizes: 2 * sizes["n"] ** 2 + 6 * sizes["n"],
        source=f"{_LAPACK}.eigh: of the lower triangle, ascending, vectors in columns; NaN for NaN; {_COUNTS}",
    ),
    *matrix_codelets(
        "eigvalsh",
        "n1 n2 -> n1",
        "n1 n2 p -> n1",
        *_or_nan(np.linalg.eigvalsh),
        flops=lambda sizes: 4 * sizes["n"] ** 3 // 3,
        steps=lambda sizes: 6 * sizes["n"],
        scratch=lambda sizes: sizes["n"] ** 2 + 2 * sizes["n"],
        source=f"{_LAPACK}.eigvalsh: of the lower triangle, ascending; NaN for NaN; {_COUNTS}",
    ),
    *matrix_codelets(
        "svd",
        "m1 n1 -> m1 m2, k, n2 n1",
        "m1 n1 p -> m1 m2 p, k, n2 n1 p",
        *_or_nan(partial(_svd, True)),
        related=_has_shorter_side,
        flops=lambda sizes: singular_flops(sizes["m"], sizes["n"], "full"),
        steps=lambda sizes: 8 * sizes["k"],
        scratch=lambda sizes: sizes["m"] * sizes["n"] + 4 * sizes["k"] ** 2,
        source=f"{_LAPACK}.svd: descending; NaN for NaN; {_COUNTS}",
    ),
    *matrix_codelets(
        "svd_reduced",
        "m n -> m k1, k1, k1 n",
        "m n p -> m k1 p, k1, k1 n p",
        *_or_nan(partial(_svd, False)),
        related=_has_shorter_side,
        flops=lambda sizes: singular_flops(sizes["m"], sizes["n"], "reduced"),
        steps=lambda sizes: 8 * sizes["k"],
        scratch=lambda sizes: sizes["m"] * sizes["n"] + 4 * sizes["k"] ** 2,
        source=f"{_LAPACK}.svd without full matrices: descending; NaN for NaN; {_COUNTS}",
    ),
    *matrix_codelets(
        "svdvals",
        "m n -> k",
        "m n p -> k",
        *_or_nan(partial(np.linalg.svd, compute_uv=False)),
        related=_has_shorter_side,
        flops=lambda sizes: singular_flops(sizes["m"], sizes["n"]),
        steps=lambda sizes: 8 * sizes["k"],
        scratch=lambda sizes: sizes["m"] * sizes["n"],
        source=f"{_LAPACK}.svdvals: descending; NaN for NaN; {_COUNTS}",
    ),
    *_general("eig", "n1 p, n1 n2 p", _eig, 25),
    *_general("eigvals", "n1 p", _eigvals, 10),
)
"""Loops are those of the stack, then rows and columns."""
