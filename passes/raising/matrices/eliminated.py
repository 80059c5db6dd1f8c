"""LU factors of matrices by blocks of columns, and what follows from them: solutions and determinants."""

from collections.abc import Callable, Sequence

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.scalar_attributes import scalar_attribute
from ipu_mlir.passes.raising.matrices.blocked import less_product, part_of, with_part, zeros_like
from ipu_mlir.passes.support.codelet_calls import call_codelet
from ipu_mlir.passes.support.linalg_builders import elementwise, fill_with, generic, loop_index, reshaped

arith, math, tensor = upstream("arith"), upstream("math"), upstream("tensor")

Values = list[ir.Value]


def blocked_lu(a: ir.Value, stops: Sequence[int]) -> Values:
    """Factors, pivots and the order of the rows of a stack of matrices, at the current insertion point.

    One vertex has a block of columns, in all of its rows, and finds the pivots among them. The other columns are put in
    its order; those behind it are solved beside its triangle, and updated by a product below.

    Args:
        stops: the ends of the blocks, the last of which is the smaller side of the matrices.
    """
    *stack, rows, columns = a.type.shape
    element, i32 = a.type.element_type, ir.IntegerType.get_signless(32)
    rest, found, order, pivots = a, zeros_like(a), None, None
    for start, stop in zip((0, *stops), stops, strict=False):
        left, width = rows - start, stop - start
        panel = part_of(rest, (0, left), (0, width))
        shapes = [[*stack, left, width], [*stack, width], [*stack, left]]
        factors, own_pivots, own_order = call_codelet("lu", [panel], shapes, [element, i32, i32])
        own_pivots = elementwise(
            own_pivots, i32, lambda x, start=start: arith.AddIOp(x, integer_constant(start)).result
        )
        own_pivots = _columns_of(own_pivots.results[0])
        if order is None or pivots is None:
            order = _columns_of(own_order)
            pivots = zeros_like(tensor.EmptyOp([*stack, stops[-1], 1], i32).result)
        else:
            found = with_part(found, rows_taken(part_of(found, (start, rows), (0, start)), own_order), (start, 0))
            order = with_part(order, rows_taken(part_of(order, (start, rows), (0, 1)), own_order), (start, 0))
        pivots = with_part(pivots, own_pivots, (start, 0))
        found = with_part(found, factors, (start, start))
        if stop < columns:
            behind = rows_taken(part_of(rest, (0, left), (width, columns - start)), own_order)
            corner, beside = part_of(factors, (0, width), (0, width)), part_of(behind, (0, width), (0, columns - stop))
            (solved,) = call_codelet("solve_lower_unit", [corner, beside], [beside.type.shape], [element])
            found = with_part(found, solved, (start, stop))
            if stop < rows:
                below = part_of(behind, (width, left), (0, columns - stop))
                rest = less_product(below, part_of(factors, (width, left), (0, width)), solved)
    assert order is not None and pivots is not None, "a matrix of one column or more"
    return [found, reshaped(pivots, [*stack, stops[-1]]), reshaped(order, [*stack, rows])]


def solution(lu: Values, b: ir.Value) -> Values:
    """The solutions of systems of equations by the factors of their matrices; NaN where a pivot is 0."""
    factors, _, order = lu
    (known,) = call_codelet("solve_lower_unit", [factors, rows_taken(b, order)], [b.type.shape], [b.type.element_type])
    (found,) = call_codelet("solve_upper", [factors, known], [b.type.shape], [b.type.element_type])
    is_zero = _over_diagonal(lu, 0.0, lambda x, so_far: arith.MaximumFOp(so_far, _choose_if_zero(x, 1.0, 0.0)).result)
    stack = len(b.type.shape) - 2
    maps = [ir.AffineMap.get(stack + 2, 0, _dims(count)) for count in (stack + 2, stack, stack + 2)]

    def body(arguments: Values) -> Values:
        own, singular, _ = arguments
        is_singular = arith.CmpFOp(arith.CmpFPredicate.ONE, singular, scalar_constant(own.type, 0.0)).result
        return [arith.SelectOp(is_singular, scalar_constant(own.type, float("nan")), own).result]

    return [generic([found, is_zero], [tensor.EmptyOp(list(b.type.shape), b.type.element_type).result], maps,
                    [True] * (stack + 2), body).results[0]]  # fmt: skip


def determinant(lu: Values) -> Values:
    return [_over_diagonal(lu, 1.0, lambda x, so_far: arith.MulFOp(so_far, x).result)]


