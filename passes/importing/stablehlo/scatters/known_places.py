"""Scatters to places that the program itself says, as ``x.at[::2, 1:-1]`` of JAX: updates of a box of the tensor."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.stablehlo import bindings
from ipu_mlir.passes.importing.stablehlo.builders import stablehlo_op, transposed
from ipu_mlir.passes.importing.stablehlo.scalar_regions import Values, apply_region
from ipu_mlir.passes.support.linalg_builders import generic, identity_map

_MOST = 1 << 24
"""Numbers of a table of places that is looked at."""

Places = np.ndarray[Any, np.dtype[np.int64]]


def update_of_box(op: ir.Operation) -> Values | None:
    """The result of a scatter whose places are known and make a box, with steps, of the tensor; None of others."""
    if len(op.results) != 1 or any(
        each.type.element_type != op.operands[0].type.element_type for each in op.operands[::2]
    ):
        return None
    initial, indices, updates = op.operands
    numbers = bindings().ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
    if list(numbers.input_batching_dims) or 0 in updates.type.shape:
        return None
    places = _known(indices)
    if places is None:
        return None
    if numbers.index_vector_dim == places.ndim:
        places = places[..., None]
    places = np.moveaxis(places, numbers.index_vector_dim, -1)
    window = list(numbers.update_window_dims)
    rows = [d for d in range(len(updates.type.shape)) if d not in window]
    sizes = list(initial.type.shape)
    spanned = iter(window)
    own = [None if d in numbers.inserted_window_dims else next(spanned) for d in range(len(sizes))]
    starts = {dimension: places[..., number] for number, dimension in enumerate(numbers.scattered_dims_to_operand_dims)}
    box: list[tuple[int, int, int]] = []  # begin, size, step
    order: list[int] = []  # of the dimensions of the updates that are those of the box
    for dimension in range(len(sizes)):
        line = _line(starts[dimension]) if dimension in starts else (0, None, 1)
        if line is None:
            return None
        begin, axis, step = line
        wide = own[dimension]
        if axis is not None and (rows[axis] in order or (wide is not None and updates.type.shape[wide] > 1)):
            return None
        along = wide if axis is None else rows[axis]
        size = 1 if along is None else updates.type.shape[along]
        order += [] if along is None else [along]
        box.append((begin, size, step))
    if any(size > 1 for d, size in enumerate(updates.type.shape) if d not in order):  # several go to one place
        return None
    if any(
        min(b, b + (n - 1) * s) < 0 or max(b, b + (n - 1) * s) >= size
        for (b, n, s), size in zip(box, sizes, strict=True)
    ):
        return None
    return [_put(op, initial, updates, box, order)]


def _put(
    op: ir.Operation, initial: ir.Value, updates: ir.Value, box: list[tuple[int, int, int]], order: list[int]
) -> ir.Value:
    tensor, element = upstream("tensor"), initial.type.element_type
    others = [d for d in range(len(updates.type.shape)) if d not in order]
    sizes = [size for _, size, _ in box]
    kind = ir.RankedTensorType.get(sizes, element)
    new = stablehlo_op("stablehlo.reshape", kind, [transposed(updates, [*others, *order])])
    backward = [d for d, (_, size, step) in enumerate(box) if step < 0 and size > 1]
    if backward:
        new = stablehlo_op("stablehlo.reverse", kind, [new], {"dimensions": ir.DenseI64ArrayAttr.get(backward)})
    begins = [begin + (size - 1) * step if d in backward else begin for d, (begin, size, step) in enumerate(box)]
    steps = [max(1, abs(step)) for _, _, step in box]
    block = op.regions[0].blocks[0]
    (given,) = list(block.operations)[-1].operands
    if given != block.arguments[1]:
        old = tensor.ExtractSliceOp(kind, initial, [], [], [], begins, sizes, steps).result
        maps = [identity_map(len(sizes))] * 2
        new = generic(
            [new], [old], maps, [True] * len(sizes), lambda each: apply_region(op.regions[0], each[::-1])
        ).results[0]
    return tensor.InsertSliceOp(new, initial, [], [], [], begins, sizes, steps).result


def _line(places: Places) -> tuple[int, int | None, int] | None:
    """The first of ``places``, the axis along which they change and by how much; None if they are no such line.

    >>> _line(np.array([[3, 5, 7], [3, 5, 7]])), _line(np.array([[4, 4]])), _line(np.array([1, 2, 4]))
    ((3, 1, 2), (4, None, 1), None)
    """
    begin = int(places.flat[0])
    along = [axis for axis in range(places.ndim) if np.any(np.diff(places, axis=axis))]
    if not along:
        return begin, None, 1
    (axis, *more) = along
    step = int(np.take(places, 1, axis=axis).flat[0]) - begin
    steps = np.diff(places, axis=axis)
    return (begin, axis, step) if not more and step and bool((steps == step).all()) else None


def _known(value: ir.Value) -> Places | None:
    """The integers that ``value`` is, if they follow from constants and from where elements lie; None if not."""
    op, kind = defining_op(value), value.type
    if op is None or not isinstance(kind.element_type, ir.IntegerType) or np.prod(kind.shape) > _MOST:
        return None
    if op.name in ("stablehlo.constant", "arith.constant"):
        return _constant(op.attributes["value"], list(kind.shape))
    if op.name == "stablehlo.iota":
        at = ir.IntegerAttr(op.attributes["iota_dimension"]).value
        along = [size if d == at else 1 for d, size in enumerate(kind.shape)]
        return np.broadcast_to(np.arange(kind.shape[at], dtype=np.int64).reshape(along), list(kind.shape))
    rule = _RULES.get(op.name)
    known = [] if rule is None else [_known(each) for each in op.operands]
    given = [each for each in known if each is not None]
    if rule is None or len(given) < len(known):
        return None
    found = rule(op, *given)
    width, least = kind.element_type.width, 0 if kind.element_type.is_unsigned else -1
    limit = 1 << min(62, width - (least < 0 and width > 1))
    return found if bool(((found >= least * limit) & (found < limit)).all()) else None  # else the type would wrap it


def _constant(attribute: ir.Attribute, shape: list[int]) -> Places | None:
    if not isinstance(attribute, ir.DenseIntElementsAttr):
        return None
    if attribute.is_splat:
        return np.full(shape, ir.IntegerAttr(attribute.get_splat_value()).value, np.int64)
    return np.array(attribute).astype(np.int64).reshape(shape)


def _numbers(op: ir.Operation, name: str) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name]))


def _broadcast(op: ir.Operation, given: Places) -> Places:
    shape, along = list(op.results[0].type.shape), _numbers(op, "broadcast_dimensions")
    wide = [given.shape[along.index(d)] if d in along else 1 for d in range(len(shape))]
    return np.broadcast_to(np.transpose(given, np.argsort(along)).reshape(wide), shape)


def _compared(op: ir.Operation, one: Places, other: Places) -> Places:
    words = {"LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal, "EQ": np.equal}
    direction = str(op.attributes["comparison_direction"]).rstrip(">").split()[-1]
    return words.get(direction, np.not_equal)(one, other).astype(np.int64)


_RULES: dict[str, Callable[..., Places]] = {
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.reshape": lambda op, given: given.reshape(list(op.results[0].type.shape)),
    "stablehlo.transpose": lambda op, given: np.transpose(given, _numbers(op, "permutation")),
    "stablehlo.reverse": lambda op, given: np.flip(given, tuple(_numbers(op, "dimensions"))),
    "tensor.concat": lambda op, *given: np.concatenate(given, axis=ir.IntegerAttr(op.attributes["dim"]).value),
    "stablehlo.convert": lambda op, given: given,
    "stablehlo.add": lambda op, one, other: one + other,
    "stablehlo.subtract": lambda op, one, other: one - other,
    "stablehlo.multiply": lambda op, one, other: one * other,
    "stablehlo.select": lambda op, which, one, other: np.where(which != 0, one, other),
    "stablehlo.compare": _compared,
}
