"""Singular values and eigenvectors by rotations of pairs of rows, all pairs at a time (one-sided Jacobi)."""

from collections.abc import Callable
from math import prod

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.raising.matrices.blocked import part_of, plus_product, transposed, upper, with_part
from ipu_mlir.passes.raising.matrices.eliminated import integer_constant, scalar_constant
from ipu_mlir.passes.raising.matrices.on_all_tiles import (
    Values,
    as_i32,
    compared,
    either,
    inserted_at,
    largest,
    made,
    power_of_two,
    reduced,
    slice_at,
    zeros,
)
from ipu_mlir.passes.support.linalg_builders import constant_index, generic, identity_map, reshaped, zero

arith, math, scf, tensor = upstream("arith"), upstream("math"), upstream("scf"), upstream("tensor")

SWEEPS = 12
"""In how many turns, of which each rotates all pairs, rows of f32 are orthogonal; seen of matrices of 32 to 256 rows
with values that are random, equal, in groups, or twelve orders of magnitude apart, or of a low rank."""

_EPSILON = 2.0**-23

Call = Callable[[str, Values, list[list[int]]], Values]


def eigenvalues(a: ir.Value, with_vectors: bool) -> Values:
    """Eigenvalues of one symmetric matrix of f32, ascending, and its eigenvectors, if wanted.

    The matrix, scaled, and shifted so that its eigenvalues lie between 1 and 3, is brought to orthogonal rows by
    rotations from the left: these are its eigenvectors, times positive numbers. The values are the quotients of
    Rayleigh.

    Args:
        a: shape ``(..., n, n)``, whose first dimensions are 1; its lower triangles count.
    """
    *stack, size, _ = a.type.shape
    assert prod(stack) == 1, "of one matrix"
    element = a.type.element_type
    a = reshaped(a, [size, size])

    def both(at: Values, each: Values) -> ir.Value:
        return either(compared("sge", *at), *each)

    a = made([size, size], element, [(a, (0, 1)), (a, (1, 0))], both)
    sums = reduced([size], [size], zero(element), [(a, (0, 1))], "arith.addf", lambda at, each: _size(each[0]))
    bound = power_of_two(largest(sums))

    def scaled(at: Values, each: Values) -> ir.Value:
        halved = arith.MulFOp(each[0], scalar_constant(element, 0.5)).result
        return arith.DivFOp(halved, each[1]).result

    a = made([size, size], element, [(a, (0, 1)), (bound, ())], scaled)

    def shifted(at: Values, each: Values) -> ir.Value:
        shift = either(compared("eq", *at), scalar_constant(element, 2.0), zero(element))
        return arith.AddFOp(each[0], shift).result

    even = size + size % 2
    start = inserted_at(made([size, size], element, [(a, (0, 1))], shifted), zeros([even, size], element), [0, 0])
    rows, _ = _orthogonal(start, None)
    squares = _products(rows, rows)
    unit = made([even, size], element, [(rows, (0, 1)), (squares, (0,))],
                lambda at, each: arith.DivFOp(each[0], _root_or_one(each[1])).result)  # fmt: skip
    values = _products(unit, plus_product(zeros([even, size], element), unit, a))

    def key(at: Values, each: Values) -> ir.Value:
        """The values, and 1 for the row of zeros, which is beyond all of them."""
        is_none = arith.CmpFOp(arith.CmpFPredicate.OEQ, each[1], zero(element)).result
        return either(is_none, scalar_constant(element, 1.0), each[0])

    values = made([even], element, [(values, (0,)), (squares, (0,))], key)
    order = slice_at(_order(values, descending=False), [0], [size])

    def in_size(at: Values, each: Values) -> ir.Value:
        doubled = arith.MulFOp(each[0], scalar_constant(element, 2.0)).result
        return arith.MulFOp(doubled, each[1]).result

    found = made([size], element, [(_taken(values, order), (0,)), (bound, ())], in_size)
    results = [reshaped(found, [*stack, size])]
    if with_vectors:
        results.append(reshaped(transposed(_taken(unit, order)), [*stack, size, size]))
    return results


