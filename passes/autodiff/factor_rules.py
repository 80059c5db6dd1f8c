"""Rules of codelets that factor matrices: LU factors, Householder's reflections, singular vectors.

Products are of whole stacks of matrices; a prime is a transpose.
"""

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.backward import NotDifferentiable, elementwise, total, zeros
from ipu_mlir.passes.autodiff.stacks import (
    CodeletRule,
    Values,
    called,
    contracted,
    diagonal,
    folded,
    lower_triangle,
    negative,
    number,
    one_on_diagonal,
    over_gaps,
    part_of,
    placed,
    rows_put_back,
    stack_of,
    transposed,
    upper_triangle,
)
from ipu_mlir.passes.support.codelet_calls import call_codelet
from ipu_mlir.passes.support.linalg_builders import zero

arith = upstream("arith")


def _lu(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """With p a = l u, where both factors lie in one matrix."""
    (factors, _, order), (cotangent,) = op.results, cotangents
    *_, rows, columns = factors.type.shape
    count = min(rows, columns)
    (lower, d_lower), (upper, d_upper) = (
        [part_of(each, *which) for each in (factors, cotangent)]
        for which in (((0, rows), (0, count)), ((0, count), (0, columns)))
    )
    found = _by_factors(_unit_lower(lower), upper_triangle(upper), d_lower, d_upper)
    return [rows_put_back(found, order)]


def _unit_lower(matrices: ir.Value) -> ir.Value:
    return one_on_diagonal(lower_triangle(matrices, strict=True))


def _by_factors(lower: ir.Value, upper: ir.Value, d_lower: ir.Value, d_upper: ir.Value) -> ir.Value:
    """The cotangent of l u by those of the factors, of which what is no part of them does not count.

    With rows l1 of the triangle and l2 below, columns u1 of the triangle and u2 behind: u2 = inv(l1) a2 gives a2 the
    cotangent inv(l1)' du2, and dl a further -inv(l1)' du2 u2'; what is left is
    [inv(l1)' (tril(l1' dl1, -1) + triu(du1 u1' - l2' dl2)); dl2] inv(u1)'.
    """
    *_, rows, count = lower.type.shape
    columns = upper.type.shape[-1]
    square, behind = ((0, count), (0, count)), ((0, count), (count, columns))
    d_lower, d_upper = lower_triangle(d_lower, strict=True), upper_triangle(d_upper)
    turned, inner = transposed(part_of(lower, *square)), stack_of(lower, count, count)
    d_right = None
    if columns > count:
        d_behind = part_of(d_upper, *behind)
        d_right = called("solve_upper_unit", [turned, d_behind], d_behind.type)
        more = negative(contracted("ij,kj->ik", d_right, part_of(upper, *behind)))
        d_lower = total(d_lower, lower_triangle(more, strict=True))
    first = part_of(upper, *square)
    by_upper = contracted("ij,kj->ik", part_of(d_upper, *square), first)
    below = (count, rows), (0, count)
    if rows > count:
        by_upper = total(by_upper, negative(contracted("ki,kj->ij", part_of(lower, *below), part_of(d_lower, *below))))
    middle = total(
        lower_triangle(contracted("ij,jk->ik", turned, part_of(d_lower, *square)), strict=True),
        upper_triangle(by_upper),
    )
    left = called("solve_upper_unit", [turned, middle], inner)
    left = placed(left, d_lower) if rows > count else left
    found = transposed(called("solve_upper", [first, transposed(left)], stack_of(lower, count, rows)))
    if d_right is None:
        return found
    return placed(d_right, placed(found, zeros(stack_of(lower, rows, columns))), column=count)


class _Reflections:
    """The product of reflections I - scale * v * v' as I - v t v', where v has the vectors for its columns.

    t = d inv(I + s d), with the scales on the diagonal of d, and s the elements of v' v above the diagonal. The first
    columns of the product are e - v u with u = t v1', of which v1 are the first rows of v, and e those columns of I.

    Args:
        vectors: below the diagonal, a column for each.
        scales: of the reflections.
        columns: how many of the product are asked for.
    """

    def __init__(self, vectors: ir.Value, scales: ir.Value, columns: int) -> None:
        count = scales.type.shape[-1]
        self._scales, self._columns = scales, columns
        self.vectors = _unit_lower(vectors)
        self._above = upper_triangle(contracted("ki,kj->ij", self.vectors, self.vectors), strict=True)
        self._middle = one_on_diagonal(contracted("ij,j->ij", self._above, scales))
        first = transposed(part_of(self.vectors, (0, columns), (0, count)))
        self._inner = called("solve_upper_unit", [self._middle, first], first.type)
        self.right = contracted("i,ij->ij", scales, self._inner)

    def cotangents(self, d_product: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Of the vectors, below the diagonal, and of the scales, by that of the columns of the product."""
        scales, inner = self._scales, self._inner
        d_vectors = negative(contracted("ij,kj->ik", d_product, self.right))
        d_right = negative(contracted("ij,ik->jk", self.vectors, d_product))
        d_scales = contracted("ij,ij->i", d_right, inner)
        d_inner = contracted("i,ij->ij", scales, d_right)
        d_first = called("solve_lower_unit", [transposed(self._middle), d_inner], inner.type)
        d_middle = upper_triangle(negative(contracted("ij,kj->ik", d_first, inner)), strict=True)
        d_scales = total(d_scales, contracted("ij,ij->j", d_middle, self._above))
        d_above = contracted("ij,j->ij", d_middle, scales)
        d_square = total(d_above, transposed(d_above))
        d_vectors = total(d_vectors, contracted("ij,jk->ik", self.vectors, d_square))
        d_vectors = total(d_vectors, placed(transposed(d_first), zeros(d_vectors.type)))
        return lower_triangle(d_vectors, strict=True), d_scales


def _product_of_reflections(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    packed, scales = operands
    *_, rows, columns = packed.type.shape
    vectors = part_of(packed, (0, rows), (0, scales.type.shape[-1]))
    d_vectors, d_scales = _Reflections(vectors, scales, columns).cotangents(cotangents[0])
    return [placed(d_vectors, zeros(packed.type)), d_scales]


def _reflections(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """Of a = q r, where r lies in a matrix with the vectors of reflections below it.

    Vectors and scales are functions of q alone, whose first columns are e - v u: v is the lower factor of e - q, and
    the scales are the diagonal of its upper factor u. A scale of 0 is of no reflection, and moves nothing.
    """
    (a,), (packed, scales), (d_packed, d_scales) = operands, op.results, cotangents
    *_, rows, columns = a.type.shape
    count = min(rows, columns)
    first, square = ((0, rows), (0, count)), ((0, count), (0, count))
    made = _Reflections(part_of(packed, *first), scales, count)
    (q,) = call_codelet(
        "reflections_product", [part_of(packed, *first), scales], [made.vectors.type.shape], [a.type.element_type]
    )
    turned = upper_triangle(_and_one_for_zeros(made.right, scales))
    d_kept = elementwise([scales, d_scales], scales.type, _zero_with)
    d_q = negative(_by_factors(made.vectors, turned, part_of(d_packed, *first), diagonal(d_kept)))
    d_right = None
    if columns > count:
        behind = (0, count), (count, columns)
        d_behind = part_of(d_packed, *behind)
        d_right = contracted("ij,jk->ik", q, d_behind)
        d_q = total(d_q, contracted("ij,kj->ik", part_of(a, *behind), d_behind))
    r, d_r = upper_triangle(part_of(packed, *square)), upper_triangle(part_of(d_packed, *square))
    mixed = folded(total(contracted("ij,kj->ik", r, d_r), negative(contracted("ki,kj->ij", d_q, q))))
    left = total(d_q, contracted("ij,jk->ik", q, total(mixed, transposed(mixed))))
    found = transposed(called("solve_upper", [r, transposed(left)], stack_of(a, count, rows)))
    return [found if d_right is None else placed(d_right, placed(found, zeros(a.type)), column=count)]


def _and_one_for_zeros(matrices: ir.Value, numbers: ir.Value) -> ir.Value:
    """The matrices plus 1 on the diagonal where ``numbers``, an element for each row, has 0."""
    kind = numbers.type
    one = elementwise([numbers], kind, lambda each: _select_zero(each[0], number(1, each[0].type), zero(each[0].type)))
    return total(matrices, diagonal(one))


def _zero_with(values: Values) -> ir.Value:
    """The second number, or 0 where the first one is."""
    return _select_zero(values[0], zero(values[0].type), values[1])


def _select_zero(value: ir.Value, yes: ir.Value, no: ir.Value) -> ir.Value:
    is_zero = arith.cmpf(arith.CmpFPredicate.OEQ, value, zero(value.type))
    return arith.SelectOp(is_zero, yes, no).result


def _singular_vectors(op: ir.Operation, operands: Values, cotangents: Values) -> Values:
    """With a = u diag(s) v', and f[i, j] = 1 / (s[j]^2 - s[i]^2) beside the diagonal:

    u ((f * (u' du - du' u)) s + s (f * (v' dv - dv' v)) + diag(ds)) v' + (I - u u') du inv(s) v' +
    u inv(s) dv' (I - v v'), of which inv(s) is 0 where s is.
    """
    (a,), (u, s, vh), (d_u, d_s, d_vh) = operands, op.results, cotangents
    rows, columns = list(a.type.shape)[-2:]
    if u.type.shape[-1] != vh.type.shape[-2]:
        raise NotDifferentiable(
            op,
            f"finds {rows} left and {columns} right singular vectors, of which a matrix does not define the last ones; "
            "use np.linalg.svd(a, full_matrices=False)",
        )
    inverse = elementwise([s], s.type, lambda each: _inverse(each[0]))
    squares = elementwise([s], s.type, lambda each: arith.mulf(each[0], each[0]))
    left, right = contracted("ki,kj->ij", u, d_u), contracted("ik,jk->ij", vh, d_vh)
    by_left = contracted("ij,j->ij", over_gaps(_twist(left), squares), s)
    by_right = contracted("i,ij->ij", s, over_gaps(_twist(right), squares))
    middle = total(total(by_left, by_right), diagonal(d_s))
    found = contracted("ij,jk->ik", u, contracted("ij,jk->ik", middle, vh))
    if rows > columns:
        beside = total(d_u, negative(contracted("ij,jk->ik", u, left)))
        found = total(found, contracted("ij,j,jk->ik", beside, inverse, vh))
    if columns > rows:
        beside = total(d_vh, negative(contracted("ji,jk->ik", right, vh)))
        found = total(found, contracted("ij,j,jk->ik", u, inverse, beside))
    return [found]


def _twist(matrices: ir.Value) -> ir.Value:
    return total(matrices, negative(transposed(matrices)))


def _inverse(value: ir.Value) -> ir.Value:
    return _select_zero(value, zero(value.type), arith.divf(number(1, value.type), value))


FACTOR_RULES: dict[str, CodeletRule] = {
    "lu": _lu,
    "reflections": _reflections,
    "reflections_product": _product_of_reflections,
    "svd": _singular_vectors,
    "svd_reduced": _singular_vectors,
}
"""By the name of the codelet."""
