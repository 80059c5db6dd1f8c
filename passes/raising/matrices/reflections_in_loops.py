"""Householder's reflections of a matrix whose rows lie on all tiles, and the product of them."""

from math import prod

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.raising.matrices.blocked import less_product, plus_product
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
    rolled,
    scalar_of,
    slice_at,
    zeros,
)
from ipu_mlir.passes.support.codelet_calls import call_codelet
from ipu_mlir.passes.support.linalg_builders import (
    constant_index,
    generic,
    identity_map,
    loop_index,
    reshaped,
    scalar_map,
    zero,
)

arith, math, scf, tensor = upstream("arith"), upstream("math"), upstream("scf"), upstream("tensor")


def reflections_in_loops(a: ir.Value, width: int) -> Values:
    """The triangular factor of a matrix, with vectors of reflections below it, and their scales.

    A loop runs over blocks of ``width`` columns, and in it one over these, whose rows lie on all tiles. The other
    columns are turned by all reflections of a block at a time. All blocks are alike: what lies behind the matrix is 0,
    and gives no reflection. Lengths are of numbers of the order of 1.

    Args:
        a: shape ``(..., rows, columns)``, whose first dimensions are 1.
    """
    *stack, rows, columns = a.type.shape
    assert prod(stack) == 1, "of one matrix"
    element, count = a.type.element_type, min(rows, columns)
    full = -(-count // width) * width
    height, breadth = max(rows, full), max(columns, full)
    a = reshaped(a, [rows, columns])
    size = power_of_two(largest(a))
    small = made([rows, columns], element, [(a, (0, 1)), (size, ())], lambda at, each: arith.DivFOp(*each).result)
    matrix = inserted_at(small, zeros([height, breadth], element), [0, 0])
    blocks = scf.ForOp(*map(constant_index, (0, full, width)), [matrix, zeros([full], element)])
    with ir.InsertionPoint(blocks.body):
        carried, scales = blocks.inner_iter_args
        scf.YieldOp(_block(blocks.induction_variable, carried, scales, width))
    found, scales = blocks.results

    def in_size(at: Values, each: Values) -> ir.Value:
        return either(compared("sgt", at[0], at[1]), each[0], arith.MulFOp(*each).result)

    found = made([rows, columns], element, [(slice_at(found, [0, 0], [rows, columns]), (0, 1)), (size, ())], in_size)
    return [
        reshaped(found, [*stack, rows, columns]),
        reshaped(slice_at(scales, [0], [count]), [*stack, count]),
    ]


def _block(start: ir.Value, matrix: ir.Value, scales: ir.Value, width: int) -> Values:
    """The matrix and the scales once the columns from ``start`` on are reflected."""
    (height, breadth), element = matrix.type.shape, matrix.type.element_type
    panel = slice_at(matrix, [0, start], [height, width])
    end = scalar_of(arith.AddIOp(start, constant_index(width)).result)
    steps = scf.ForOp(*map(constant_index, (0, width, 1)), [panel, zeros([width], element), scalar_of(start)])
    with ir.InsertionPoint(steps.body):
        scf.YieldOp(_column(end, *steps.inner_iter_args))
    panel, own, _ = steps.results
    matrix = inserted_at(panel, matrix, [0, start])

    def behind(at: Values, each: Values) -> ir.Value:
        return either(compared("sge", as_i32(at[1]), each[1]), each[0], zero(element))

    others = made([height, breadth], element, [(matrix, (0, 1)), (end, ())], behind)
    return [_turned(matrix, others, panel, own, start, is_product=False), inserted_at(own, scales, [start])]


def _column(end: ir.Value, panel: ir.Value, scales: ir.Value, row: ir.Value) -> Values:
    """The panel, its scales and the next row after a step with the first column, which goes to the end of them."""
    (height, width), element = panel.type.shape, panel.type.element_type
    first = reshaped(slice_at(panel, [0, 0], [height, 1]), [height])

    def of_rows(at: Values, each: Values) -> ir.Value:
        value, beside, top = each
        number = as_i32(at[2])
        is_first = compared("eq", at[0], constant_index(0))
        factor = either(is_first, scalar_constant(element, 1.0), beside)
        is_wanted = either(is_first, compared("eq", number, top), compared("sgt", number, top))
        return either(is_wanted, arith.MulFOp(value, factor).result, zero(element))

    inputs = [(panel, (2, 1)), (first, (2,)), (row, ())]
    both = reduced([2, width], [height], zero(element), inputs, "arith.addf", of_rows)
    top, products = (reshaped(slice_at(both, [which, 0], [1, width]), [width]) for which in (0, 1))
    ends = [reshaped(slice_at(both, [which, 0], [1, 1]), []) for which in (0, 1)]
    empties = [tensor.EmptyOp([], element).result] * 2
    length, inverse = generic(ends, empties, [scalar_map(0)] * 4, [], lambda each: _reflection(*each[:2])[1:]).results

    def share(each: Values) -> Values:
        own, product, first, square, old, top, stop, *_ = each
        scale, _, inverse = _reflection(first, square)
        sums = arith.AddFOp(own, arith.MulFOp(product, inverse).result).result
        column = arith.AddIOp(as_i32(loop_index(0)), top).result
        is_done = compared("sge", column, stop)
        is_step = compared(
            "eq", arith.AddIOp(as_i32(loop_index(0)), stop).result, arith.AddIOp(top, integer_constant(width)).result
        )
        return [either(is_done, zero(element), arith.MulFOp(scale, sums).result), either(is_step, scale, old)]

    inputs = [top, products, *ends, scales, row, end]
    maps = [identity_map(1) if each.type.shape else scalar_map(1) for each in (*inputs, top, top)]
    taken, scales = generic(inputs, [tensor.EmptyOp([width], element).result] * 2, maps, [True], share).results

    def turned(at: Values, each: Values) -> ir.Value:
        own, old, taken, inverse, length, top = each
        number = as_i32(at[0])
        is_top, is_below = compared("eq", number, top), compared("sgt", number, top)
        factor = arith.MulFOp(old, inverse).result
        vector = either(is_below, factor, either(is_top, scalar_constant(element, 1.0), zero(element)))
        done = either(is_below, factor, either(is_top, length, old))
        less = arith.SubFOp(own, arith.MulFOp(vector, taken).result).result
        return either(compared("eq", at[1], constant_index(width - 1)), done, less)

    alone = [(each, ()) for each in (inverse, length, row)]
    taken = reshaped(rolled(reshaped(taken, [1, width])), [width])
    panel = made([height, width], element, [(rolled(panel), (0, 1)), (first, (0,)), (taken, (1,)), *alone], turned)
    after = made(
        [], row.type.element_type, [(row, ())], lambda at, each: arith.AddIOp(each[0], integer_constant(1)).result
    )
    return [panel, scales, after]


def _reflection(first: ir.Value, square: ir.Value) -> Values:
    """The scale, the length with its sign, and 1 by what the first element lacks of it; 0, itself and 0 for none."""
    element = first.type
    length = math.SqrtOp(arith.AddFOp(arith.MulFOp(first, first).result, square).result).result
    length = math.CopySignOp(length, arith.NegFOp(first).result).result
    is_none = arith.CmpFOp(arith.CmpFPredicate.OEQ, square, zero(element)).result
    one = scalar_constant(element, 1.0)
    length = either(is_none, first, length)
    lacks = arith.SubFOp(first, length).result
    inverse = either(is_none, zero(element), arith.DivFOp(one, either(is_none, one, lacks)).result)
    scale = arith.DivFOp(arith.NegFOp(lacks).result, either(is_none, one, length)).result
    return [scale, length, inverse]


def product_in_loops(vectors: ir.Value, scales: ir.Value, width: int) -> ir.Value:
    """The first columns of the product of reflections of one matrix, of ``width`` of them at a time, the last first.

    Args:
        vectors: shape ``(..., rows, columns)``, whose first dimensions are 1, a column below the diagonal for each.
        scales: of as many reflections as are applied.
    """
    *stack, rows, columns = vectors.type.shape
    assert prod(stack) == 1, "of one matrix"
    element, count = vectors.type.element_type, scales.type.shape[-1]
    full = -(-count // width) * width
    height = max(rows, full)
    given = slice_at(reshaped(vectors, [rows, columns]), [0, 0], [rows, count])
    given = inserted_at(given, zeros([height, full], element), [0, 0])
    scales = inserted_at(reshaped(scales, [count]), zeros([full], element), [0])

    def diagonal(at: Values, each: Values) -> ir.Value:
        return either(compared("eq", *at), scalar_constant(element, 1.0), zero(element))

    start = made([height, columns], element, [], diagonal)
    blocks = scf.ForOp(*map(constant_index, (0, full, width)), [start])
    with ir.InsertionPoint(blocks.body):
        begin = arith.SubIOp(constant_index(full - width), blocks.induction_variable).result
        (found,) = blocks.inner_iter_args
        panel, own = slice_at(given, [0, begin], [height, width]), slice_at(scales, [begin], [width])
        scf.YieldOp([_turned(found, found, panel, own, begin, is_product=True)])
    return reshaped(slice_at(blocks.results[0], [0, 0], [rows, columns]), [*stack, rows, columns])


def _turned(
    matrix: ir.Value, others: ir.Value, panel: ir.Value, scales: ir.Value, start: ir.Value, *, is_product: bool
) -> ir.Value:
    """``matrix``, less what the reflections of a panel take from ``others``, or their product, the last first.

    The product is ``I - v t v'``, where ``v`` has the vectors for its columns, and ``t`` is ``d inv(I + s d)`` of the
    scales ``d`` and the elements ``s`` of ``v' v`` above the diagonal; the reflections in order are its transpose.
    """
    (height, width), element = panel.type.shape, panel.type.element_type
    top = scalar_of(start)
    one, none = scalar_constant(element, 1.0), zero(element)

    def vector(at: Values, each: Values) -> ir.Value:
        row, own = as_i32(at[0]), arith.AddIOp(as_i32(at[1]), each[1]).result
        return either(compared("sgt", row, own), each[0], either(compared("eq", row, own), one, none))

    vectors = made([height, width], element, [(panel, (0, 1)), (top, ())], vector)
    squares = plus_product(zeros([width, width], element), vectors, vectors, by_columns=True)
    taken = plus_product(zeros([width, others.type.shape[1]], element), vectors, others, by_columns=True)

    def middle(at: Values, each: Values) -> ir.Value:
        above = compared("slt" if is_product else "sgt", *at)
        return either(above, arith.MulFOp(*each).result, either(compared("eq", *at), one, none))

    matrix_of_scales = made([width, width], element, [(squares, (0, 1)), (scales, (1,))], middle)

    def scaled(values: ir.Value) -> ir.Value:
        return made(values.type.shape, element, [(values, (0, 1)), (scales, (0,))],
                    lambda at, each: arith.MulFOp(*each).result)  # fmt: skip

    name = "solve_upper_unit" if is_product else "solve_lower_unit"
    (solved,) = call_codelet(name, [matrix_of_scales, taken], [taken.type.shape], [element])
    return less_product(matrix, vectors, scaled(solved))
