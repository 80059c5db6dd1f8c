"""Between host arrays and the tiles: placing arguments and constants, gathering results."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.runtime.per_tile.element_types import poison_of
from ipu_mlir.runtime.per_tile.errors import LocalityError, UnwrittenError, place_of
from ipu_mlir.runtime.per_tile.exchange import collect
from ipu_mlir.runtime.per_tile.memory import TileMemories, View

Array = np.ndarray[Any, Any]


def place(array: Array, view: View, memories: TileMemories) -> None:
    """Give every tile that holds elements of the buffer ``view`` their values from ``array``, of the view's shape."""
    flat = np.ascontiguousarray(array).ravel()
    for held in memories.holders(view.allocation):
        held.values[:] = flat[held.elements]
        held.valid[:] = True


def gather(view: View, memories: TileMemories, strict: bool, location: ir.Location) -> Array:
    """A fresh array with the values of ``view``.

    Raises:
        LocalityError: no tile holds one of its elements.
        UnwrittenError: a tile holds one that was never written; if not ``strict``, the array has poison there.
        IncoherentError: two tiles hold different values.
    """
    copies = collect(view.allocation, memories, location)
    elements = view.elements()
    if (lost := elements[copies.owners[elements] < 0]).size:
        raise LocalityError(f"{place_of(location)}: element {lost.flat[0]} of {view.allocation.name} lies on no tile")
    written = np.ones(view.allocation.elements, np.bool_)
    for held in memories.holders(view.allocation):
        written[held.elements] &= held.valid
    if strict and (missing := elements[~written[elements]]).size:
        raise UnwrittenError(
            f"{place_of(location)}: element {missing.flat[0]} of the result {view.allocation.name} was never written"
        )
    found: Array = np.where(written, copies.values, poison_of(view.allocation.dtype))[elements]
    return np.asarray(found, view.allocation.dtype)
