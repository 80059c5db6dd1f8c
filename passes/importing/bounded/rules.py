"""Ops of StableHLO on tensors of their largest sizes: a rule for each, which leaves out the padding."""

from collections.abc import Callable, Sequence
from math import prod

from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.stablehlo import bindings
from ipu_mlir.passes.importing.bounded.counts import (
    I32,
    Counts,
    Padded,
    constant,
    counts_after,
    dynamic_dimensions,
    masked,
    padded_shape,
    padded_type,
    scalar_type,
    sum_of,
)
from ipu_mlir.passes.importing.stablehlo.builders import full, stablehlo_op
from ipu_mlir.passes.importing.stablehlo.complex_functions import compared
from ipu_mlir.passes.importing.stablehlo.simplify_stablehlo import sets_whole_size
from ipu_mlir.passes.support.clone import clone_into

Rule = Callable[[ir.Operation, list[Counts]], "list[Padded] | None"]
"""The results of an op from the counts of its operands, which are padded; None if it cannot work on them."""
_ELEMENTWISE = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("abs", "add", "and", "atan2", "cbrt", "ceil", "clamp", "compare", "complex", "convert", "cosine", "divide"),
        *("exponential", "exponential_minus_one", "floor", "imag", "is_finite", "log", "log_plus_one", "logistic"),
        *("maximum", "minimum", "multiply", "negate", "not", "or", "popcnt", "power", "real", "reduce_precision"),
        *("remainder", "round_nearest_afz", "round_nearest_even", "rsqrt", "select", "shift_left", "sign", "sine"),
        *("shift_right_arithmetic", "shift_right_logical", "sqrt", "subtract", "tan", "tanh", "xor"),
        *("count_leading_zeros", "optimization_barrier"),
    )
)


def _set_size(op: ir.Operation, counts: list[Counts]) -> list[Padded]:
    """XLA subtracts the start of a slice from a size that may be smaller."""
    operand, size = op.operands[0], _scalar("maximum", op.operands[1], constant(0))
    axis = ir.IntegerAttr(op.attributes["dimension"]).value
    own = stablehlo_op("stablehlo.reshape", operand.type, [operand])  # other users have the whole
    rest = {place: count for place, count in counts[0].items() if place != axis}
    return [
        (
            own,
            rest
            if sets_whole_size(op) and axis not in dynamic_dimensions(op.results[0].type)
            else {**rest, axis: size},
        )
    ]


def _get_size(op: ir.Operation, counts: list[Counts]) -> list[Padded]:
    axis = ir.IntegerAttr(op.attributes["dimension"]).value
    return [(counts[0].get(axis) or constant(op.operands[0].type.shape[axis]), {})]


def _elementwise(op: ir.Operation, counts: list[Counts]) -> list[Padded]:
    together = {place: count for own in counts for place, count in own.items()}
    return _results(op, counts if op.name == "stablehlo.optimization_barrier" else [together])


def _broadcast(op: ir.Operation, counts: list[Counts]) -> list[Padded]:
    places = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
    return _results(op, [{places[place]: count for place, count in counts[0].items()}])


def _transpose(op: ir.Operation, counts: list[Counts]) -> list[Padded]:
    order = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
    return _results(op, [{order.index(place): count for place, count in counts[0].items()}])


def _reshape(op: ir.Operation, counts: list[Counts]) -> list[Padded] | None:
    found = counts_after(counts[0], op.operands[0].type.shape, padded_shape(str(op.results[0].type)))
    return None if found is None else _results(op, [found])


def _dynamic_reshape(op: ir.Operation, counts: list[Counts]) -> list[Padded] | None:
    """XLA's dynamic reshape, for which StableHLO has no name here: it takes the sizes of the result as well."""
    (result,), (operand, *sizes) = op.results, op.operands
    scalars = all(str(each.type) == I32 for each in sizes)
    if not scalars or len(sizes) != result.type.rank or operand.type.element_type != result.type.element_type:
        return None
    shape = padded_shape(str(result.type))
    kind = ir.RankedTensorType.get(shape, operand.type.element_type)
    if prod(shape) != prod(operand.type.shape) or counts_after(counts[0], operand.type.shape, shape) is None:
        return None
    own = {place: sizes[place] for place in dynamic_dimensions(result.type)}
    return [(stablehlo_op("stablehlo.reshape", kind, [operand]), own)]


def _reduce(op: ir.Operation, counts: list[Counts]) -> list[Padded]:
    axes = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
    number = len(op.operands) // 2
    kept = [place for place in range(op.operands[0].type.rank) if place not in axes]
    for place in range(number):
        own = {axis: count for axis, count in counts[place].items() if axis in axes}
        op.operands[place] = masked(op.operands[place], own, op.operands[number + place])
    together = {place: count for own in counts[:number] for place, count in own.items()}
    left = {kept.index(place): count for place, count in together.items() if place in kept}
    return _results(op, [left] * number)


