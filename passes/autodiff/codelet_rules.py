"""Rules of library codelets: solutions of equations, determinants, eigenvalues, Fourier transforms, losses of label
sequences; those of factors have a file of their own.

Each takes the call, its operands, and the cotangents of its results, and gives those of its operands.
"""

from collections.abc import Sequence
from functools import partial

from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.scalar_attributes import scalar_attribute
from ipu_mlir.passes.autodiff.activity import is_differentiable
from ipu_mlir.passes.autodiff.backward import Backward, NotDifferentiable, elementwise, total, zeros
from ipu_mlir.passes.autodiff.factor_rules import FACTOR_RULES
from ipu_mlir.passes.autodiff.stacks import (
    CodeletRule,
    Values,
    called,
    contracted,
    folded,
    lower_triangle,
    negative,
    on_diagonal,
    over_gaps,
    transposed,
    upper_triangle,
)
from ipu_mlir.passes.support.codelet_calls import call_codelet
from ipu_mlir.passes.support.linalg_builders import generic, identity_map

arith, tensor = upstream("arith"), upstream("tensor")


def add_to_operands_of_call(op: ir.Operation, back: Backward) -> None:
    """The rule of ``linalg.generic`` with a ``library_call``.

    Raises:
        NotDifferentiable: the codelet has no rule.
    """
    name = ir.StringAttr(op.attributes["library_call"]).value
    rule = CODELET_RULES.get(name)
    if rule is None:
        raise NotDifferentiable(op, f'calls "{name}", which has no rule for its derivative')
    signature = codelet_named(name).signature
    assert signature is not None, "a codelet on stacks"
    operands = list(op.operands)[: len(signature.inputs)]
    cotangents = [back.of_or_zeros(result) for result in op.results if is_differentiable(result.type)]
    for operand, each in zip(operands, rule(op, operands, cotangents), strict=True):
        back.add(operand, each)


