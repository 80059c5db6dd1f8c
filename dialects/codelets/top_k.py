"""The places of the largest elements of a row, in order."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import CodeletCall, LibraryCodelet
from ipu_mlir.dialects.codelets.signature import Signature
from ipu_mlir.dialects.codelets.sort import sort_cycles
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, ceil_div, ceil_log2, per_worker, product_over, smaller
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.support.element_types import element_type

Array = np.ndarray[Any, Any]


def _top_of_one_vertex(places_of: tuple[tuple[Array, ...], ...], keys: Array) -> tuple[Array, ...]:
    """Choose the first of the largest that are left, again and again: the definition.

    A vertex learns from the places of its result how many are asked for.
    """
    count, rows = len(places_of[-1][-1]), keys.reshape(-1, keys.shape[-1])
    found = np.empty((len(rows), count), np.int32)
    for row, places in zip(rows, found, strict=True):
        left = list(range(len(row)))
        for number in range(count):
            places[number] = max(left, key=lambda place: (int(row[place]), -place))
            left.remove(int(places[number]))
    return (found.reshape(*keys.shape[:-1], count),)


def _top_of_all(keys: Array, out: Array) -> tuple[Array, ...]:
    """By a partition, where a key and its place fit in one integer: what is smallest then is the first of the largest.

    For 64 x 10,000 numbers that takes 3 ms, a stable sort 20.
    """
    count = out.shape[-1]
    if keys.dtype.itemsize > 4:
        np.copyto(out, np.argsort(~keys, -1, "stable")[..., :count])
        return (out,)
    both = np.invert(keys, dtype=np.int64) << 32
    both |= np.arange(keys.shape[-1])
    if count < keys.shape[-1]:
        both = np.partition(both, count - 1, -1)[..., :count]
    both.sort(-1)
    np.copyto(out, both & 0xFFFFFFFF, "unsafe")
    return (out,)


def top_k_cycles(rows: Size, n: Size, k: Size, dtype: str, machine: Machine) -> Size:
    """The places of the ``k`` largest of ``n`` in each of ``rows``. Source: assumed.

    An element is loaded, and compared with the least one that was kept; ``k`` for each time that ``n`` can be halved
    down to it take a place in a heap, of ten cycles a level. The workers share the rows; or each takes its share of
    every row, and one puts together what they keep; or a row is sorted, as in ``sort_cycles``: whichever is faster.
    """
    each, level = 3 + element_type(dtype).slowdown, 10 * (1 + ceil_log2(k))

    def of_row(elements: Size) -> Size:
        return elements * each + k * (1 + ceil_log2(ceil_div(elements, k))) * level

    by_row = per_worker(rows, machine) * of_row(n)
    shared = rows * (of_row(per_worker(n, machine)) + of_row(machine.workers * k))
    kept = 11 + machine.workers * (26 + smaller(by_row, 26 + shared))
    return smaller(kept, sort_cycles(rows, n, machine))


def _cycles(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
    rows, n, k = _sizes(sizes)
    return top_k_cycles(rows, n, k, call.dtypes[0], machine)


def _sizes(sizes: IntArray) -> tuple[Size, Size, Size]:
    """Rows of a vertex, elements of a row, and how many of them are found: the last two loops."""
    return product_over(sizes, range(sizes.shape[-1] - 2)), sizes[..., -2], sizes[..., -1]


def _scratch_bytes(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
    """The keys and the places that each worker keeps."""
    _, _, k = _sizes(sizes)
    return machine.workers * k * (element_type(call.dtypes[0]).bytes + 4)


TOP_K = LibraryCodelet(
    name="top_k",
    per_tile=_top_of_one_vertex,
    vectorised=_top_of_all,
    fills_outputs=True,
    knows_places=True,
    cycles=_cycles,
    code_bytes=384,
    scratch_bytes=_scratch_bytes,
    rounds=False,
    source="the first elements of numpy.argsort(~keys, kind='stable')",
    needs="stacks of [n] integers, and a result of [k] i32, which are no more",
    takes=(_SIGNATURE := Signature.parse("n -> k", related=lambda sizes: 0 < sizes["k"] <= sizes["n"])).takes,
    takes_types=lambda inputs, outputs: inputs[0] in ("i8", "i16", "i32", "i64") and outputs == ("i32",),
    signature=_SIGNATURE,
)
"""Signed integers; of equal ones the first counts as larger."""