def singular_values(name: str, a: ir.Value, call: Call) -> Values:
    """What codelet ``name`` finds of one matrix of f32: ``svd``, ``svd_reduced`` or ``svdvals``.

    Rows of the triangular factor are brought to orthogonal rows by rotations, which are the left vectors, behind the
    orthogonal factor. Reflections of these rows, longest first, are the right vectors, also where rows are 0.

    Args:
        a: shape ``(..., m, n)``, whose first dimensions are 1.
        call: the results of a codelet by its name, operands and the shapes of results.
    """
    *stack, rows, columns = a.type.shape
    assert prod(stack) == 1, "of one matrix"
    element = a.type.element_type
    a = reshaped(a, [rows, columns])
    is_turned = rows < columns
    if is_turned:
        rows, columns, a = columns, rows, transposed(a)
    size = power_of_two(largest(a))
    a = made([rows, columns], element, [(a, (0, 1)), (size, ())], lambda at, each: arith.DivFOp(*each).result)
    packed, scales = call("reflections", [a], [[rows, columns], [columns]])
    even, square = columns + columns % 2, (0, columns)
    start = with_part(zeros([even, columns], element), upper(part_of(packed, square, square)), (0, 0))
    turns = None if name == "svdvals" else made([even, even], element, [], _one_on_diagonal(element))
    found, turns = _orthogonal(start, turns)
    squares = _products(found, found)
    order = slice_at(_order(_behind(squares, turns), descending=True), [0], [columns])
    values = made([columns], element, [(_taken(squares, order), (0,)), (size, ())],
                  lambda at, each: arith.MulFOp(math.SqrtOp(each[0]).result, each[1]).result)  # fmt: skip
    values = reshaped(values, [*stack, columns])
    if turns is None:
        return [values]
    turned, own = call("reflections", [transposed(_taken(found, order))], [[columns, columns], [columns]])
    (right,) = call("reflections_product", [turned, own], [[columns, columns]])
    lengths = reduced([columns], [columns], zero(element), [(turned, (0, 1))], "arith.addf",
                      lambda at, each: either(compared("eq", *at), each[0], zero(element)))  # fmt: skip
    right = made([columns, columns], element, [(right, (1, 0)), (lengths, (0,))],
                 lambda at, each: arith.MulFOp(each[0], _sign(each[1])).result)  # fmt: skip
    breadth = rows if name == "svd" else columns
    whole = with_part(zeros([rows, breadth], element), packed, (0, 0))
    (left,) = call("reflections_product", [whole, scales], [[rows, breadth]])
    turns = part_of(transposed(_taken(turns, order)), square, square)
    first = plus_product(zeros([rows, columns], element), part_of(left, (0, rows), square), turns)
    left = with_part(left, first, (0, 0))
    both = [transposed(right), transposed(left)] if is_turned else [left, right]
    left, right = (reshaped(each, [*stack, *each.type.shape]) for each in both)
    return [left, values, right]


def _behind(squares: ir.Value, turns: ir.Value | None) -> ir.Value:
    """``squares``, and less than 0 for the row that made them even, which no rotation has moved."""
    if turns is None:
        return squares
    even, element = squares.type.shape[0], squares.type.element_type
    last = reshaped(part_of(turns, (0, even), (even - 1, even)), [even])

    def key(at: Values, each: Values) -> ir.Value:
        is_none = arith.CmpFOp(arith.CmpFPredicate.OEQ, each[0], zero(element)).result
        return either(is_none, arith.NegFOp(_size(each[1])).result, each[0])

    return made([even], element, [(squares, (0,)), (last, (0,))], key)


