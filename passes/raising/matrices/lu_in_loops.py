"""LU factors of a matrix that is too high for a vertex to have some columns of it: loops over rows on all tiles."""

from math import prod

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.raising.matrices.blocked import less_product
from ipu_mlir.passes.raising.matrices.eliminated import rows_taken, scalar_constant
from ipu_mlir.passes.raising.matrices.on_all_tiles import (
    compared,
    either,
    inserted_at,
    made,
    reduced,
    rolled,
    scalar_of,
    slice_at,
)
from ipu_mlir.passes.support.codelet_calls import call_codelet
from ipu_mlir.passes.support.linalg_builders import (
    constant_index,
    elementwise,
    reshaped,
    zero,
)

arith, math, scf, tensor = upstream("arith"), upstream("math"), upstream("scf"), upstream("tensor")

Values = list[ir.Value]


def lu_in_loops(a: ir.Value, width: int) -> Values:
    """Factors, pivots and the order of the rows of one matrix, at the current insertion point.

    A loop runs over blocks of ``width`` columns, and in it one over these: rows lie on all tiles, which find the pivot
    together. What is in front of a block or above it stays as it is, so that all blocks are alike.

    Args:
        a: shape ``(..., rows, columns)``, whose first dimensions are 1.
    """
    *stack, rows, columns = a.type.shape
    assert prod(stack) == 1, "of one matrix"
    element, i32 = a.type.element_type, ir.IntegerType.get_signless(32)
    count = min(rows, columns)
    full = -(-count // width) * width
    height, breadth = max(rows, full), max(columns, full)
    zeros = made([height, breadth], element, [], lambda at, each: zero(element))
    matrix = inserted_at(reshaped(a, [rows, columns]), zeros, [0, 0])
    order = made([height, 1], i32, [], lambda at, each: arith.IndexCastOp(i32, at[0]).result)
    pivots = made([full, 1], i32, [], lambda at, each: zero(i32))
    blocks = scf.ForOp(*map(constant_index, (0, full, width)), [matrix, order, pivots])
    with ir.InsertionPoint(blocks.body):
        scf.YieldOp(_block(blocks.induction_variable, list(blocks.inner_iter_args), width))
    found, order, pivots = blocks.results
    return [
        reshaped(slice_at(found, [0, 0], [rows, columns]), [*stack, rows, columns]),
        reshaped(slice_at(pivots, [0, 0], [count, 1]), [*stack, count]),
        reshaped(slice_at(order, [0, 0], [rows, 1]), [*stack, rows]),
    ]


def _block(start: ir.Value, carried: Values, width: int) -> Values:
    """The matrix, the order of its rows and the pivots once the columns from ``start`` on are eliminated."""
    matrix, order, pivots = carried
    (height, breadth), element, i32 = matrix.type.shape, matrix.type.element_type, order.type.element_type
    panel = made([height, width + 1], element, [], lambda at, each: _to_number(at[0], element))
    panel = inserted_at(slice_at(matrix, [0, start], [height, width]), panel, [0, 0])
    steps = scf.ForOp(*map(constant_index, (0, width, 1)), [panel, pivots])
    with ir.InsertionPoint(steps.body):
        scf.YieldOp(_column(start, steps.induction_variable, *steps.inner_iter_args))
    panel, pivots = steps.results
    factors, numbers = slice_at(panel, [0, 0], [height, width]), slice_at(panel, [0, width], [height, 1])
    own = reshaped(elementwise(numbers, i32, lambda each: arith.FPToSIOp(i32, each).result).results[0], [height])
    matrix, order = inserted_at(factors, rows_taken(matrix, own), [0, start]), rows_taken(order, own)
    corner, beside = slice_at(factors, [start, 0], [width, width]), slice_at(matrix, [start, 0], [width, breadth])
    (solved,) = call_codelet("solve_lower_unit", [corner, beside], [beside.type.shape], [element])
    end = scalar_of(arith.AddIOp(start, constant_index(width)).result)

    def behind(dim: int, value: ir.Value, other: ir.Value | None = None) -> ir.Value:
        """``value`` from the end of the block on, in rows or columns; ``other``, or zeros, in front of that."""

        def body(at: Values, each: Values) -> ir.Value:
            is_behind = compared("sge", arith.IndexCastOp(i32, at[dim]).result, each[0])
            return arith.SelectOp(is_behind, each[1], each[2] if len(each) > 2 else zero(element)).result

        others = [] if other is None else [(other, (0, 1))]
        return made(value.type.shape, element, [(end, ()), (value, (0, 1)), *others], body)

    beside = behind(1, solved, beside)
    matrix = inserted_at(beside, matrix, [start, 0])
    return [less_product(matrix, behind(0, factors), behind(1, beside)), order, pivots]


def _column(start: ir.Value, column: ir.Value, panel: ir.Value, pivots: ir.Value) -> Values:
    """The panel and the pivots after a step with the first of its columns, which goes to the end of them.

    Behind the columns of a panel are the numbers of its rows, which are exchanged with them.
    """
    (height, breadth), element, i32 = panel.type.shape, panel.type.element_type, pivots.type.element_type
    width = breadth - 1
    row = scalar_of(arith.AddIOp(start, column).result)
    left = scalar_of(arith.SubIOp(constant_index(width - 1), column).result)
    first = reshaped(slice_at(panel, [0, 0], [height, 1]), [height])

    def size(at: ir.Value, value: ir.Value, top: ir.Value) -> ir.Value:
        is_below = compared("sge", arith.IndexCastOp(i32, at).result, top)
        return arith.SelectOp(is_below, math.AbsFOp(value).result, scalar_constant(element, -1.0)).result

    def place(at: Values, each: Values) -> ir.Value:
        largest, top = each[1:]
        own = size(at[0], each[0], top)
        equal = arith.CmpFOp(arith.CmpFPredicate.UEQ, own, largest).result  # the first one that is no number, too
        is_below = compared("sge", arith.IndexCastOp(i32, at[0]).result, top)
        number = arith.IndexCastOp(i32, at[0]).result
        return arith.SelectOp(arith.AndIOp(equal, is_below).result, number, scalar_constant(i32, height)).result

    of_row, alone = (first, (0,)), ((row, ()),)
    largest = reduced([], [height], scalar_constant(element, -1.0), [of_row, *alone], "arith.maximumf",
                       lambda at, each: size(at[0], *each))  # fmt: skip
    pivot = reduced([], [height], scalar_constant(i32, height), [of_row, (largest, ()), *alone], "arith.minsi", place)

    def of_both(at: Values, each: Values) -> ir.Value:
        value, place, top = each
        wanted = arith.SelectOp(compared("eq", at[0], constant_index(0)), place, top).result
        is_wanted = compared("eq", arith.IndexCastOp(i32, at[2]).result, wanted)
        return arith.SelectOp(is_wanted, value, zero(element)).result

    inputs = [(panel, (2, 1)), (pivot, ()), (row, ())]
    both = reduced([2, breadth], [height], zero(element), inputs, "arith.addf", of_both)
    chosen, top = (reshaped(slice_at(rolled(both, 1), [which, 0], [1, breadth]), [breadth]) for which in (0, 1))
    ends = [(reshaped(slice_at(both, [which, 0], [1, 1]), []), ()) for which in (0, 1)]

    def updated(at: Values, each: Values) -> ir.Value:
        own, old, above, other, scale, old_top, place, top_row, count = each
        number, behind = arith.IndexCastOp(i32, at[0]).result, arith.IndexCastOp(i32, at[1]).result
        is_top, is_place, below = (
            compared(how, number, what) for how, what in (("eq", top_row), ("eq", place), ("sgt", top_row))
        )
        own = either(is_top, above, either(is_place, other, own))
        old = either(is_place, old_top, old)  # of the top row, it is not looked at
        is_zero = arith.CmpFOp(arith.CmpFPredicate.OEQ, scale, zero(element)).result
        factor = arith.DivFOp(old, either(is_zero, scalar_constant(element, 1.0), scale)).result
        less = arith.SubFOp(own, arith.MulFOp(factor, above).result).result
        found = either(compared("slt", behind, count), less, own)
        found = either(compared("eq", at[1], constant_index(width - 1)), factor, found)
        return either(below, found, own)

    inputs = [(rolled(panel, 1), (0, 1)), of_row, (chosen, (1,)), (top, (1,)), *ends, (pivot, ()), *alone, (left, ())]
    panel = made([height, breadth], element, inputs, updated)

    def with_pivot(at: Values, each: Values) -> ir.Value:
        return either(compared("eq", arith.IndexCastOp(i32, at[0]).result, each[1]), each[2], each[0])

    return [panel, made(pivots.type.shape, i32, [(pivots, (0, 1)), *alone, (pivot, ())], with_pivot)]


def _to_number(place: ir.Value, element: ir.Type) -> ir.Value:
    i32 = ir.IntegerType.get_signless(32)
    return arith.SIToFPOp(element, arith.IndexCastOp(i32, place).result).result