def _triangular(lower: bool, unit: bool, op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """With x = inv(a) b: db = inv(a)' dx, and da = -db x' as far as ``a`` is read."""
    a, _ = operands
    turned = f"solve_{'upper' if lower else 'lower'}{'_unit' if unit else ''}"
    right = called(turned, [transposed(a), cotangents[0]], cotangents[0].type)
    triangle = lower_triangle if lower else upper_triangle
    return [triangle(negative(contracted("ik,jk->ij", right, op.results[0])), strict=unit), right]


def _solve(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    right = called("solve", [transposed(operands[0]), cotangents[0]], cotangents[0].type)
    return [negative(contracted("ik,jk->ij", right, op.results[0])), right]


def _solve_tridiagonal(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """As of a whole matrix, for the three elements of each row that there are."""
    below, on, above, _ = operands
    found = op.results[0]
    diagonals = [_moved(above, 1, rank=1), on, _moved(below, -1, rank=1)]
    right = called("solve_tridiagonal", [*diagonals, cotangents[0]], cotangents[0].type)
    rows = [_moved(found, 1, rank=2), found, _moved(found, -1, rank=2)]
    return [*(negative(contracted("ik,ik->i", right, each)) for each in rows), right]


def _moved(values: ir.Value, by: int, rank: int) -> ir.Value:
    """Stacks of ``values`` of ``rank`` dimensions, each row in the place of the next (1) or of the last one (-1)."""
    shape = list(values.type.shape)
    along, strides = len(shape) - rank, [1] * len(shape)
    sizes = [*shape[:along], shape[along] - 1, *shape[along + 1 :]]
    start, end = ([int(place == along and which) for place in range(len(shape))] for which in (by < 0, by > 0))
    kind = ir.RankedTensorType.get(sizes, values.type.element_type)
    rows = tensor.ExtractSliceOp(kind, values, [], [], [], start, sizes, strides).result
    return tensor.InsertSliceOp(rows, zeros(values.type), [], [], [], end, sizes, strides).result


def _cholesky(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """With s = inv(l)' p(l' dl) inv(l), where p keeps the lower triangle and half of the diagonal: s + s'.

    The factor is that of a lower triangle, so what is above has no part in it, and the diagonal counts once.
    """
    factor = op.results[0]
    middle = folded(contracted("ki,kj->ij", factor, cotangents[0]))
    upper = transposed(factor)
    half = called("solve_upper", [upper, middle], middle.type)
    found = called("solve_upper", [upper, transposed(half)], middle.type)
    return [folded(total(found, transposed(found)))]


def _determinant(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    share = elementwise([cotangents[0], op.results[0]], cotangents[0].type, lambda values: arith.mulf(*values))
    return [_times_inverse(operands[0], share)]


def _log_determinant(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """Signs do not change."""
    return [_times_inverse(operands[0], cotangents[1])]


def _times_inverse(a: ir.Value, numbers: ir.Value) -> ir.Value:
    """The inverse of each transposed matrix, times a number."""
    return called("solve", [transposed(a), on_diagonal(numbers, a.type.shape[-1])], a.type)


def _eigenvalues(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """With a = v diag(w) v': v diag(dw) v'."""
    values, kind = op.results[0], operands[0].type
    _, vectors = call_codelet("eigh", operands, [values.type.shape, kind.shape], [kind.element_type] * 2)
    found = contracted("ik,k,jk->ij", vectors, cotangents[0], vectors)
    return [folded(total(found, found))]


def _eigenvectors(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """With f[i, j] = 1 / (w[j] - w[i]) beside the diagonal: v (diag(dw) + f * (v' dv)) v'."""
    values, vectors = op.results
    by_values, by_vectors = cotangents
    turned = over_gaps(contracted("ki,kj->ij", vectors, by_vectors), values)
    moved = contracted("ik,kl,jl->ij", vectors, turned, vectors)
    found = total(contracted("ik,k,jk->ij", vectors, by_values, vectors), moved)
    return [folded(total(found, transposed(found)))]


def _singular_values(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """With a = u diag(s) v': u diag(ds) v'."""
    (a,), kind = operands, op.results[0].type
    (*stack, rows, columns), (*_, count) = a.type.shape, kind.shape
    shapes = [[*stack, rows, count], [*stack, count], [*stack, count, columns]]
    left, _, right = call_codelet("svd_reduced", operands, shapes, [kind.element_type] * 3)
    return [contracted("ik,k,kj->ij", left, cotangents[0], right)]


def _ctc(op: ir.Operation, operands: Values, cotangents: Values) -> Sequence[ir.Value | None]:
    """The gradient of a loss by the logarithms, which are its first operand."""
    kind, loss = operands[0].type, cotangents[0].type
    _, found = call_codelet("ctc_loss_gradient", operands, [loss.shape, kind.shape], [kind.element_type] * 2)
    return [contracted(",ij->ij", cotangents[0], found), *[None] * (len(operands) - 1)]


def _fourier(inverse: bool, op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """The adjoint turns the other way; only an inverse transform is divided by the size."""
    (cotangent,) = cotangents
    size = cotangent.type.shape[-2]
    found = called("fft" if inverse else "ifft", [cotangent], cotangent.type)
    return [_weighed(found, [1 / size if inverse else size] * size)]


def _half_fourier(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """An inverse transform counts twice the bins that stand for their conjugates too."""
    (x,) = operands
    size = x.type.shape[-1]
    weighed = _weighed(cotangents[0], [size / count for count in _counts(size)])
    return [called("irfft_odd" if size % 2 else "irfft", [weighed], x.type)]


def _whole_fourier(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    size = cotangents[0].type.shape[-1]
    found = called("rfft", cotangents, operands[0].type)
    return [_weighed(found, [count / size for count in _counts(size)])]


def _counts(size: int) -> list[int]:
    """How many bins of a transform of ``size`` real numbers each bin of its first half stands for.

    >>> _counts(6), _counts(5), _counts(1)
    ([1, 2, 2, 1], [1, 2, 2], [1])
    """
    return [1 if each == 0 or 2 * each == size else 2 for each in range(size // 2 + 1)]


def _weighed(pairs: ir.Value, weights: Sequence[float]) -> ir.Value:
    """Pairs of parts along the last dimension but one, times a constant each."""
    element = pairs.type.element_type
    kind = ir.RankedTensorType.get([len(weights)], element)
    constant = ir.DenseElementsAttr.get([scalar_attribute(element, float(each)) for each in weights], kind)
    rank, factors = len(pairs.type.shape), arith.ConstantOp(kind, constant).result
    maps = [identity_map(rank), ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(rank - 2)]), identity_map(rank)]
    empty = tensor.EmptyOp(list(pairs.type.shape), element).result

    def body(values: list[ir.Value]) -> list[ir.Value]:
        return [arith.mulf(values[0], values[1])]

    return generic([pairs, factors], [empty], maps, [True] * rank, body).results[0]


CODELET_RULES: dict[str, CodeletRule] = {
    **{
        f"solve_{'lower' if lower else 'upper'}{'_unit' if unit else ''}": partial(_triangular, lower, unit)
        for lower in (True, False)
        for unit in (False, True)
    },
    "solve": _solve,
    "solve_tridiagonal": _solve_tridiagonal,
    "cholesky": _cholesky,
    "det": _determinant,
    "slogdet": _log_determinant,
    "eigvalsh": _eigenvalues,
    "eigh": _eigenvectors,
    "svdvals": _singular_values,
    **FACTOR_RULES,
    "ctc_loss": _ctc,
    "fft": partial(_fourier, False),
    "ifft": partial(_fourier, True),
    "rfft": _half_fourier,
    "irfft": _whole_fourier,
    "irfft_odd": _whole_fourier,
}
"""By the name of the codelet."""
