"""Matrices of which all tiles have rows: slices from places on that a loop knows, elements and sums by their places."""

from collections.abc import Callable, Sequence

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.raising.matrices.blocked import zeros_like
from ipu_mlir.passes.raising.matrices.eliminated import scalar_constant
from ipu_mlir.passes.support.linalg_builders import fill_with, generic, identity_map, loop_index, zero

arith, math, tensor = upstream("arith"), upstream("math"), upstream("tensor")

Values = list[ir.Value]


def rolled(rows: ir.Value, kept: int = 0) -> ir.Value:
    """``rows``, of which the first element goes behind all others but the last ``kept``."""
    count, breadth = rows.type.shape
    last = breadth - 1 - kept
    found = tensor.EmptyOp([count, breadth], rows.type.element_type).result
    for start, size, at in ((1, last, 0), (0, 1, last), (last + 1, kept, last + 1)):
        if size:
            found = inserted_at(slice_at(rows, [0, start], [count, size]), found, [0, at])
    return found


Inputs = Sequence[tuple[ir.Value, Sequence[int]]]
"""Tensors, and the loops that index their dimensions."""


def made(
    shape: Sequence[int], element: ir.Type, inputs: Inputs, body: Callable[[Values, Values], ir.Value]
) -> ir.Value:
    """A tensor whose elements are ``body`` of their places and of the elements of ``inputs`` for them."""
    loops = len(shape)
    empty = tensor.EmptyOp(list(shape), element).result
    maps = [*(_map(loops, dims) for _, dims in inputs), identity_map(loops)]
    places = range(loops)
    return generic([value for value, _ in inputs], [empty], maps, [True] * loops,
                   lambda each: [body([loop_index(loop) for loop in places], each[:-1])]).results[0]  # fmt: skip


def reduced(
    shape: Sequence[int],
    over: Sequence[int],
    start: ir.Value,
    inputs: Inputs,
    combiner: str,
    body: Callable[[Values, Values], ir.Value],
) -> ir.Value:
    """As ``made``, of which the last loops, of extents ``over``, are combined by op ``combiner``."""
    loops, element = len(shape) + len(over), start.type
    begin = fill_with(start, tensor.EmptyOp(list(shape), element).result).results[0]
    maps = [*(_map(loops, dims) for _, dims in inputs), _map(loops, range(len(shape)))]

    def combined(each: Values) -> Values:
        found = body([loop_index(loop) for loop in range(loops)], each[:-1])
        return [ir.Operation.create(combiner, results=[element], operands=[each[-1], found]).results[0]]

    parallel = [True] * len(shape) + [False] * len(over)
    return generic([value for value, _ in inputs], [begin], maps, parallel, combined).results[0]


def largest(values: ir.Value) -> ir.Value:
    """The size of the largest element, as a scalar."""
    rank = len(values.type.shape)
    return reduced([], values.type.shape, zero(values.type.element_type), [(values, range(rank))], "arith.maximumf",
                   lambda at, each: math.AbsFOp(each[0]).result)  # fmt: skip


def power_of_two(number: ir.Value) -> ir.Value:
    """The power of two at or below a scalar of f32 or f64; 1 for 0."""
    element = number.type.element_type
    bits, mask = (32, 0x7F800000) if element == ir.F32Type.get() else (64, 0x7FF0000000000000)
    integer = ir.IntegerType.get_signless(bits)

    def power(at: Values, each: Values) -> ir.Value:
        kept = arith.ConstantOp(integer, ir.IntegerAttr.get(integer, mask)).result
        exponent = arith.AndIOp(arith.BitcastOp(integer, each[0]).result, kept).result
        found = arith.BitcastOp(element, exponent).result
        is_zero = arith.CmpFOp(arith.CmpFPredicate.OEQ, found, zero(element)).result
        return either(is_zero, scalar_constant(element, 1.0), found)

    return made([], element, [(number, ())], power)


def zeros(shape: Sequence[int], element: ir.Type) -> ir.Value:
    return zeros_like(tensor.EmptyOp(list(shape), element).result)


def as_i32(place: ir.Value) -> ir.Value:
    return arith.IndexCastOp(ir.IntegerType.get_signless(32), place).result


def _map(loops: int, dims: Sequence[int]) -> ir.AffineMap:
    return ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(dim) for dim in dims])


def compared(predicate: str, left: ir.Value, right: ir.Value) -> ir.Value:
    return arith.CmpIOp(getattr(arith.CmpIPredicate, predicate), left, right).result


def either(condition: ir.Value, yes: ir.Value, no: ir.Value) -> ir.Value:
    return arith.SelectOp(condition, yes, no).result


def scalar_of(place: ir.Value) -> ir.Value:
    i32 = ir.IntegerType.get_signless(32)
    number = arith.IndexCastOp(i32, place).result
    return tensor.FromElementsOp(ir.RankedTensorType.get([], i32), [number]).result


def slice_at(value: ir.Value, at: Sequence[ir.Value | int], sizes: list[int]) -> ir.Value:
    """A slice, from places on that are known or not."""
    dynamic, static = _places(at)
    kind = ir.RankedTensorType.get(sizes, value.type.element_type)
    return tensor.ExtractSliceOp(kind, value, dynamic, [], [], static, sizes, [1] * len(sizes)).result


def inserted_at(part: ir.Value, value: ir.Value, at: Sequence[ir.Value | int]) -> ir.Value:
    dynamic, static = _places(at)
    sizes = list(part.type.shape)
    return tensor.InsertSliceOp(part, value, dynamic, [], [], static, sizes, [1] * len(sizes)).result


def _places(at: Sequence[ir.Value | int]) -> tuple[list[ir.Value], list[int]]:
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    dynamic = [each for each in at if not isinstance(each, int)]
    return dynamic, [each if isinstance(each, int) else unknown for each in at]
