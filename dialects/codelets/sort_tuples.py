"""Sorting of rows of tuples, two by two: the step of a sort that goes over many tiles."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import CodeletCall, LibraryCodelet, Shapes
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import (
    Size,
    ceil_log2,
    choose,
    per_worker,
    product_over,
    smaller,
)
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.support.element_types import element_type

Array = np.ndarray[Any, Any]

RANK_OF_TUPLES = 6
"""Dimensions: blocks, directions, pairs in a block, the rows of a pair, pairs side by side, the elements of a row."""


def _sort_one_vertex(places: tuple[tuple[Array, ...], ...], *operands: Array) -> tuple[Array, ...]:
    """Sort the tuples of each pair: the definition. A vertex learns from its places which way its pairs go."""
    results = [operand.copy() for operand in operands]
    directions = places[0][1]
    blocks, ways, pairs, height, beside, width = operands[0].shape
    for a, d, b, j in np.ndindex(blocks, ways, pairs, beside):
        rows = [operand[a, d, b, :, j, :].ravel() for operand in operands]
        tuples = list(zip(*(row.tolist() for row in rows), strict=True))
        order = sorted(range(height * width), key=tuples.__getitem__)
        for result, row in zip(results, rows, strict=True):
            ordered = row[order].reshape(height, width)
            result[a, d, b, :, j, :] = ordered[::-1] if directions[d] % 2 else ordered
    return tuple(results)


def _sort_all(*operands: Array) -> tuple[Array, ...]:
    blocks, ways, pairs, height, beside, width = operands[0].shape
    rows = [np.moveaxis(operand, 3, 4).reshape(blocks, ways, pairs, beside, height * width) for operand in operands]
    order = _order(rows)
    order += height * width * np.arange(blocks * ways * pairs * beside).reshape(*order.shape[:-1], 1)
    results = []
    for row in rows:
        ordered = np.take(row.reshape(-1), order).reshape(blocks, ways, pairs, beside, height, width)
        ordered[:, 1:] = ordered[:, 1:, :, :, ::-1]
        results.append(np.ascontiguousarray(np.moveaxis(ordered, 4, 3)))
    return tuple(results)


def _order(rows: list[Array]) -> Array:
    """The order of the tuples along the last dimension.

    Two integers of 32 bits are sorted as one, if no third one decides between tuples. If the second ones are in order,
    their places stand for them: no two tie, so that NumPy may use its fastest sort. The stable one finds runs that are
    in order already, and merges them.
    """
    first, *others = rows
    if others and first.dtype.itemsize <= 4 and others[0].dtype == np.int32:
        both = first.astype(np.int64) << 32
        if _is_in_order(*others):
            both |= np.arange(first.shape[-1])
            both.sort(-1)
            both &= 0xFFFFFFFF
            return both
        rest = others[1:]
        if not rest or rest[0].dtype.kind == "f" or _is_in_order(*rest):
            both |= others[0].astype(np.int64) + (1 << 31)
            return np.argsort(both, -1, "stable")
    return np.lexsort(rows[::-1], -1) if others else np.argsort(first, -1, "stable")


def _is_in_order(second: Array, *others: Array) -> bool:
    """True if ``second`` ascends along the last dimension; where it stands still, as in padding, so do all others."""
    before, after = second[..., :-1], second[..., 1:]
    if (after < before).any():
        return False
    ties = after == before
    return not ties.any() or all((each[..., 1:] == each[..., :-1])[ties].all() for each in others)


def sort_tuples_cycles(pairs: Size, height: Size, width: Size, operands: int, machine: Machine) -> Size:
    """Sorts of ``pairs`` of rows. Source: assumed: of an element and level 10 cycles for the first operand, 2 for each
    other one, which is moved, as in ``sort_cycles``.

    One row is sorted by one worker. Two rows, which are sorted already, are merged: by a worker for each pair, or each
    pair by all workers, which find by bisection where their shares begin, whichever is faster.
    """
    each = 10 + 2 * (operands - 1)
    elements = height * width
    levels = choose(height > 1, 1, ceil_log2(width))
    by_pair = per_worker(pairs, machine) * (20 + elements * levels * each)
    shared = pairs * (20 + 10 * ceil_log2(width) + per_worker(elements, machine) * each)
    return 11 + machine.workers * (26 + choose(height > 1, smaller(by_pair, shared), by_pair))


def _cycles(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
    *kept, height, width = _sizes(call, sizes)
    return sort_tuples_cycles(kept[0], height, width, len(call.dtypes) // 2, machine)


def _sizes(call: CodeletCall, sizes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Pairs of a vertex, rows of a pair, elements of a row."""
    height, width = call.loops[0][3:6:2]
    return product_over(sizes, call.kept), product_over(sizes, (height,)), product_over(sizes, (width,))


def _scratch_bytes(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
    """One row more for every row that is sorted; what is merged goes straight to where it belongs."""
    pairs, height, width = _sizes(call, sizes)
    tuple_bytes = sum(element_type(dtype).bytes for dtype in call.dtypes[: len(call.dtypes) // 2])
    return choose(height > 1, 0, smaller(machine.workers, pairs) * width * tuple_bytes)


def _takes(inputs: Shapes, outputs: Shapes) -> bool:
    if inputs != outputs or len({*inputs}) != 1 or len(inputs[0]) != RANK_OF_TUPLES:
        return False
    return inputs[0][1] <= 2 and inputs[0][3] <= 2


SORT_TUPLES = LibraryCodelet(
    name="sort_tuples",
    per_tile=_sort_one_vertex,
    vectorised=_sort_all,
    cycles=_cycles,
    scratch_bytes=_scratch_bytes,
    code_bytes=768,
    knows_places=True,
    rounds=False,
    needs="tensors of one shape of six dimensions, the second and the fourth of at most 2, and results of that shape",
    takes=_takes,
    source=(
        "numpy.lexsort of the first operand, then the second, and so on, where no two tuples tie in what comes before "
        "the first float; of the second direction the row with the larger ones comes first"
    ),
)
"""A pair is a row, or two rows that are sorted already: the smaller half of both goes to the first one. Rows ascend."""
