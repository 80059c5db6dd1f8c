"""A real program: as one writes it in JAX, the same in PyTorch, and what goes in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.workload import Array


@dataclass(frozen=True)
class Case:
    """A program of one size.

    Attributes:
        inputs: makes the arguments for given sizes, the same ones each time.
        jax_form: takes arrays of JAX; the program that is compiled, too.
        torch_form: takes tensors; None where a user of PyTorch would have no other way than a loop of Python.
        sizes, smoke: of the program, and reduced ones, to see that everything works.
        tolerance: of the results beside JAX's, relative to the largest value.
    """

    name: str
    inputs: Callable[..., list[Array]]
    jax_form: Callable[..., Any]
    torch_form: Callable[..., Any] | None
    sizes: Mapping[str, int]
    smoke: Mapping[str, int]
    tolerance: float = field(default=1e-3, kw_only=True)
