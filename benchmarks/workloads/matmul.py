"""One product of two square matrices."""

from typing import Any

from benchmarks.workload import Array, Workload
from benchmarks.workloads.arrays import Numbers


def make_inputs(side: int) -> list[Array]:
    """Two matrices."""
    numbers = Numbers()
    return [numbers.normal(side, side), numbers.normal(side, side)]


def product(a: Any, b: Any) -> tuple[Any, ...]:
    """In NumPy and in JAX."""
    return (a @ b,)


WORKLOAD = Workload("matmul", "matmul", {"side": 2048}, {"side": 64}, make_inputs, product, product)
