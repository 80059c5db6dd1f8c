"""Layer norm, then softmax, along rows."""

from typing import Any

from benchmarks.workload import Array, Workload
from benchmarks.workloads.arrays import Numbers
from benchmarks.workloads.norm import norm_in_place, norm_jax, softmax_in_place, softmax_jax

COLUMNS = 1024


def make_inputs(rows: int) -> list[Array]:
    """A matrix, and gain and shift of its columns."""
    numbers = Numbers()
    return [numbers.normal(rows, COLUMNS), numbers.near_one(COLUMNS), numbers.near_zero(COLUMNS)]


def numpy_form(x: Array, gain: Array, shift: Array) -> tuple[Array, ...]:
    """By hand."""
    return (softmax_in_place(norm_in_place(x.copy(), gain, shift)),)


def jax_form(x: Any, gain: Any, shift: Any) -> tuple[Any, ...]:
    """In JAX."""
    return (softmax_jax(norm_jax(x, gain, shift)),)


WORKLOAD = Workload("norm_softmax", "norm_softmax", {"rows": 4096}, {"rows": 16}, make_inputs, numpy_form, jax_form)