def sign_and_logarithm(lu: Values) -> Values:
    """Of determinants: -1, 0 or 1, and the logarithm of the size."""

    def sign(x: ir.Value, so_far: ir.Value) -> ir.Value:
        one = math.CopySignOp(scalar_constant(x.type, 1.0), x).result
        is_zero = arith.CmpFOp(arith.CmpFPredicate.OEQ, x, scalar_constant(x.type, 0.0)).result
        return arith.MulFOp(so_far, arith.SelectOp(is_zero, x, one).result).result

    def logarithm(x: ir.Value, so_far: ir.Value) -> ir.Value:
        return arith.AddFOp(so_far, math.LogOp(math.AbsFOp(x).result).result).result

    return [_over_diagonal(lu, 1.0, sign), _over_diagonal(lu, 0.0, logarithm)]


def _over_diagonal(lu: Values, initial: float, combine: Callable[[ir.Value, ir.Value], ir.Value]) -> ir.Value:
    """``combine`` of the diagonal of the upper factors, an element negated where rows were exchanged."""
    factors, pivots, _ = lu
    *stack, _, _ = factors.type.shape
    element, loops = factors.type.element_type, _dims(len(stack) + 1)
    maps = [ir.AffineMap.get(len(loops), 0, own) for own in (loops, loops, loops[:-1])]
    start = fill_with(scalar_constant(element, initial), tensor.EmptyOp(stack, element).result).results[0]

    def body(arguments: Values) -> Values:
        x, pivot, so_far = arguments
        stays = arith.cmpi(arith.CmpIPredicate.eq, pivot, arith.IndexCastOp(pivot.type, loop_index(len(stack))).result)
        return [combine(arith.SelectOp(stays, x, arith.NegFOp(x).result).result, so_far)]

    operands = [_diagonal(factors), pivots]
    return generic(operands, [start], maps, [True] * len(stack) + [False], body).results[0]


def _diagonal(matrices: ir.Value) -> ir.Value:
    """Their diagonals, as sums of rows, so that no tile needs a whole matrix."""
    *stack, size, _ = matrices.type.shape
    element, loops = matrices.type.element_type, _dims(len(stack) + 2)
    start = fill_with(scalar_constant(element, 0.0), tensor.EmptyOp([*stack, size], element).result).results[0]

    def body(arguments: Values) -> Values:
        x, so_far = arguments
        is_own = arith.cmpi(arith.CmpIPredicate.eq, loop_index(len(stack)), loop_index(len(stack) + 1))
        return [arith.AddFOp(so_far, arith.SelectOp(is_own, x, scalar_constant(element, 0.0)).result).result]

    maps = [ir.AffineMap.get(len(loops), 0, own) for own in (loops, loops[:-1])]
    return generic([matrices], [start], maps, [True] * (len(stack) + 1) + [False], body).results[0]


def rows_taken(rows: ir.Value, order: ir.Value) -> ir.Value:
    """The rows of each matrix in ``order``: row ``i`` is row ``order[i]``."""
    shape, rank = list(rows.type.shape), len(rows.type.shape)
    empty = tensor.EmptyOp(shape, rows.type.element_type).result

    def body(arguments: Values) -> Values:
        row = arith.IndexCastOp(ir.IndexType.get(), arguments[0]).result
        place = [*map(loop_index, range(rank - 2)), row, loop_index(rank - 1)]
        return [tensor.ExtractOp(rows, place).result]

    maps = [ir.AffineMap.get(rank, 0, _dims(count)) for count in (rank - 1, rank)]
    return generic([order], [empty], maps, [True] * rank, body).results[0]


def _dims(count: int) -> list[ir.AffineExpr]:
    return [ir.AffineExpr.get_dim(loop) for loop in range(count)]


def _columns_of(vectors: ir.Value) -> ir.Value:
    """Matrices of one column."""
    return reshaped(vectors, [*vectors.type.shape, 1])


def _choose_if_zero(x: ir.Value, is_zero: float, is_other: float) -> ir.Value:
    zero = arith.CmpFOp(arith.CmpFPredicate.OEQ, x, scalar_constant(x.type, 0.0)).result
    return arith.SelectOp(zero, scalar_constant(x.type, is_zero), scalar_constant(x.type, is_other)).result


def scalar_constant(element: ir.Type, value: float) -> ir.Value:
    return arith.ConstantOp(element, scalar_attribute(element, value)).result


def integer_constant(value: int) -> ir.Value:
    i32 = ir.IntegerType.get_signless(32)
    return arith.ConstantOp(i32, scalar_attribute(i32, value)).result
