"""Scans: running sums, products and extremes along the middle one of three dimensions."""

from functools import partial
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import CodeletCall, LibraryCodelet
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, per_worker, product_over, smaller
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.support.element_types import element_type

Array = np.ndarray[Any, Any]

_LOGADDEXP_CYCLES = 36

_LEAST_PLANE = 512  # elements per step from which a call per step is faster than to go over the columns one by one:
# 1024 steps of planes of 1 x 1024 f32 took 1.3 ms against 21 ms, 1000 of 1 x 64 0.76 ms against 0.25 ms


def _scan_one_vertex(combine: np.ufunc, from_end: bool, values: Array) -> tuple[Array, ...]:
    """Element ``i`` of each column combines the elements up to it in their order: the definition."""
    found = values.copy()
    steps = range(values.shape[1])
    order = list(reversed(steps) if from_end else steps)
    for column in np.ndindex(values.shape[0], values.shape[2]):
        running = values[column[0], order[0], column[1]]
        for step in order[1:]:
            running = combine(running, values[column[0], step, column[1]])
            found[column[0], step, column[1]] = running
    return (found,)


def _scan_all(combine: np.ufunc, from_end: bool, values: Array, out: Array) -> tuple[Array, ...]:
    source, dest = (values[:, ::-1], out[:, ::-1]) if from_end else (values, out)
    if values.shape[2] > 1 and values.shape[0] * values.shape[2] >= _LEAST_PLANE:
        np.copyto(dest[:, 0], source[:, 0])
        for step in range(1, values.shape[1]):
            combine(dest[:, step - 1], source[:, step], dest[:, step])
    else:
        combine.accumulate(source, 1, out.dtype, dest)
    return (out,)


def scan_cycles(combine: np.ufunc, rows: Size, n: Size, dtype: str, machine: Machine) -> Size:
    """Scans of ``rows`` of ``n`` elements. Source: assumed: a load, the operation and a store per element.

    The workers share the rows, each scanning its own; or each takes its share of every row, which it combines to one
    element (a load and the operation) before it scans it from what the workers before it have: whichever is faster.
    ``logaddexp`` takes what it does in a reduction (hardware.md 4.2).
    """
    operation = _LOGADDEXP_CYCLES if combine is np.logaddexp else element_type(dtype).slowdown
    by_row = 26 + per_worker(rows, machine) * n * (operation + 2)
    shared = 2 * 26 + rows * per_worker(n, machine) * (2 * operation + 3)
    return 11 + machine.workers * smaller(by_row, shared)


def _codelet(name: str, combine: np.ufunc, from_end: bool) -> LibraryCodelet:
    def cycles(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
        rows, n = product_over(sizes, call.kept), product_over(sizes, call.reduced)
        return scan_cycles(combine, rows, n, call.dtypes[-1], machine)

    def flops(call: CodeletCall, sizes: IntArray) -> Size:
        return product_over(sizes, (*call.kept, *call.reduced)) * element_type(call.dtypes[-1]).is_float

    return LibraryCodelet(
        name=f"scan_{name}{'_from_end' if from_end else ''}",
        per_tile=partial(_scan_one_vertex, combine, from_end),
        vectorised=partial(_scan_all, combine, from_end),
        fills_outputs=True,
        cycles=cycles,
        flops=flops,
        code_bytes=640 if combine is np.logaddexp else 96,
        rounds=combine not in (np.maximum, np.minimum),
        needs="one operand of three dimensions and a result of its shape",
        takes=lambda inputs, outputs: len(inputs) == len(outputs) == 1 and inputs == outputs and len(inputs[0]) == 3,
        source="inclusive, one element after the other, as numpy.ufunc.accumulate",
    )


SCANS = tuple(
    _codelet(name, combine, from_end)
    for from_end in (False, True)
    for name, combine in (
        ("add", np.add),
        ("mul", np.multiply),
        ("max", np.maximum),
        ("min", np.minimum),
        ("logaddexp", np.logaddexp),
    )
)
"""``scan_add`` and so on: dimensions are outer, scanned, inner. ``scan_add_from_end`` begins with the last element."""
