"""Vertices that run a library codelet instead of the body of their op."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.errors import RunError
from ipu_mlir.runtime.per_tile.errors import place_of
from ipu_mlir.runtime.per_tile.family import Family, Operand
from ipu_mlir.runtime.per_tile.loop_space import LoopSpace
from ipu_mlir.runtime.per_tile.memory import View

Array = np.ndarray[Any, Any]


def run_codelet(
    name: str,
    family: Family,
    space: LoopSpace,
    read: Callable[[View, Array], Array],
    write: Callable[[View, Array, Array], None],
) -> None:
    """Give the codelet the vertex's box of every input, and write what it returns to the box of every output.

    ``read`` and ``write`` access elements of a view on the vertex's tile.

    Raises:
        RunError: the codelet returns arrays of other shapes or types than the outputs.
    """
    boxes = [_box(operand, space, family) for operand in family.operands]
    inputs = [
        read(operand.value, elements)
        for operand, elements in zip(family.operands, boxes, strict=True)
        if not operand.is_output
    ]
    results = codelet_named(name).per_tile(*inputs)
    outputs = [
        (operand, elements) for operand, elements in zip(family.operands, boxes, strict=True) if operand.is_output
    ]
    expected = [(elements.shape, operand.value.allocation.dtype) for operand, elements in outputs]
    if [(x.shape, x.dtype) for x in results] != expected:
        raise RunError(
            f"{place_of(family.location)}: codelet '{name}' gives {[(x.shape, str(x.dtype)) for x in results]}, "
            f"but its outputs are {[(shape, str(dtype)) for shape, dtype in expected]}"
        )
    for (operand, elements), values in zip(outputs, results, strict=True):
        write(operand.value, elements, values)


def _box(operand: Operand, space: LoopSpace, family: Family) -> Array:
    """The elements of all indices that the vertex has in each dimension, in the dimensions of the operand."""
    elements = np.full((), operand.value.offset, np.int64)
    indices = operand.dimension_indices(space, family.location)
    for index, stride in zip(indices, operand.value.strides, strict=True):
        elements = np.add.outer(elements, np.unique(index) * stride)
    return elements
