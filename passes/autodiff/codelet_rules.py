"""Rules of library codelets: solutions of equations, factors, determinants, Fourier transforms, losses of
label sequences.

Each takes the call, its operands, and the cotangents of its results, and gives those of its operands.
"""

from collections.abc import Callable, Sequence
from functools import partial

from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.scalar_attributes import scalar_attribute
from ipu_mlir.passes.autodiff.activity import is_differentiable
from ipu_mlir.passes.autodiff.backward import Backward, NotDifferentiable, elementwise, total, zeros
from ipu_mlir.passes.autodiff.stacks import (
    by_place,
    contracted,
    lower_triangle,
    on_diagonal,
    rows_put_back,
    transposed,
    upper_triangle,
)
from ipu_mlir.passes.support.codelet_calls import call_codelet
from ipu_mlir.passes.support.linalg_builders import fill_with, generic, identity_map

arith = upstream("arith")

Values = Sequence[ir.Value]
CodeletRule = Callable[[ir.Operation, Values, Values], Sequence[ir.Value | None]]
"""From a call, its operands without results, and the cotangents of its results, to those of the operands, if any."""


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
    right = _call(turned, [transposed(a), cotangents[0]], cotangents[0].type)
    triangle = lower_triangle if lower else upper_triangle
    return [triangle(_negative(contracted("ik,jk->ij", right, op.results[0])), strict=unit), right]


