"""Scatter: put elements where indices say, one after the other."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import LibraryCodelet, Shapes
from ipu_mlir.dialects.codelets.scatter_rows import rows_of, scatter_rows

Array = np.ndarray[Any, Any]


def _scatter_one_vertex(combine: np.ufunc | None, *operands: Array) -> tuple[Array, ...]:
    """Updates of one vertex's own elements, in the order of the iterations: the definition.

    An update whose index lies outside the tensor, a negative one too, goes nowhere.

    Operands: an index array per dimension, the guard, the update (they broadcast to the shape of the update); per
    dimension the positions of the vertex's elements in the whole tensor; the elements themselves.
    """
    elements = operands[-1].copy()
    rank = elements.ndim
    *index, guard, update = (each.ravel() for each in np.broadcast_arrays(*operands[: rank + 2]))
    own = [{int(position): here for here, position in enumerate(operands[rank + 2 + d])} for d in range(rank)]
    for number in np.flatnonzero(guard):
        place = tuple(own[d].get(int(index[d][number]), -1) for d in range(rank))
        if min(place, default=0) >= 0:
            new = update[number]
            elements[place] = new if combine is None else combine(elements[place], new)
    return (elements,)


def _scatter_all(combine: np.ufunc | None, *operands: Array) -> tuple[Array, ...]:
    """All updates at once, in place where the elements are; ``ufunc.at`` keeps the order of the iterations as well."""
    elements = operands[-1]
    rank = elements.ndim
    index, guard, update = operands[:rank], operands[rank], operands[rank + 1]
    rows = _rows(index, update, elements.shape) if guard.size == 1 and guard.all() else None
    if rows is not None:
        updates = update.reshape(-1, elements.shape[-1])
        if not _all_inside(rows, elements.shape[0]):
            inside = (rows >= 0) & (rows < elements.shape[0])
            rows, updates = rows[inside], updates[inside]
        scatter_rows(combine, elements, rows, updates)
        return (elements,)
    for each, size in zip(index, elements.shape, strict=True):
        if not _all_inside(each, size):
            guard = guard & (each >= 0) & (each < size)
    *index, guard, update = np.broadcast_arrays(*index, guard, update)
    chosen = slice(None) if guard.all() else guard
    place = tuple(each[chosen] for each in index)
    if combine is None:
        elements[place] = update[chosen]
    else:
        combine.at(elements, place, update[chosen])
    return (elements,)


def _all_inside(index: Array, size: int) -> bool:
    """Whether ``index`` is a number below ``size`` everywhere; two quick passes over it, and no array."""
    return not index.size or bool(index.min() >= 0 and index.max() < size)


def _rows(index: Sequence[Array], update: Array, shape: tuple[int, ...]) -> Array | None:
    """The row of ``elements`` for each row of ``update``, if every update is a whole row; None otherwise."""
    if len(shape) != 2 or update.shape[-1] != shape[1]:
        return None
    for_each = (*update.shape[:-1], index[0].shape[-1])  # one row may take many updates, and have one index for all
    return rows_of((np.broadcast_to(index[0], for_each), index[1]), shape)


def _takes(inputs: Shapes, outputs: Shapes) -> bool:
    if len(outputs) != 1 or len(inputs) != 2 * len(outputs[0]) + 2:
        return False
    return inputs[len(outputs[0]) + 2 :] == tuple((size,) for size in outputs[0])


def _codelet(name: str, ufunc: np.ufunc | None) -> LibraryCodelet:
    return LibraryCodelet(
        name=f"scatter_{name}",
        per_tile=partial(_scatter_one_vertex, ufunc),
        vectorised=partial(_scatter_all, ufunc),
        scratch_bytes=lambda shapes, element_bytes: 0,
        in_steps=True,
        rounds=ufunc in (np.add, np.multiply),
        needs="per dimension of its result an index, then a guard, an update, and per dimension the positions in it",
        takes=_takes,
        source="loops over tensor.insert, in their order; for equal places the later one wins, or is combined later",
    )


SCATTERS = tuple(
    _codelet(name, ufunc)
    for name, ufunc in (
        ("set", None),
        ("add", np.add),
        ("mul", np.multiply),
        ("max", np.maximum),
        ("min", np.minimum),
    )
)
