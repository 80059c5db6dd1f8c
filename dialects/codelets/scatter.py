"""Scatter: put elements where indices say, one after the other."""

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import CodeletCall, LibraryCodelet, Shapes
from ipu_mlir.dialects.codelets.scatter_rows import rows_of, scatter_rows
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, ceil_div, double_words, per_worker, product_over
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.support.element_types import element_type

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
    """All updates at once, in place where the elements are; ``ufunc.at`` keeps the order of the iterations as well.

    Loops call this with few updates per iteration: every call of NumPy in it counts.
    """
    elements = operands[-1]
    shape = elements.shape
    rank = len(shape)
    index, guard, update = operands[:rank], operands[rank], operands[rank + 1]
    if not update.size:
        return (elements,)
    rows = _rows(index, guard, update, shape)
    goes_nowhere = b"\0" in guard.tobytes()  # as guard.all(), in a quarter of the time
    may_miss = index if rows is None else index[:1]
    for each, size in zip(may_miss, shape, strict=False):
        unsigned = each.astype(np.intp, copy=False).view(np.uintp)  # a negative number is a large one
        if each.size and np.maximum.reduce(unsigned, None) >= size:
            guard, goes_nowhere = guard & (unsigned < size), True
    if rows is not None:
        updates = update.reshape(-1, shape[-1])
        if goes_nowhere:
            chosen = _spread(guard, (*update.shape[:-1], 1)).ravel()
            rows, updates = rows[chosen], updates[chosen]
        scatter_rows(combine, elements, rows, updates)
        return (elements,)
    whole = np.broadcast(*index, guard, update).shape
    place, update = tuple([_spread(each, whole) for each in index]), _spread(update, whole)
    if goes_nowhere:
        guard = _spread(guard, whole)
        place, update = tuple(each[guard] for each in place), update[guard]
    if combine is None:
        elements[place] = update
    else:
        combine.at(elements, place, update)
    return (elements,)


def _spread(array: Array, shape: tuple[int, ...]) -> Array:
    """``array`` in ``shape``, which it mostly has: ``broadcast_to`` takes as long as a small scatter."""
    return array if array.shape == shape else np.broadcast_to(array, shape)


def _rows(index: Sequence[Array], guard: Array, update: Array, shape: tuple[int, ...]) -> Array | None:
    """The row of ``elements`` for each row of ``update``, if every update is a whole row; None otherwise."""
    if len(shape) != 2 or update.shape[-1:] != shape[1:]:
        return None
    one_for_each = (*update.shape[:-1], 1)
    if guard.size != 1 and guard.shape != one_for_each:
        return None
    rows, columns = index
    if rows.shape != one_for_each:
        if rows.shape[-1:] != (1,) or np.broadcast(rows, update).shape != update.shape:
            return None
        rows = _spread(rows, one_for_each)  # one row may take many updates, and have one index for all
    return rows_of((rows, columns), shape)


def _takes(inputs: Shapes, outputs: Shapes) -> bool:
    if len(outputs) != 1 or len(inputs) != 2 * len(outputs[0]) + 2:
        return False
    return inputs[len(outputs[0]) + 2 :] == tuple((size,) for size in outputs[0])


def multi_update_cycles(updates: Size, n: Size, dtype: str, machine: Machine, elsewhere: Size = 0) -> Size:
    """``MultiUpdate``: rows of ``n`` elements, put where indices say. Source: hardware.md 4.5.

    Each worker takes its share of every row, so that a later update wins.
    """
    words = double_words(per_worker(n, machine), dtype)
    return machine.workers * (29 + updates * (19 + 2 * words) + elsewhere * 8)


def multi_update_add_cycles(updates: Size, n: Size, dtype: str, machine: Machine, elsewhere: Size = 0) -> Size:
    """``MultiUpdateAdd``: rows of ``n`` elements, added where indices say. Source: hardware.md 4.5.

    f16 takes two elements at a time. Each worker takes its share of every row.
    """
    atoms = ceil_div(per_worker(n, machine), 2 if element_type(dtype).bytes == 2 else 1)
    return machine.workers * (3 + 29 + updates * (11 + (atoms - 1) * 3) + elsewhere * 5)


def _cycles(adds: bool, call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
    """Every vertex looks at all updates, which are assumed to be spread evenly over all elements."""
    update = call.loops[len(call.dtypes) - len(call.kept) - 2]  # before the positions in each dimension
    shared = [loop for loop in call.kept if loop in update]
    by_row = bool(shared) and call.kept[-1] == shared[-1] and len(call.kept) > 1
    row = product_over(sizes, call.kept[-1:]) if by_row else 1
    updates = product_over(sizes, call.reduced) * product_over(sizes, shared[:-1] if by_row else shared)
    places = [loop for loop in call.kept if loop not in shared]
    everywhere = prod(n for loop, n in zip(call.kept, call.shapes[-1], strict=True) if loop in places)
    here = ceil_div(updates * product_over(sizes, places), max(everywhere, 1))
    cycles = multi_update_add_cycles if adds else multi_update_cycles
    return cycles(here, row, call.dtypes[-1], machine, updates - here)


def _codelet(name: str, ufunc: np.ufunc | None) -> LibraryCodelet:
    return LibraryCodelet(
        name=f"scatter_{name}",
        per_tile=partial(_scatter_one_vertex, ufunc),
        vectorised=partial(_scatter_all, ufunc),
        cycles=partial(_cycles, ufunc is not None),
        code_bytes=288,
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
