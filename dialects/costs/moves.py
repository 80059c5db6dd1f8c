"""Cycles of vertices that move elements: fills, copies, slices and gathers."""

from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, choose, double_words, per_worker, smaller
from ipu_mlir.dialects.support.element_types import element_type


def fill_worker_cycles(n: Size, dtype: str) -> Size:
    """One worker sets ``n`` elements. Source: hardware.md 4.1."""
    size = element_type(dtype).bytes
    if size == 1:
        return choose(n < 64, 28 + n // 4, 39 + n // 8)
    if size == 2:
        return choose(n == 1, 15, choose(n == 2, 21, 26 + n // 4))
    words = double_words(n, dtype) if size == 8 else n // 2 + n % 2
    return 23 + words


def fill_cycles(n: Size, dtype: str, machine: Machine) -> Size:
    """``n`` elements set by the workers of a tile together. Source: one worker as above; that they share is assumed."""
    return machine.workers * fill_worker_cycles(per_worker(n, machine), dtype)


def copy_cycles(n: Size, dtype: str, machine: Machine) -> Size:
    """A copy on the tile. Source: hardware.md 4.5, assumed: 8 bytes in 2 cycles, and the start of a unary vertex."""
    return 20 + machine.workers * (17 + 2 * double_words(per_worker(n, machine), dtype))


def pieces_copy_cycles(pieces: Size, piece_bytes: int, machine: Machine) -> Size:
    """A copy on the tile of ``pieces`` that lie apart, each of so many bytes. Source: as of ``copy_cycles``, assumed.

    It is a lower end: a profile of a vision transformer has 126,283 cycles where 368 pieces of 32 bytes are turned on
    each tile (README of osmarks/ipu-stack, "SDK ONNX profile analysis", 2026), forty times as many.
    """
    return machine.start_cycles + 20 + machine.workers * (17 + 2 * per_worker(pieces * -(-piece_bytes // 8), machine))


def transpose_cycles(n: Size, dtype: str, machine: Machine) -> Size:
    """A copy that reorders elements. Source: hardware.md 4.5, assumed: 3 cycles per 8 bytes."""
    return 20 + machine.workers * (17 + 3 * double_words(per_worker(n, machine), dtype))


def multi_slice_cycles(slices: Size, n: Size, dtype: str, machine: Machine) -> Size:
    """``MultiSlice``: rows of ``n`` elements, taken where indices say. Source: hardware.md 4.5.

    The workers share the rows, or each takes its share of every row, whichever is faster.
    """

    def shared(rows: Size, elements: Size) -> Size:
        return machine.workers * (30 + rows * (19 + 2 * double_words(elements, dtype)))

    return smaller(shared(per_worker(slices, machine), n), shared(slices, per_worker(n, machine)))
