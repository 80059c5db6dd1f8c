"""Cycles of reductions within a tile.

Source: hardware.md 4.2, read in the cycle estimators of PopLibs. How the workers of a tile share one reduction is
assumed: they share the results, or each takes a share of the elements of every result and one joins their partial
results, whichever is faster. Operands are assumed to lie in memory that is not interleaved: 64 bits per load.
"""

from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, ceil_div, per_worker, smaller
from ipu_mlir.dialects.support.element_types import element_type


def strided_cycles(
    results: Size, partials: Size, dtype: str, to_dtype: str, machine: Machine, strides: Size = 1
) -> Size:
    """Worker cycles of ``results`` neighbours, each over ``strides`` runs of ``partials`` that lie apart."""
    vectors = ceil_div(results, machine.vector_width(dtype))
    return 16 + vectors * (3 + _post_cycles(dtype, to_dtype) + strides * (3 + (partials - 1)))


def continuous_cycles(results: Size, n: Size, dtype: str, machine: Machine) -> Size:
    """Worker cycles of ``results``, each over ``n`` elements that lie in a row."""
    width = machine.vector_width(dtype)
    odd = 2 * (n % width != 0)
    return 17 + results * (12 + n // width + odd)


def sum_of_rows_cycles(results: Size, rows: Size, dtype: str, to_dtype: str, machine: Machine) -> Size:
    """``ReduceAdd`` of PopLibs: ``results`` neighbours, each of them a sum over ``rows`` that lie one after another.

    The workers share blocks of as many results as there are accumulators. PopLibs takes it for partial results of
    products and convolutions; that other sums of rows take it, too, is assumed.
    """
    at_once = 2 * machine.vector_width(dtype)
    before = 8 if element_type(dtype).unit == "f32" else 10
    each = 2 * rows + before - element_type(to_dtype).is_narrow
    return 33 + machine.workers * (20 + per_worker(ceil_div(results, at_once), machine) * each)


def reduction_cycles(
    results: Size, n: Size, dtype: str, to_dtype: str, continuous: bool, machine: Machine, strides: Size = 1
) -> Size:
    """One vertex that reduces ``strides`` runs of ``n`` elements to each of ``results``.

    Args:
        continuous: the elements of one result lie in a row; otherwise neighbouring results do.
    """

    def worker(outputs: Size, runs: Size) -> Size:
        if continuous:
            return continuous_cycles(outputs, n * runs, dtype, machine)
        return strided_cycles(outputs, n, dtype, to_dtype, machine, runs)

    def share_of_elements() -> Size:
        share = per_worker(n * strides, machine)
        first = (
            continuous_cycles(results, share, dtype, machine)
            if continuous
            else strided_cycles(results, share, dtype, to_dtype, machine)
        )
        join = strided_cycles(results, machine.workers, to_dtype, to_dtype, machine)
        return machine.workers * (first + join)

    return smaller(machine.workers * worker(per_worker(results, machine), strides), share_of_elements())


def _post_cycles(dtype: str, to_dtype: str) -> int:
    """Cycles to store a result after its elements are summed."""
    if element_type(dtype).is_narrow:
        return 8 if element_type(to_dtype).is_narrow else 7
    return 5