def _gather(op: ir.Operation, counts: list[Counts]) -> list[Padded] | None:
    numbers = bindings().GatherDimensionNumbers(op.attributes["dimension_numbers"])
    sizes = list(ir.DenseI64ArrayAttr(op.attributes["slice_sizes"]))
    shape, offsets = op.operands[0].type.shape, list(numbers.offset_dims)
    gone = [*numbers.collapsed_slice_dims, *numbers.operand_batching_dims]
    windows = [place for place in range(len(shape)) if place not in gone]
    found: Counts = {}
    for place, count in counts[0].items():
        if place in windows and sizes[place] == shape[place]:
            found[offsets[windows.index(place)]] = count
    batches = [place for place in range(len(padded_shape(str(op.results[0].type)))) if place not in offsets]
    for place, count in counts[1].items():
        if place == numbers.index_vector_dim:
            return None
        found[batches[place - (place > numbers.index_vector_dim)]] = count
    return _results(op, [found])


def _scatter(op: ir.Operation, counts: list[Counts]) -> list[Padded] | None:
    number = len(op.operands) // 2
    numbers = bindings().ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
    indices, axis = op.operands[number], numbers.index_vector_dim
    windows, rank = set(numbers.update_window_dims), op.operands[number + 1].type.rank
    rows = [place for place in range(rank) if place not in windows]
    beyond = {place: count for place, count in counts[number].items() if place != axis}
    for own in counts[number + 1 :]:
        if windows & own.keys() or axis in counts[number]:
            return None
        for place, count in own.items():
            row = rows.index(place)
            beyond[row + (row >= axis)] = count
    op.operands[number] = masked(indices, beyond, full(scalar_type(indices), -1))  # nowhere
    return _results(op, counts[:number])


def _dot(op: ir.Operation, counts: list[Counts]) -> list[Padded]:
    return _product(op, counts, (([], [op.operands[0].type.rank - 1]), ([], [0])))


def _dot_general(op: ir.Operation, counts: list[Counts]) -> list[Padded]:
    numbers = bindings().DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    lhs = list(numbers.lhs_batching_dimensions), list(numbers.lhs_contracting_dimensions)
    rhs = list(numbers.rhs_batching_dimensions), list(numbers.rhs_contracting_dimensions)
    return _product(op, counts, (lhs, rhs))


def _product(op: ir.Operation, counts: list[Counts], sides: tuple[tuple[list[int], list[int]], ...]) -> list[Padded]:
    """A product; ``sides`` are the dimensions of each operand that are a batch's, and those that are summed."""
    found: Counts = {}
    place = len(sides[0][0])
    contracted = [
        {sums.index(axis): count for axis, count in own.items() if axis in sums}
        for (_, sums), own in zip(sides, counts, strict=True)
    ]
    together = {**contracted[0], **contracted[1]}
    for number, ((batches, sums), own) in enumerate(zip(sides, counts, strict=True)):
        value = op.operands[number]
        masks = {sums[which]: count for which, count in together.items()}
        op.operands[number] = masked(value, masks, full(scalar_type(value), 0))
        for axis in range(value.type.rank):
            if axis in batches:
                if axis in own:
                    found[batches.index(axis)] = own[axis]
            elif axis not in sums:
                if axis in own:
                    found[place] = own[axis]
                place += 1
    return _results(op, [found])


def _concatenate(op: ir.Operation, counts: list[Counts]) -> list[Padded]:
    axis = ir.IntegerAttr(op.attributes["dimension"]).value
    kind = ir.RankedTensorType.get(padded_shape(str(op.results[0].type)), op.results[0].type.element_type)
    found = {place: count for own in counts for place, count in own.items() if place != axis}
    if not any(axis in own for own in counts):
        return _results(op, [found])
    whole, at = full(kind, 0), constant(0)
    for value, own in zip(op.operands, counts, strict=True):  # each over the padding of that before it
        starts = [at if place == axis else constant(0) for place in range(kind.rank)]
        whole = stablehlo_op("stablehlo.dynamic_update_slice", kind, [whole, value, *starts])
        at = sum_of(at, own.get(axis) or constant(value.type.shape[axis]))
    return [(whole, {**found, axis: at})]


def _slice(op: ir.Operation, counts: list[Counts]) -> list[Padded] | None:
    start, limit, step = (
        list(ir.DenseI64ArrayAttr(op.attributes[name])) for name in ("start_indices", "limit_indices", "strides")
    )
    shape, dynamic = op.operands[0].type.shape, dynamic_dimensions(op.results[0].type)
    found: Counts = {}
    for place, count in counts[0].items():
        if (start[place], limit[place], step[place]) == (0, shape[place], 1):
            found[place] = count
        elif place in dynamic:
            if step[place] != 1:
                return None
            last = _scalar("minimum", count, constant(limit[place]))
            found[place] = _scalar("maximum", sum_of(last, constant(-start[place])), constant(0))
    return _results(op, [found])


