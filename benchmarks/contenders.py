"""What can run a workload: each contender imports what it needs, compiles, and then runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.workload import Array, Workload

Run = Callable[[], Any]
"""One run, finished when it returns."""


@dataclass(frozen=True)
class Contender:
    """A way to run workloads.

    Attributes:
        package: what has to be installed.
        load: imports everything that compiling needs.
        compile: makes a run of a workload on its inputs.
        packages: the distributions whose versions matter.
    """

    name: str
    package: str
    load: Callable[[], object]
    compile: Callable[[Workload, list[Array]], Run]
    packages: tuple[str, ...] = field(default=())

    @property
    def is_installed(self) -> bool:
        """Whether it can run here."""
        return find_spec(self.package) is not None


def _load_nothing() -> None:
    """NumPy is there already."""


def _numpy_run(workload: Workload, inputs: list[Array]) -> Run:
    return lambda: workload.numpy_form(*inputs)


def _load_ipu() -> None:
    import ipu_mlir

    _ = ipu_mlir.compile  # imported on first use


def _ipu_run(workload: Workload, inputs: list[Array]) -> Run:
    import ipu_mlir

    executable = ipu_mlir.compile(workload.mlir())
    return lambda: executable.run(inputs)


def _calls_run(workload: Workload, inputs: list[Array]) -> Run:
    import ipu_mlir

    executable = ipu_mlir.compile(workload.mlir(), kernels="never")
    return lambda: executable.run(inputs)


def _load_jax() -> None:
    import jax

    jax.devices()


def _jax_run(workload: Workload, inputs: list[Array]) -> Run:
    import jax

    arguments = [jax.numpy.asarray(array) for array in inputs]
    compiled = jax.jit(workload.jax_form).lower(*arguments).compile()
    return lambda: jax.block_until_ready(compiled(*arguments))


def arrays_of(results: Any) -> list[Array]:
    """The results of a run as NumPy arrays."""
    return [np.asarray(result) for result in results]


_ALL = (
    Contender("numpy", "numpy", _load_nothing, _numpy_run, ("numpy",)),
    Contender("ipu", "ipu_mlir", _load_ipu, _ipu_run, ("ipu-mlir", "torch-mlir")),
    Contender("calls", "ipu_mlir", _load_ipu, _calls_run, ("ipu-mlir", "torch-mlir")),  # without kernels
    Contender("jax", "jax", _load_jax, _jax_run, ("jax",)),
)

CONTENDERS: Mapping[str, Contender] = {contender.name: contender for contender in _ALL}
