"""Scatter: put elements where indices say, one after the other."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import LibraryCodelet

Array = np.ndarray[Any, Any]


def _scatter_one_vertex(combine: Callable[[Any, Any], Any] | None, *operands: Array) -> tuple[Array, ...]:
    """Updates of one vertex's own elements, in the order of the iterations: the definition.

    Operands: an index array per dimension, the guard, the update (all of one shape); per dimension the positions of
    the vertex's elements in the whole tensor; the elements themselves.
    """
    elements = operands[-1].copy()
    rank = elements.ndim
    *index, guard, update = (operand.ravel() for operand in operands[: rank + 2])
    own = [{int(position): here for here, position in enumerate(operands[rank + 2 + d])} for d in range(rank)]
    for number in np.flatnonzero(guard):
        place = tuple(own[d].get(int(index[d][number]), -1) for d in range(rank))
        if min(place, default=0) >= 0:
            new = update[number]
            elements[place] = new if combine is None else combine(elements[place], new)
    return (elements,)


def _scatter_all(combine: np.ufunc | None, *operands: Array) -> tuple[Array, ...]:
    """All updates at once; ``ufunc.at`` keeps the order of the iterations as well."""
    elements = operands[-1].copy()
    rank = elements.ndim
    *index, guard, update = (operand.ravel() for operand in operands[: rank + 2])
    if not guard.all():
        index, update = [each[guard] for each in index], update[guard]
    place = tuple(index)
    if combine is None:
        elements[place] = update
    else:
        combine.at(elements, place, update)
    return (elements,)


def _codelet(name: str, ufunc: np.ufunc | None) -> LibraryCodelet:
    return LibraryCodelet(
        name=f"scatter_{name}",
        per_tile=partial(_scatter_one_vertex, ufunc),
        vectorised=partial(_scatter_all, ufunc),
        scratch_bytes=lambda shapes, element_bytes: 0,
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
