"""Between host arrays and the tiles: placing arguments and constants, gathering results."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.dialects.support.narrow_floats import ML_DTYPES
from ipu_mlir.runtime.per_tile.memory.tile_memories import TileMemories, View
from ipu_mlir.runtime.per_tile.program.copies import copies_of, read_copies
from ipu_mlir.runtime.per_tile.scalar import narrow_floats
from ipu_mlir.runtime.per_tile.scalar.element_types import narrow_float, poison_of
from ipu_mlir.runtime.per_tile.scalar.errors import LocalityError, UnwrittenError

Array = np.ndarray[Any, Any]


def as_held(array: Array, view: View, name: str) -> Array:
    """The values of a host array as the tiles hold those of ``view``.

    bf16 and f8 come as arrays of ml_dtypes or as bits; integers of the IR have no sign of their own, so unsigned arrays
    of the same width do as well.

    Raises:
        RunError: the array has another type or shape.
    """
    dtype, narrow = view.allocation.dtype, narrow_float(view.allocation.buffer.value.type)
    if array.dtype.kind == "u" and dtype.kind == "i" and array.dtype.itemsize == dtype.itemsize:
        array = array.view(dtype)
    fits = narrow_floats.is_host_array(narrow, array) if narrow else array.dtype == dtype
    if not fits or array.shape != view.shape:
        wanted = f"{ML_DTYPES[narrow]} (or {narrow_floats.bits_dtype(narrow)} bit patterns)" if narrow else dtype
        raise RunError(f"{name} is {array.dtype} {array.shape}, expected {wanted} {view.shape}")
    return narrow_floats.from_host(narrow, array) if narrow else array


def place(array: Array, view: View, memories: TileMemories) -> None:
    """Give every tile that holds elements of the buffer ``view`` their values from ``array``, of the view's shape."""
    flat = np.ascontiguousarray(array).ravel()
    for held in memories.holders(view.allocation):
        held.write(np.arange(held.elements.size), flat[held.elements])


def gather(view: View, memories: TileMemories, strict: bool, location: ir.Location, name: str) -> Array:
    """A fresh array with the values of ``view``, as the tiles hold them; messages call it ``name``.

    Raises:
        LocalityError: no tile holds one of its elements.
        UnwrittenError: a tile holds one that was never written; if not ``strict``, the array has poison there.
        IncoherentError: two tiles hold different values.
    """
    allocation, elements = view.allocation, view.elements()
    copies = copies_of(allocation.buffer)
    values, valid = read_copies(allocation, copies, memories, location)
    if (lost := elements[copies.first[elements] < 0]).size:
        raise LocalityError(f"{place_of(location)}: element {lost.flat[0]} of {allocation.name} lies on no tile")
    written = np.ones(allocation.elements, np.bool_)
    written[copies.elements[~valid]] = False
    if strict and (missing := elements[~written[elements]]).size:
        raise UnwrittenError(
            f"{place_of(location)}: element {missing.flat[0]} of {name} {allocation.name} was never written"
        )
    found = np.where(written[elements], values[copies.first[elements]], poison_of(allocation.dtype))
    return np.asarray(found, allocation.dtype)


def to_host(array: Array, value_type: ir.Type) -> Array:
    """The array that the caller gets for values that a tile holds of a memref of ``value_type``."""
    narrow = narrow_float(value_type)
    return narrow_floats.to_host(narrow, array) if narrow else array