def _orthogonal(rows: ir.Value, turns: ir.Value | None) -> tuple[ir.Value, ir.Value | None]:
    """Orthogonal rows, by rotations of ``rows``, an even number of them; and ``turns``, rotated as they are."""
    every, half = [each for each in (rows, turns) if each is not None], rows.type.shape[0] // 2
    parts = [slice_at(each, [at, 0], [half, each.type.shape[1]]) for each in every for at in (0, half)]
    loop = scf.ForOp(*map(constant_index, (0, SWEEPS * (2 * half - 1), 1)), parts)
    with ir.InsertionPoint(loop.body):
        scf.YieldOp(_round(list(loop.inner_iter_args)))
    found = []
    for upper_half, lower_half in zip(loop.results[::2], loop.results[1::2], strict=True):
        whole = zeros([2 * half, upper_half.type.shape[1]], upper_half.type.element_type)
        found.append(inserted_at(lower_half, inserted_at(upper_half, whole, [0, 0]), [half, 0]))
    return found[0], (found[1] if turns is not None else None)


def _round(parts: Values) -> Values:
    """Rotate the pairs of rows at one place of two matrices; then all but one row go on, as in a tournament."""
    first, second, *_ = parts
    (half, columns), element = first.type.shape, first.type.element_type
    both = tensor.EmptyOp([2, half, columns], element).result
    for which, each in enumerate((first, second)):
        both = inserted_at(reshaped(each, [1, half, columns]), both, [which, 0, 0])
    products = reduced([2, 2, half], [columns], zero(element), [(both, (0, 2, 3)), (both, (1, 2, 3))], "arith.addf",
                       lambda at, each: arith.MulFOp(*each).result)  # fmt: skip
    places = ([0, 0, 0], [1, 1, 0], [0, 1, 0])
    squares = [reshaped(slice_at(products, place, [1, 1, half]), [half]) for place in places]
    empties = [tensor.EmptyOp([half], element).result] * 2
    sine, share = generic(squares, empties, [identity_map(1)] * 5, [True], lambda each: _angle(*each[:3])).results
    parts = [each for pair in zip(parts[::2], parts[1::2], strict=True) for each in _rotated(*pair, sine, share)]
    moved = []
    for upper_half, lower_half in zip(parts[::2], parts[1::2], strict=True):
        columns = upper_half.type.shape[1]

        def rows(value: ir.Value, start: int, count: int, columns: int = columns) -> ir.Value:
            return slice_at(value, [start, 0], [count, columns])

        for pieces in (
            (rows(upper_half, 0, 1), rows(lower_half, 0, 1), rows(upper_half, 1, half - 2)),
            (rows(lower_half, 1, half - 1), rows(upper_half, half - 1, 1)),
        ):
            whole, at = tensor.EmptyOp([half, columns], element).result, 0
            for piece in pieces:
                whole, at = inserted_at(piece, whole, [at, 0]), at + piece.type.shape[0]
            moved.append(whole)
    return moved


def _angle(a: ir.Value, b: ir.Value, product: ir.Value) -> Values:
    """The sine of the smaller rotation that makes two rows orthogonal, and that over 1 plus its cosine; 0 for none.

    Args:
        a, b, product: the square of either row, and the product of both.
    """
    element = a.type
    one, none = scalar_constant(element, 1.0), zero(element)
    limit = arith.MulFOp(math.SqrtOp(a).result, math.SqrtOp(b).result).result
    limit = arith.MulFOp(limit, scalar_constant(element, _EPSILON)).result
    is_none = arith.CmpFOp(arith.CmpFPredicate.OLE, _size(product), limit).result
    doubled = arith.AddFOp(product, product).result
    cotangent = arith.DivFOp(arith.SubFOp(b, a).result, either(is_none, one, doubled)).result
    root = math.SqrtOp(arith.AddFOp(arith.MulFOp(cotangent, cotangent).result, one).result).result
    tangent = arith.DivFOp(_sign(cotangent), arith.AddFOp(_size(cotangent), root).result).result
    square = arith.AddFOp(arith.MulFOp(tangent, tangent).result, one).result
    cosine = arith.DivFOp(one, math.SqrtOp(square).result).result
    sine = arith.MulFOp(cosine, tangent).result
    share = arith.DivFOp(sine, arith.AddFOp(cosine, one).result).result
    return [either(is_none, none, sine), either(is_none, none, share)]


