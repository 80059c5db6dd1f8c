"""Vertices that run a library codelet instead of the body of their op."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.per_tile.memory.holdings import Box
from ipu_mlir.runtime.per_tile.memory.tile_memories import View
from ipu_mlir.runtime.per_tile.scalar.element_types import narrow_float
from ipu_mlir.runtime.per_tile.scalar.narrow_floats import round_to
from ipu_mlir.runtime.per_tile.vertices.family import Bound, Family, Operand
from ipu_mlir.runtime.per_tile.vertices.loop_space import LoopSpace

Array = np.ndarray[Any, Any]


def run_codelet(
    family: Family,
    bound: Bound,
    box: Box,
    read: Callable[[View, Array], Array],
    write: Callable[[View, Array, Array], None],
) -> None:
    """Give the codelet the vertex's box of every input and updated output, and write what it returns to the outputs.

    ``read`` and ``write`` access elements of a view on the vertex's tile.

    Raises:
        RunError: the codelet returns arrays of other shapes or types than the outputs.
    """
    assert family.library_call is not None, "only for an op that names its codelet"
    space = LoopSpace(box, family.is_reduction)
    places = {operand.number: _places(operand, bound, space, family) for operand in family.operands}
    taken = [*family.inputs, *(operand for operand in family.outputs if operand.is_read)]
    arrays = []
    for operand in taken:
        value = bound.operands[operand.number]
        is_view = isinstance(value, View)
        arrays.append(read(value, _box(value, places[operand.number])) if is_view else np.asarray(value))
    wide = [array.astype(_computed(array.dtype), copy=False) for array in arrays]
    codelet = codelet_named(family.library_call)
    every = (*family.inputs, *family.outputs)
    own = [[places[operand.number] for operand in every]] if codelet.knows_places else []
    results = codelet.per_tile(*own, *wide)
    views = {operand.number: bound.operands[operand.number] for operand in family.outputs}
    outputs = [(view, _box(view, places[number])) for number, view in views.items()]
    expected = [(elements.shape, _computed(view.allocation.dtype)) for view, elements in outputs]
    if [(x.shape, x.dtype) for x in results] != expected:
        raise RunError(
            f"{place_of(family.location)}: codelet '{family.library_call}' gives "
            f"{[(x.shape, str(x.dtype)) for x in results]}, "
            f"but its outputs are {[(shape, str(dtype)) for shape, dtype in expected]}"
        )
    for (view, elements), values in zip(outputs, results, strict=True):
        name = narrow_float(view.allocation.buffer.value.type)
        write(view, elements, round_to(name, values) if name else values.astype(view.allocation.dtype, copy=False))


def _computed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type that codelets compute in: a sum of f16 is rounded when it is complete, as sums of bf16 are."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def _places(operand: Operand, bound: Bound, space: LoopSpace, family: Family) -> list[Array]:
    """The indices that the vertex has in each dimension of the operand; a scalar has no dimensions."""
    view = bound.operands[operand.number]
    if not isinstance(view, View):
        return []
    return [np.unique(index) for index in operand.dimension_indices(view, space, family.location)]


def _box(view: View, places: list[Array]) -> Array:
    """The elements at all ``places``, in the dimensions of the operand."""
    elements = np.full((), view.offset, np.int64)
    for index, stride in zip(places, view.strides, strict=True):
        elements = np.add.outer(elements, index * stride)
    return elements
