"""What is measured: a program as MLIR text, and the same by hand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.element_types import with_floats
from benchmarks.sizes import resize

Array = np.ndarray[Any, Any]
PROGRAMS = Path(__file__).parent / "workloads"


@dataclass(frozen=True)
class Workload:
    """A program of one size, and what stands beside it.

    Attributes:
        program: the file in ``benchmarks/workloads`` that holds it, without its ending.
        sizes: of the program; ``smoke_sizes``: reduced ones, to see that everything works.
        make_inputs: the arguments for given sizes, the same ones each time.
        numpy_form: the program as one writes it by hand in NumPy: products by BLAS, everything else in place.
        jax_form: the program in JAX; it may import jax, which need not be there.
        element_type: MLIR's name of the floats; the program is written for f32.
        tolerance: of the results, relative to each value and to the largest value.
    """

    name: str
    program: str
    sizes: Mapping[str, int]
    smoke_sizes: Mapping[str, int]
    make_inputs: Callable[..., list[Array]]
    numpy_form: Callable[..., tuple[Array, ...]]
    jax_form: Callable[..., tuple[Any, ...]]
    element_type: str = "f32"
    tolerance: float = 2e-4

    def mlir(self) -> str:
        """The program as MLIR text."""
        text = resize((PROGRAMS / f"{self.program}.mlir").read_text(), self.sizes)
        return with_floats(text, self.element_type)

    def inputs(self) -> list[Array]:
        """The arguments."""
        return self.make_inputs(**self.sizes)

    def smoke(self) -> "Workload":
        """The same in its reduced sizes."""
        return replace(self, sizes=self.smoke_sizes)

    def is_right(self, results: list[Array], expected: list[Array]) -> bool:
        """Whether ``results`` are ``expected``, within the tolerance."""
        return len(results) == len(expected) and all(
            got.shape == want.shape
            and np.allclose(got, want, rtol=self.tolerance, atol=self.tolerance * float(np.abs(want).max()))
            for got, want in zip(results, expected, strict=True)
        )