def _rotated(first: ir.Value, second: ir.Value, sine: ir.Value, share: ir.Value) -> Values:
    """Both rows of each pair, each with what it gets of the other: rounding does not make them longer."""
    element, shape = first.type.element_type, first.type.shape
    rows = ir.AffineMap.get(2, 0, [ir.AffineExpr.get_dim(0)])
    maps = [identity_map(2), identity_map(2), rows, rows, identity_map(2), identity_map(2)]

    def body(each: Values) -> Values:
        x, y, sine, share, *_ = each
        more = arith.AddFOp(y, arith.MulFOp(share, x).result).result
        less = arith.SubFOp(x, arith.MulFOp(share, y).result).result
        return [
            arith.SubFOp(x, arith.MulFOp(sine, more).result).result,
            arith.AddFOp(y, arith.MulFOp(sine, less).result).result,
        ]

    empties = [tensor.EmptyOp(list(shape), element).result] * 2
    return list(generic([first, second, sine, share], empties, maps, [True] * 2, body).results)


def _products(left: ir.Value, right: ir.Value) -> ir.Value:
    """The product of each row with that of the other matrix."""
    rows, columns = left.type.shape
    return reduced([rows], [columns], zero(left.type.element_type), [(left, (0, 1)), (right, (0, 1))], "arith.addf",
                   lambda at, each: arith.MulFOp(*each).result)  # fmt: skip


def _order(keys: ir.Value, descending: bool) -> ir.Value:
    """The places of ``keys`` in order, by how many come before each; where keys are no numbers, places of some."""
    (count,), i32 = keys.type.shape, ir.IntegerType.get_signless(32)
    predicate = arith.CmpFPredicate.OGT if descending else arith.CmpFPredicate.OLT

    def before(at: Values, each: Values) -> ir.Value:
        own, other = each
        is_tie = arith.CmpFOp(arith.CmpFPredicate.OEQ, other, own).result
        is_earlier = arith.AndIOp(is_tie, compared("slt", at[1], at[0])).result
        is_before = arith.OrIOp(arith.CmpFOp(predicate, other, own).result, is_earlier).result
        return arith.ExtUIOp(i32, is_before).result

    ranks = reduced([count], [count], integer_constant(0), [(keys, (0,)), (keys, (1,))], "arith.addi", before)

    def place(at: Values, each: Values) -> ir.Value:
        return either(compared("eq", each[0], as_i32(at[0])), as_i32(at[1]), integer_constant(0))

    return reduced([count], [count], integer_constant(0), [(ranks, (1,))], "arith.maxsi", place)


def _taken(values: ir.Value, order: ir.Value) -> ir.Value:
    """Rows or elements of ``values`` in ``order``."""

    def row(at: Values, each: Values) -> ir.Value:
        return tensor.ExtractOp(values, [arith.IndexCastOp(ir.IndexType.get(), each[0]).result, *at[1:]]).result

    shape = [order.type.shape[0], *values.type.shape[1:]]
    return made(shape, values.type.element_type, [(order, (0,))], row)


def _one_on_diagonal(element: ir.Type) -> Callable[[Values, Values], ir.Value]:
    return lambda at, each: either(compared("eq", *at), scalar_constant(element, 1.0), zero(element))


def _size(number: ir.Value) -> ir.Value:
    return math.AbsFOp(number).result


def _sign(number: ir.Value) -> ir.Value:
    return math.CopySignOp(scalar_constant(number.type, 1.0), number).result


def _root_or_one(square: ir.Value) -> ir.Value:
    is_none = arith.CmpFOp(arith.CmpFPredicate.OEQ, square, zero(square.type)).result
    return math.SqrtOp(either(is_none, scalar_constant(square.type, 1.0), square)).result
