"""Cycles of vertices that go over elements: fills, copies, slices, gathers, scatters, sorts, ranks, scans."""

from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.sizes import Size, ceil_div, ceil_log2, choose, per_worker, smaller
from ipu_mlir.dialects.support.element_types import element_type

_WORD = 8  # bytes that one instruction moves
_LOGADDEXP_CYCLES = 36


def _words(n: Size, dtype: str) -> Size:
    return ceil_div(n * element_type(dtype).bytes, _WORD)


def fill_worker_cycles(n: Size, dtype: str) -> Size:
    """One worker sets ``n`` elements. Source: hardware.md 4.1."""
    size = element_type(dtype).bytes
    if size == 1:
        return choose(n < 64, 28 + n // 4, 39 + n // 8)
    if size == 2:
        return choose(n == 1, 15, choose(n == 2, 21, 26 + n // 4))
    words = _words(n, dtype) if size == 8 else n // 2 + n % 2
    return 23 + words


def fill_cycles(n: Size, dtype: str, machine: Machine) -> Size:
    """``n`` elements set by the workers of a tile together. Source: one worker as above; that they share is assumed."""
    return machine.workers * fill_worker_cycles(per_worker(n, machine), dtype)


def copy_cycles(n: Size, dtype: str, machine: Machine) -> Size:
    """A copy on the tile. Source: hardware.md 4.5, assumed: 8 bytes in 2 cycles, and the start of a unary vertex."""
    return 20 + machine.workers * (17 + 2 * _words(per_worker(n, machine), dtype))


def transpose_cycles(n: Size, dtype: str, machine: Machine) -> Size:
    """A copy that reorders elements. Source: hardware.md 4.5, assumed: 3 cycles per 8 bytes."""
    return 20 + machine.workers * (17 + 3 * _words(per_worker(n, machine), dtype))


def dynamic_slice_cycles(slices: Size, region: Size, dtype: str, machine: Machine) -> Size:
    """``DynamicSlice1D``: ``slices`` regions of ``region`` elements. Source: hardware.md 4.5."""
    words = _words(per_worker(region, machine), dtype)
    if element_type(dtype).bytes == 1:
        return 25 + machine.workers * (76 + (72 + 2 * words) * slices)
    return 25 + machine.workers * (39 + (24 + 2 * words) * slices)


def multi_slice_cycles(slices: Size, n: Size, dtype: str, machine: Machine, elsewhere: Size = 0) -> Size:
    """``MultiSlice``: rows of ``n`` elements, taken where indices say. Source: hardware.md 4.5.

    The workers share the rows, or each takes its share of every row, whichever is faster.

    Args:
        elsewhere: indices that the vertex looks at and that another tile holds.
    """

    def shared(rows: Size, elements: Size, others: Size) -> Size:
        return machine.workers * (30 + rows * (19 + 2 * _words(elements, dtype)) + others * 8)

    by_row = shared(per_worker(slices, machine), n, per_worker(elsewhere, machine))
    return smaller(by_row, shared(slices, per_worker(n, machine), elsewhere))


def multi_update_cycles(updates: Size, n: Size, dtype: str, machine: Machine, elsewhere: Size = 0) -> Size:
    """``MultiUpdate``: rows of ``n`` elements, put where indices say. Source: hardware.md 4.5.

    Each worker takes its share of every row, so that a later update wins.
    """
    words = _words(per_worker(n, machine), dtype)
    return machine.workers * (29 + updates * (19 + 2 * words) + elsewhere * 8)


def multi_update_add_cycles(updates: Size, n: Size, dtype: str, machine: Machine, elsewhere: Size = 0) -> Size:
    """``MultiUpdateAdd``: rows of ``n`` elements, added where indices say. Source: hardware.md 4.5.

    f16 takes two elements at a time. Each worker takes its share of every row.
    """
    atoms = ceil_div(per_worker(n, machine), 2 if element_type(dtype).bytes == 2 else 1)
    return machine.workers * (3 + 29 + updates * (11 + (atoms - 1) * 3) + elsewhere * 5)


def sort_cycles(rows: Size, n: Size, machine: Machine) -> Size:
    """Sorts of ``rows`` of ``n`` elements. Source: assumed: a merge sort of 10 cycles per element and level.

    A worker sorts a row; the rows are shared.
    """
    return 11 + machine.workers * (26 + per_worker(rows, machine) * n * ceil_log2(n) * 10)


def rank_cycles(keys: Size, rows: Size, own: Size, n: Size, dtype: str, machine: Machine) -> Size:
    """Ranks of ``own`` elements among ``n`` in each of ``rows``, by ``keys`` keys. Source: assumed.

    The workers share the own elements and compare each with all: a load, a comparison and an addition per key. Or a
    worker sorts a row as in ``sort_cycles`` and writes the places, the rows are shared: whichever is faster.
    """
    compared = 26 + per_worker(rows * own, machine) * n * keys * (2 + element_type(dtype).slowdown)
    by_sorting = 26 + per_worker(rows, machine) * n * (ceil_log2(n) * 10 * keys + 3)
    return 11 + machine.workers * smaller(compared, by_sorting)


def scan_cycles(combine: str, rows: Size, n: Size, dtype: str, machine: Machine) -> Size:
    """Scans of ``rows`` of ``n`` elements. Source: assumed: a load, the operation and a store per element.

    The workers share the rows, each scanning its own; or each takes its share of every row, which it combines to one
    element (a load and the operation) before it scans it from what the workers before it have: whichever is faster.
    ``logaddexp`` takes what it does in a reduction (hardware.md 4.2).
    """
    operation = _LOGADDEXP_CYCLES if combine == "logaddexp" else element_type(dtype).slowdown
    by_row = 26 + per_worker(rows, machine) * n * (operation + 2)
    shared = 2 * 26 + rows * per_worker(n, machine) * (2 * operation + 3)
    return 11 + machine.workers * smaller(by_row, shared)