def _scalar(name: str, one: ir.Value, other: ir.Value) -> ir.Value:
    return stablehlo_op(f"stablehlo.{name}", one.type, [one, other])


def _reduce_window(op: ir.Operation, counts: list[Counts]) -> list[Padded] | None:
    """Windows of which there are as many as elements, such as running sums."""
    number = len(op.operands) // 2
    together = {place: count for own in counts for place, count in own.items()}
    after = padded_shape(str(op.results[0].type))
    strides = list(ir.DenseI64ArrayAttr(op.attributes["window_strides"])) if "window_strides" in op.attributes else []
    if any(op.operands[0].type.shape[place] != after[place] or strides[place : place + 1] > [1] for place in together):
        return None
    for place in range(number):
        op.operands[place] = masked(op.operands[place], counts[place], op.operands[number + place])
    return _results(op, [together] * number)


def _sort(op: ir.Operation, counts: list[Counts]) -> list[Padded]:
    """What is beyond a count along the sorted dimension comes last."""
    axis = ir.IntegerAttr(op.attributes["dimension"]).value if "dimension" in op.attributes else -1
    axis %= op.operands[0].type.rank
    together = {place: count for own in counts for place, count in own.items()}
    if axis not in together:
        return _results(op, [together] * len(op.results))
    kind = ir.RankedTensorType.get(op.operands[0].type.shape, ir.IntegerType.get_signless(1))
    is_beyond = masked(full(kind, 0), {axis: together[axis]}, full(ir.RankedTensorType.get([], kind.element_type), 1))
    operands = [is_beyond, *op.operands]
    made = ir.Operation.create(op.name, [each.type for each in operands], operands, dict(op.attributes), regions=1)
    (old,), scalar = op.regions[0].blocks, ir.RankedTensorType.get([], kind.element_type)
    kinds = [scalar, scalar, *(argument.type for argument in old.arguments)]
    block = ir.Block.create_at_start(made.regions[0], kinds, [op.location] * len(kinds))
    one, other, *arguments = block.arguments
    known = dict(zip(old.arguments, arguments, strict=True))
    with ir.InsertionPoint(block):
        for inner in list(old.operations)[:-1]:
            clone_into(inner.operation, known)
        (before,) = terminator(old).operands
        alike = stablehlo_op("stablehlo.and", scalar, [compared(one, other, "EQ"), known.get(before, before)])
        first = stablehlo_op("stablehlo.or", scalar, [compared(one, other, "LT"), alike])
        ir.Operation.create("stablehlo.return", [], [first])
    return [(value, together) for value in list(made.results)[1:]]


def _return(op: ir.Operation, counts: list[Counts]) -> list[Padded] | None:
    """A function gives whole tensors that have padding if it gives the numbers of their elements, too."""
    given = list(op.operands)
    if op.parent is None or any(count not in given for own in counts for count in own.values()):
        return None
    inputs = ir.FunctionType(op.parent.operation.attributes["function_type"].value).inputs
    kind = ir.FunctionType.get(inputs, [value.type for value in given])
    op.parent.operation.attributes["function_type"] = ir.TypeAttr.get(kind)
    return []


def _pad(op: ir.Operation, counts: list[Counts]) -> list[Padded] | None:
    low, high, inside = (
        list(ir.DenseI64ArrayAttr(op.attributes[f"{name}_padding" if name == "interior" else f"edge_padding_{name}"]))
        for name in ("low", "high", "interior")
    )
    if any(low[place] < 0 or high[place] < 0 or inside[place] for place in counts[0]):
        return None
    op.operands[0] = masked(op.operands[0], counts[0], op.operands[1])
    return _results(op, [{place: sum_of(n, constant(low[place] + high[place])) for place, n in counts[0].items()}])


def _results(op: ir.Operation, counts: Sequence[Counts]) -> list[Padded]:
    """The results of ``op`` itself, with their largest sizes."""
    for result in op.results:
        result.set_type(padded_type(result.type))
    return list(zip(op.results, counts, strict=True))


SIZES: dict[str, Rule] = {
    "stablehlo.get_dimension_size": _get_size,
    "stablehlo.set_dimension_size": _set_size,
}
"""Ops that make and ask for sizes."""

RULES: dict[str, Rule] = {
    **dict.fromkeys(_ELEMENTWISE, _elementwise),
    **SIZES,
    "func.return": _return,
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.concatenate": _concatenate,
    "mhlo.unknown": _dynamic_reshape,
    "stablehlo.dot": _dot,
    "stablehlo.dot_general": _dot_general,
    "stablehlo.gather": _gather,
    "stablehlo.pad": _pad,
    "stablehlo.reduce": _reduce,
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.reshape": _reshape,
    "stablehlo.scatter": _scatter,
    "stablehlo.slice": _slice,
    "stablehlo.sort": _sort,
    "stablehlo.transpose": _transpose,
}
