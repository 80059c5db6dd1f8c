"""Factors and triangular solutions of matrices block by block, as calls of codelets on blocks and as products."""

from collections.abc import Callable, Sequence

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.codelet_calls import call_codelet
from ipu_mlir.passes.support.linalg_builders import (
    elementwise,
    fill_with,
    generic,
    identity_map,
    loop_index,
    reshaped,
    zero,
)

arith, tensor = upstream("arith"), upstream("tensor")


def blocked_cholesky(a: ir.Value, block: int) -> ir.Value:
    """The lower factors of a stack of matrices, at the current insertion point.

    Blocks are factored one after the other. Of the rest, the part to the right of a block is solved, and its product
    with itself is subtracted from what lies behind. All of that is of the transposed matrix, whose rows to the right
    are the columns below.
    """
    size, element = a.type.shape[-1], a.type.element_type
    rest, found = transposed(a), zeros_like(a)
    for start in range(0, size, block):
        stop = min(size, start + block)
        own, behind = (0, stop - start), (stop - start, size - start)
        corner = transposed(part_of(rest, own, own))
        (factor,) = call_codelet("cholesky", [corner], [corner.type.shape], [element])
        found = with_part(found, transposed(factor), (start, start))
        if stop < size:
            beside = part_of(rest, own, behind)
            (solved,) = call_codelet("solve_lower", [factor, beside], [beside.type.shape], [element])
            found = with_part(found, solved, (start, stop))
            rest = less_product(part_of(rest, behind, behind), solved, solved, by_columns=True)
    return _nan_if_last_is(transposed(found))


def blocked_solution(name: str, a: ir.Value, b: ir.Value, block: int) -> ir.Value:
    """The solutions of triangular systems by codelet ``name``, at the current insertion point.

    Blocks of rows are solved one after the other; the product with what they are is subtracted from the other rows.
    """
    size, columns = b.type.shape[-2:]
    rest, found, is_lower = b, zeros_like(b), "lower" in name
    starts = range(0, size, block)
    for start in starts if is_lower else reversed(starts):
        stop = min(size, start + block)
        others = (stop, size) if is_lower else (0, start)
        begin = 0 if is_lower else start
        own = (begin, begin + stop - start)
        corner, right = part_of(a, (start, stop), (start, stop)), part_of(rest, own, (0, columns))
        (solved,) = call_codelet(name, [corner, right], [right.type.shape], [b.type.element_type])
        found = with_part(found, solved, (start, 0))
        if others[0] < others[1]:
            left = (own[1], size - start) if is_lower else (0, start)
            rest = less_product(part_of(rest, left, (0, columns)), part_of(a, others, (start, stop)), solved)
    return found


