"""LU factors of a matrix that is too high for a vertex to have some columns of it: loops over rows on all tiles."""

from collections.abc import Sequence
from math import prod

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.raising.matrices.blocked import less_product
from ipu_mlir.passes.raising.matrices.eliminated import rows_taken, scalar_constant
from ipu_mlir.passes.raising.matrices.on_all_tiles import (
    as_i32,
    compared,
    either,
    inserted_at,
    made,
    reduced,
    rolled,
    slice_at,
)
from ipu_mlir.passes.support.codelet_calls import call_codelet, first_extremes
from ipu_mlir.passes.support.linalg_builders import (
    constant_index,
    elementwise,
    reshaped,
    zero,
)

arith, math, scf, tensor = upstream("arith"), upstream("math"), upstream("scf"), upstream("tensor")

Values = list[ir.Value]


def lu_in_loops(a: ir.Value, widths: Sequence[int]) -> Values:
    """Factors, pivots and the order of the rows of one matrix, at the current insertion point.

    A loop runs over blocks of ``widths[0]`` columns, and in it one over blocks of ``widths[1]`` of these, and so on, at
    last one over columns: rows lie on all tiles, which find the pivot together. What is in front of a block or above it
    stays as it is, so that all blocks are alike.

    Args:
        a: shape ``(..., rows, columns)``, whose first dimensions are 1.
        widths: each divides the one before it.
    """
    *stack, rows, columns = a.type.shape
    assert prod(stack) == 1, "of one matrix"
    element, i32 = a.type.element_type, ir.IntegerType.get_signless(32)
    count = min(rows, columns)
    full = -(-count // widths[0]) * widths[0]
    parts = _parts(max(rows, full))
    height, breadth = -(-max(rows, full) // parts) * parts, max(columns, full)
    zeros = made([height, breadth], element, [], lambda at, each: zero(element))
    matrix = inserted_at(reshaped(a, [rows, columns]), zeros, [0, 0])
    pivots = made([full, 1], i32, [], lambda at, each: zero(i32))
    found, order, pivots = _blocks(None, [matrix, _numbers(height), pivots], full, widths)
    return [
        reshaped(slice_at(found, [0, 0], [rows, columns]), [*stack, rows, columns]),
        reshaped(slice_at(pivots, [0, 0], [count, 1]), [*stack, count]),
        reshaped(slice_at(order, [0, 0], [rows, 1]), [*stack, rows]),
    ]


def _blocks(top: ir.Value | None, carried: Values, columns: int, widths: Sequence[int]) -> Values:
    """The matrix, the order of its rows and the pivots once ``columns`` are eliminated from row ``top`` on."""
    blocks = scf.ForOp(*map(constant_index, (0, columns, widths[0])), carried)
    with ir.InsertionPoint(blocks.body):
        scf.YieldOp(_block(top, blocks.induction_variable, list(blocks.inner_iter_args), widths))
    return list(blocks.results)


def _block(top: ir.Value | None, start: ir.Value, carried: Values, widths: Sequence[int]) -> Values:
    """The same once the columns from ``start`` on are eliminated, whose diagonal begins so many rows below ``top``."""
    matrix, order, pivots = carried
    (height, breadth), element, i32 = matrix.type.shape, matrix.type.element_type, order.type.element_type
    width = widths[0]
    row = start if top is None else arith.AddIOp(top, start).result
    panel = slice_at(matrix, [0, start], [height, width])
    if len(widths) > 1:
        factors, own, pivots = _blocks(row, [panel, _numbers(height), pivots], width, widths[1:])
        own = reshaped(own, [height])
    else:
        with_numbers = made([height, width + 1], element, [], lambda at, each: _to_number(at[0], element))
        steps = scf.ForOp(*map(constant_index, (0, width, 1)), [inserted_at(panel, with_numbers, [0, 0]), pivots])
        with ir.InsertionPoint(steps.body):
            scf.YieldOp(_column(row, steps.induction_variable, *steps.inner_iter_args))
        panel, pivots = steps.results
        factors, numbers = slice_at(panel, [0, 0], [height, width]), slice_at(panel, [0, width], [height, 1])
        own = reshaped(elementwise(numbers, i32, lambda each: arith.FPToSIOp(i32, each).result).results[0], [height])
    matrix, order = inserted_at(factors, rows_taken(matrix, own), [0, start]), rows_taken(order, own)
    corner, beside = slice_at(factors, [row, 0], [width, width]), slice_at(matrix, [row, 0], [width, breadth])
    (solved,) = call_codelet("solve_lower_unit", [corner, beside], [beside.type.shape], [element])
    ends = [as_i32(arith.AddIOp(first, constant_index(width)).result) for first in (row, start)]

    def behind(dim: int, value: ir.Value, other: ir.Value | None = None) -> ir.Value:
        """``value`` from the end of the block on, in rows or columns; ``other``, or zeros, in front of that."""

        def body(at: Values, each: Values) -> ir.Value:
            is_behind = compared("sge", as_i32(at[dim]), ends[dim])
            return arith.SelectOp(is_behind, each[0], each[1] if len(each) > 1 else zero(element)).result

        others = [] if other is None else [(other, (0, 1))]
        return made(value.type.shape, element, [(value, (0, 1)), *others], body)

    beside = behind(1, solved, beside)
    matrix = inserted_at(beside, matrix, [row, 0])
    return [less_product(matrix, behind(0, factors), behind(1, beside)), order, pivots]


def _numbers(rows: int) -> ir.Value:
    """The number of each row, as a column."""
    i32 = ir.IntegerType.get_signless(32)
    return made([rows, 1], i32, [], lambda at, each: arith.IndexCastOp(i32, at[0]).result)


def _column(start: ir.Value, column: ir.Value, panel: ir.Value, pivots: ir.Value) -> Values:
    """The panel and the pivots after a step with the first of its columns, which goes to the end of them.

    Behind the columns of a panel are the numbers of its rows, which are exchanged with them.
    """
    (height, breadth), element, i32 = panel.type.shape, panel.type.element_type, pivots.type.element_type
    width = breadth - 1
    row = as_i32(arith.AddIOp(start, column).result)
    left = as_i32(arith.SubIOp(constant_index(width - 1), column).result)
    first = reshaped(slice_at(panel, [0, 0], [height, 1]), [height])
    pivot = _first_largest(first, row)

    def of_both(at: Values, each: Values) -> ir.Value:
        value, place = each
        wanted = arith.SelectOp(compared("eq", at[0], constant_index(0)), place, row).result
        is_wanted = compared("eq", arith.IndexCastOp(i32, at[2]).result, wanted)
        return arith.SelectOp(is_wanted, value, zero(element)).result

    both = reduced([2, breadth], [height], zero(element), [(panel, (2, 1)), (pivot, ())], "arith.addf", of_both)
    chosen, top = (reshaped(slice_at(rolled(both, 1), [which, 0], [1, breadth]), [breadth]) for which in (0, 1))
    ends = [(reshaped(slice_at(both, [which, 0], [1, 1]), []), ()) for which in (0, 1)]

    def updated(at: Values, each: Values) -> ir.Value:
        own, old, above, other, scale, old_top, place = each
        number, behind = as_i32(at[0]), as_i32(at[1])
        is_top, is_place, below = (
            compared(how, number, what) for how, what in (("eq", row), ("eq", place), ("sgt", row))
        )
        own = either(is_top, above, either(is_place, other, own))
        old = either(is_place, old_top, old)  # of the top row, it is not looked at
        is_zero = arith.CmpFOp(arith.CmpFPredicate.OEQ, scale, zero(element)).result
        factor = arith.DivFOp(old, either(is_zero, scalar_constant(element, 1.0), scale)).result
        less = arith.SubFOp(own, arith.MulFOp(factor, above).result).result
        found = either(compared("slt", behind, left), less, own)
        found = either(compared("eq", at[1], constant_index(width - 1)), factor, found)
        return either(below, found, own)

    inputs = [(rolled(panel, 1), (0, 1)), (first, (0,)), (chosen, (1,)), (top, (1,)), *ends, (pivot, ())]
    panel = made([height, breadth], element, inputs, updated)

    def with_pivot(at: Values, each: Values) -> ir.Value:
        return either(compared("eq", as_i32(at[0]), row), each[1], each[0])

    return [panel, made(pivots.type.shape, i32, [(pivots, (0, 1)), (pivot, ())], with_pivot)]


def _first_largest(column: ir.Value, top: ir.Value) -> ir.Value:
    """The number of the first row, from ``top`` on, with the largest size, or of the first that has none.

    Every part of the rows has a largest one; the first of these with the largest size has the row.
    """
    (height,), element = column.type.shape, column.type.element_type
    i32, shape = ir.IntegerType.get_signless(32), [_parts(height), height // _parts(height)]

    def size(at: Values, each: Values) -> ir.Value:
        number = arith.AddIOp(arith.MulIOp(at[0], constant_index(shape[1])).result, at[1]).result
        is_below = compared("sge", as_i32(number), top)
        return either(is_below, math.AbsFOp(each[0]).result, scalar_constant(element, -1.0))

    sizes = made(shape, element, [(reshaped(column, shape), (0, 1))], size)
    best = reduced(shape[:1], shape[1:], scalar_constant(element, -1.0), [(sizes, (0, 1))], "arith.maximumf",
                   lambda at, each: each[0])  # fmt: skip
    own, part = (first_extremes(values, at, left, "first_maximum_or_nan")
                 for values, at, left in ((sizes, 1, shape[:1]), (best, 0, [])))  # fmt: skip

    def row_of(at: Values, each: Values) -> ir.Value:
        inside = tensor.ExtractOp(own, [each[0]]).result
        return as_i32(arith.AddIOp(arith.MulIOp(each[0], constant_index(shape[1])).result, inside).result)

    return made([], i32, [(part, ())], row_of)


def _parts(rows: int) -> int:
    """Into how many parts rows are cut to find the largest: about as many as each has.

    >>> [_parts(rows) for rows in (63, 64, 4096, 5000)]
    [8, 8, 64, 64]
    """
    return 1 << rows.bit_length() // 2


def _to_number(place: ir.Value, element: ir.Type) -> ir.Value:
    i32 = ir.IntegerType.get_signless(32)
    return arith.SIToFPOp(element, arith.IndexCastOp(i32, place).result).result