def _solve(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    right = _call("solve", [transposed(operands[0]), cotangents[0]], cotangents[0].type)
    return [_negative(contracted("ik,jk->ij", right, op.results[0])), right]


def _cholesky(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """With s = inv(l)' p(l' dl) inv(l), where p keeps the lower triangle and half of the diagonal: s + s'.

    The factor is that of a lower triangle, so what is above has no part in it, and the diagonal counts once.
    """
    factor = op.results[0]
    middle = _folded(contracted("ki,kj->ij", factor, cotangents[0]))
    upper = transposed(factor)
    half = _call("solve_upper", [upper, middle], middle.type)
    found = _call("solve_upper", [upper, transposed(half)], middle.type)
    return [_folded(total(found, transposed(found)))]


def _lu(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """Of square matrices, with p a = l u: p' inv(l)' (tril(l' dl, -1) + triu(du u')) inv(u)'."""
    *_, rows, columns = operands[0].type.shape
    if rows != columns:
        raise NotDifferentiable(
            op, f"factors matrices of {rows} rows and {columns} columns; only square ones have a rule"
        )
    factors, _, order = op.results
    kind = factors.type
    lower = by_place(lower_triangle(factors, strict=True), _or_one)
    left = lower_triangle(contracted("ki,kj->ij", lower, lower_triangle(cotangents[0], strict=True)), strict=True)
    upper = upper_triangle(factors)
    right = upper_triangle(contracted("ik,jk->ij", upper_triangle(cotangents[0]), upper))
    middle = _call("solve_upper_unit", [transposed(factors), total(left, right)], kind)
    found = transposed(_call("solve_upper", [factors, transposed(middle)], kind))
    return [rows_put_back(found, order)]


def _or_one(x: ir.Value, i: ir.Value, j: ir.Value) -> ir.Value:
    return arith.SelectOp(arith.cmpi(arith.CmpIPredicate.eq, i, j), _number(1, x.type), x).result


def _determinant(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    share = elementwise([cotangents[0], op.results[0]], cotangents[0].type, lambda values: arith.mulf(*values))
    return [_times_inverse(operands[0], share)]


def _log_determinant(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """Signs do not change."""
    return [_times_inverse(operands[0], cotangents[1])]


def _times_inverse(a: ir.Value, numbers: ir.Value) -> ir.Value:
    """The inverse of each transposed matrix, times a number."""
    return _call("solve", [transposed(a), on_diagonal(numbers, a.type.shape[-1])], a.type)


def _eigenvalues(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """With a = v diag(w) v': v diag(dw) v'."""
    values, kind = op.results[0], operands[0].type
    _, vectors = call_codelet("eigh", operands, [values.type.shape, kind.shape], [kind.element_type] * 2)
    found = contracted("ik,k,jk->ij", vectors, cotangents[0], vectors)
    return [_folded(total(found, found))]


def _eigenvectors(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """With f[i, j] = 1 / (w[j] - w[i]) beside the diagonal: v (diag(dw) + f * (v' dv)) v'."""
    values, vectors = op.results
    by_values, by_vectors = cotangents
    turned = _over_gaps(contracted("ki,kj->ij", vectors, by_vectors), values)
    moved = contracted("ik,kl,jl->ij", vectors, turned, vectors)
    found = total(contracted("ik,k,jk->ij", vectors, by_values, vectors), moved)
    return [_folded(total(found, transposed(found)))]


def _singular_values(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """With a = u diag(s) v': u diag(ds) v'."""
    (a,), kind = operands, op.results[0].type
    (*stack, rows, columns), (*_, count) = a.type.shape, kind.shape
    shapes = [[*stack, rows, count], [*stack, count], [*stack, count, columns]]
    left, _, right = call_codelet("svd_reduced", operands, shapes, [kind.element_type] * 3)
    return [contracted("ik,k,kj->ij", left, cotangents[0], right)]


def _over_gaps(matrices: ir.Value, values: ir.Value) -> ir.Value:
    """Elements divided by the differences of the values of column and row; 0 on the diagonal."""
    one = fill_with(_number(1, values.type.element_type), zeros(matrices.type)).results[0]
    apart = total(contracted("ij,j->ij", one, values), _negative(contracted("ij,i->ij", one, values)))
    whole = by_place(apart, _or_one)
    found = elementwise([matrices, whole], matrices.type, lambda each: arith.divf(*each))
    return total(lower_triangle(found, strict=True), upper_triangle(found, strict=True))


def _ctc(op: ir.Operation, operands: Values, cotangents: Values) -> Sequence[ir.Value | None]:
    """The gradient of a loss by the logarithms, which are its first operand."""
    kind, loss = operands[0].type, cotangents[0].type
    _, found = call_codelet("ctc_loss_gradient", operands, [loss.shape, kind.shape], [kind.element_type] * 2)
    return [contracted(",ij->ij", cotangents[0], found), *[None] * (len(operands) - 1)]


def _fourier(inverse: bool, op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """The adjoint turns the other way; only an inverse transform is divided by the size."""
    (cotangent,) = cotangents
    size = cotangent.type.shape[-2]
    found = _call("fft" if inverse else "ifft", [cotangent], cotangent.type)
    return [_weighed(found, [1 / size if inverse else size] * size)]


def _half_fourier(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """An inverse transform counts twice the bins that stand for their conjugates too."""
    (x,) = operands
    size = x.type.shape[-1]
    weighed = _weighed(cotangents[0], [size / count for count in _counts(size)])
    return [_call("irfft_odd" if size % 2 else "irfft", [weighed], x.type)]


def _whole_fourier(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    size = cotangents[0].type.shape[-1]
    found = _call("rfft", cotangents, operands[0].type)
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
    empty = upstream("tensor").EmptyOp(list(pairs.type.shape), element).result

    def body(values: list[ir.Value]) -> list[ir.Value]:
        return [arith.mulf(values[0], values[1])]

    return generic([pairs, factors], [empty], maps, [True] * rank, body).results[0]


def _folded(matrices: ir.Value) -> ir.Value:
    """The lower triangle, and half of the diagonal."""

    def element(x: ir.Value, i: ir.Value, j: ir.Value) -> ir.Value:
        half = arith.mulf(x, _number(0.5, x.type))
        return arith.SelectOp(arith.cmpi(arith.CmpIPredicate.eq, i, j), half, x).result

    return by_place(lower_triangle(matrices), element)


def _number(number: float, kind: ir.Type) -> ir.Value:
    return arith.ConstantOp(kind, scalar_attribute(kind, number)).result


def _negative(value: ir.Value) -> ir.Value:
    return elementwise([value], value.type, lambda values: arith.negf(values[0]))


def _call(name: str, operands: Values, kind: ir.RankedTensorType) -> ir.Value:
    return call_codelet(name, operands, [kind.shape], [kind.element_type])[0]


CODELET_RULES: dict[str, CodeletRule] = {
    **{
        f"solve_{'lower' if lower else 'upper'}{'_unit' if unit else ''}": partial(_triangular, lower, unit)
        for lower in (True, False)
        for unit in (False, True)
    },
    "solve": _solve,
    "cholesky": _cholesky,
    "lu": _lu,
    "det": _determinant,
    "slogdet": _log_determinant,
    "eigvalsh": _eigenvalues,
    "eigh": _eigenvectors,
    "svdvals": _singular_values,
    "ctc_loss": _ctc,
    "fft": partial(_fourier, False),
    "ifft": partial(_fourier, True),
    "rfft": _half_fourier,
    "irfft": _whole_fourier,
    "irfft_odd": _whole_fourier,
}
"""By the name of the codelet."""