def tall_singular_values(
    name: str, a: ir.Value, parts: int, of_factors: Callable[[ir.Value], Sequence[ir.Value]]
) -> list[ir.Value]:
    """What codelet ``name`` finds of a stack of high matrices, from the factors of ``parts`` of their rows.

    Each part is an orthogonal factor times a triangular one, and the triangular factors below each other have the
    singular values of the matrix, and its right vectors. Its left ones are theirs, times the orthogonal factors
    (Demmel and others, "Communication-optimal parallel and sequential QR and LU factorizations", 2012).

    Args:
        of_factors: gives what the codelet finds of these.
    """
    *stack, rows, columns = a.type.shape
    height, element = -(-rows // parts), a.type.element_type
    if parts * height > rows:
        a = with_part(zeros_like(tensor.EmptyOp([*stack, parts * height, columns], element).result), a, (0, 0))
    shape = [*stack, parts, height, columns]
    turned, scales = call_codelet("reflections", [reshaped(a, shape)], [shape, [*shape[:-2], columns]], [element] * 2)
    factors = upper(part_of(turned, (0, columns), (0, columns)))
    found = list(of_factors(reshaped(factors, [*stack, parts * columns, columns])))
    if name == "svdvals":
        return found
    (orthogonal,) = call_codelet("reflections_product", [turned, scales], [shape], [element])
    own = reshaped(found[0], [*stack, parts, columns, columns])
    left = plus_product(zeros_like(orthogonal), orthogonal, own)
    return [part_of(reshaped(left, [*stack, parts * height, columns]), (0, rows), (0, columns)), *found[1:]]


def upper(value: ir.Value) -> ir.Value:
    """Matrices with zeros below their diagonals."""
    rank = len(value.type.shape)

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        is_below = arith.CmpIOp(arith.CmpIPredicate.sgt, loop_index(rank - 2), loop_index(rank - 1)).result
        return [arith.SelectOp(is_below, zero(value.type.element_type), arguments[0]).result]

    empty = tensor.EmptyOp(list(value.type.shape), value.type.element_type).result
    return generic([value], [empty], [identity_map(rank)] * 2, [True] * rank, body).results[0]


def less_product(value: ir.Value, left: ir.Value, right: ir.Value, by_columns: bool = False) -> ir.Value:
    """``value - left @ right``; ``left`` is given by columns if it is transposed."""
    negative = elementwise(left, left.type.element_type, lambda x: arith.NegFOp(x).result).results[0]
    return plus_product(value, negative, right, by_columns)


def plus_product(value: ir.Value, left: ir.Value, right: ir.Value, by_columns: bool = False) -> ir.Value:
    """``value + left @ right``; ``left`` is given by columns if it is transposed."""
    stack, (rows, columns) = len(value.type.shape) - 2, value.type.shape[-2:]
    assert left.type.shape[-1 if by_columns else -2] == rows and right.type.shape[-1] == columns
    i, j, k = (ir.AffineExpr.get_dim(stack + loop) for loop in range(3))
    outer = [ir.AffineExpr.get_dim(loop) for loop in range(stack)]
    of_left = [k, i] if by_columns else [i, k]
    maps = [ir.AffineMap.get(stack + 3, 0, [*outer, *own]) for own in (of_left, [k, j], [i, j])]

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        x, y, so_far = arguments
        return [arith.AddFOp(so_far, arith.MulFOp(x, y).result).result]

    return generic([left, right], [value], maps, [True] * (stack + 2) + [False], body).results[0]


def _nan_if_last_is(value: ir.Value) -> ir.Value:
    """NaN everywhere in the matrices whose last element is NaN: what follows a failure is NaN up to there."""
    shape = value.type.shape
    rank = len(shape)
    last = [*map(ir.AffineExpr.get_dim, range(rank - 2)), *(ir.AffineExpr.get_constant(s - 1) for s in shape[-2:])]
    empty = tensor.EmptyOp(list(shape), value.type.element_type).result

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        own, end, _ = arguments
        is_nan = arith.CmpFOp(arith.CmpFPredicate.UNO, end, end).result
        return [arith.SelectOp(is_nan, end, own).result]

    maps = [identity_map(rank), ir.AffineMap.get(rank, 0, last), identity_map(rank)]
    return generic([value, value], [empty], maps, [True] * rank, body).results[0]


def transposed(value: ir.Value) -> ir.Value:
    *stack, rows, columns = value.type.shape
    rank = len(stack) + 2
    loops = [ir.AffineExpr.get_dim(loop) for loop in range(rank)]
    swapped = ir.AffineMap.get(rank, 0, [*loops[:-2], loops[-1], loops[-2]])
    empty = tensor.EmptyOp([*stack, columns, rows], value.type.element_type).result
    maps = [swapped, identity_map(rank)]
    return generic([value], [empty], maps, [True] * rank, lambda arguments: arguments[:1]).results[0]


def zeros_like(like: ir.Value) -> ir.Value:
    empty = tensor.EmptyOp(list(like.type.shape), like.type.element_type).result
    return fill_with(zero(like.type.element_type), empty).results[0]


def part_of(value: ir.Value, rows: tuple[int, int], columns: tuple[int, int]) -> ir.Value:
    """Some rows and columns of each matrix."""
    *stack, _, _ = value.type.shape
    offsets = [*[0] * len(stack), rows[0], columns[0]]
    sizes = [*stack, rows[1] - rows[0], columns[1] - columns[0]]
    wanted = ir.RankedTensorType.get(sizes, value.type.element_type)
    return tensor.ExtractSliceOp(wanted, value, [], [], [], offsets, sizes, [1] * len(sizes)).result


def with_part(value: ir.Value, part: ir.Value, at: Sequence[int]) -> ir.Value:
    """``value`` with ``part`` from row and column ``at`` on."""
    sizes = list(part.type.shape)
    offsets = [*[0] * (len(sizes) - 2), *at]
    return tensor.InsertSliceOp(part, value, [], [], [], offsets, sizes, [1] * len(sizes)).result
