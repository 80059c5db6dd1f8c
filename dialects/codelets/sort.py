"""Sorting along the last dimension."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import CodeletCall, LibraryCodelet
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, ceil_log2, per_worker, product_over, smaller
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.support.element_types import element_type


def _sort_one_vertex(values: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], ...]:
    """Insertion sort of every row of one vertex, NaN last: the definition that the fast form is held to."""
    rows = values.reshape(-1, values.shape[-1]).copy()
    for row in rows:
        for i in range(1, len(row)):
            value, j = row[i], i
            while j > 0 and (row[j - 1] > value or (row[j - 1] != row[j - 1] and value == value)):
                row[j] = row[j - 1]
                j -= 1
            row[j] = value
    return (rows.reshape(values.shape),)


def _sort_all(values: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], ...]:
    return (np.sort(values, axis=-1, kind="stable"),)


def sort_cycles(rows: Size, n: Size, machine: Machine, keys: Size = 1) -> Size:
    """Sorts of ``rows`` of ``n`` elements by ``keys`` keys. Source: assumed: a merge sort of 10 cycles per element,
    level and key.

    A worker sorts a row, and the rows are shared; or all workers sort a row, each a share of it, and merge the shares,
    for which they find by bisection where their part of the result begins: whichever is faster.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> [int(sort_cycles(rows, 1000, IPU2)) for rows in (1, 6)]
    [102167, 600167]
    """
    each = ceil_log2(n) * 10 * keys
    by_row = per_worker(rows, machine) * n * each
    shared = rows * (per_worker(n, machine) * each + ceil_log2(machine.workers) * each)
    return 11 + machine.workers * (26 + smaller(by_row, shared))


def _scratch_bytes(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
    """A copy of every row that a worker has in hand."""
    in_hand = smaller(machine.workers, product_over(sizes, call.kept))
    return in_hand * product_over(sizes, call.reduced) * element_type(call.dtypes[0]).bytes


SORT = LibraryCodelet(
    name="sort",
    per_tile=_sort_one_vertex,
    vectorised=_sort_all,
    cycles=lambda call, sizes, machine: sort_cycles(
        product_over(sizes, call.kept), product_over(sizes, call.reduced), machine
    ),
    scratch_bytes=_scratch_bytes,
    code_bytes=512,
    needs="one operand and a result of its shape, of at least one dimension",
    takes=lambda inputs, outputs: len(inputs) == len(outputs) == 1 and inputs == outputs and len(inputs[0]) > 0,
    source="ascending and stable, NaN last, as numpy.sort",
    rounds=False,
)
