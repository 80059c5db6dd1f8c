"""The update of one slice of a tensor, at a place that is known only when the program runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import CodeletCall, LibraryCodelet, Shapes
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, double_words, per_worker, smaller
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.support.element_types import element_type

Array = np.ndarray[Any, Any]


def _update_one_vertex(places: Sequence[Sequence[Array]], *operands: Array) -> tuple[Array, ...]:
    """Put what lies at the vertex's own elements there: the definition.

    Operands: an offset per dimension; the slice, or one number; the elements of the vertex. Of a dimension that the
    slice has whole, from 0 on, a vertex may have as much of the slice as of its elements.
    """
    *offsets, update, elements = operands
    elements = elements.copy()
    in_slice = places[-2] or [np.zeros(1, np.int64)] * elements.ndim
    here, there = [], []
    for offset, of_slice, own in zip(offsets, in_slice, places[-1], strict=True):
        _, mine, given = np.intersect1d(own - offset, of_slice, assume_unique=True, return_indices=True)
        here.append(mine)
        there.append(given)
    elements[np.ix_(*here)] = update.reshape([len(each) for each in in_slice])[np.ix_(*there)]
    return (elements,)


def dynamic_slice_cycles(slices: Size, region: Size, dtype: str, machine: Machine) -> Size:
    """``DynamicSlice1D``: ``slices`` regions of ``region`` elements. Source: hardware.md 4.5."""
    words = double_words(per_worker(region, machine), dtype)
    if element_type(dtype).bytes == 1:
        return 25 + machine.workers * (76 + (72 + 2 * words) * slices)
    return 25 + machine.workers * (39 + (24 + 2 * words) * slices)


def _cycles(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
    """As ``DynamicSlice1D``, which is assumed to take as long; of the vertex that has most of the slice."""
    slices, region = _slices_and_region(call, sizes)
    return dynamic_slice_cycles(slices, region, call.dtypes[-1], machine)


def _alone(call: CodeletCall, sizes: IntArray) -> Size:
    """A multiplication and a sum for each offset, and a loop that loads and stores words; assumed."""
    slices, region = _slices_and_region(call, sizes)
    return 2 * len(call.kept) + slices * (2 + 2 * double_words(region, call.dtypes[-1]))


def _slices_and_region(call: CodeletCall, sizes: IntArray) -> tuple[Size, Size]:
    """The regions of neighbouring elements that one vertex updates, and the elements of each.

    A region runs from the innermost dimension to the first in which the slice is a part.
    """
    slices: Size = 1
    region: Size = 1
    is_region = True
    for dimension in reversed(range(len(call.kept))):
        loop = call.kept[dimension]
        is_whole = loop in call.loops[-2]
        here = sizes[..., loop]
        if not is_whole:
            here = smaller(here, call.shapes[-2][dimension] if call.shapes[-2] else 1)
        slices, region = (slices, region * here) if is_region else (slices * here, region)
        is_region = is_region and is_whole
    return slices, region


def _takes(inputs: Shapes, outputs: Shapes) -> bool:
    if len(outputs) != 1 or len(inputs) != len(outputs[0]) + 1:
        return False
    *offsets, update = inputs
    fits = len(update) == len(outputs[0]) and all(n <= extent for n, extent in zip(update, outputs[0], strict=True))
    return len(outputs[0]) > 0 and not any(offsets) and (update == () or fits)


UPDATE_SLICE = LibraryCodelet(
    name="update_slice",
    per_tile=_update_one_vertex,
    vectorised=None,
    cycles=_cycles,
    code_bytes=192,
    knows_places=True,
    rounds=False,
    alone=_alone,
    needs="per dimension of its result an offset, and a slice of as many dimensions or one number",
    takes=_takes,
    source="tensor.insert_slice with steps of 1",
)
