"""Programs whose arguments have sizes that are known only when they are called."""

from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from ipu_mlir.compilation.executable import Executable
from ipu_mlir.compilation.lowering import Lowering
from ipu_mlir.compilation.portable import bytecode_of, module_of, portable
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.steps import PassStep
from ipu_mlir.passes.importing.dynamic_types import dynamic_sizes
from ipu_mlir.passes.importing.specialize_shapes import SpecializeShapes

if TYPE_CHECKING:
    from ipu_mlir.frontends.table import Call
    from ipu_mlir.runtime.profile.profile import Profile


class DynamicExecutable:
    """A program with ``?`` sizes: compiled for the sizes of each call when they come for the first time, and kept.

    Attributes:
        entry: name of the function that runs.
    """

    def __init__(self, module: ir.Module, entry: str, lowering: Lowering, call: "Call | None" = None) -> None:
        self.entry = entry
        self._call = call
        self._module = module
        self._lowering = lowering
        self._types = list(ir.SymbolTable(module.operation)[entry].attributes["function_type"].value.inputs)
        self._compiled: dict[tuple[int, ...], Executable] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle holds the program as it came in, how to lower it, and what it was compiled to so far.

        Raises:
            NotPortableError: a planner or a pass of the user's cannot be pickled.
        """
        lowering = portable("a planner or a pass that it was compiled with", self._lowering)
        return _made_again, (bytecode_of(self._module), self.entry, lowering, self._call, self._compiled)

    def __deepcopy__(self, memo: dict[int, Any]) -> "DynamicExecutable":
        """The same program, with memory of its own for its runs."""
        other = DynamicExecutable(self._module, self.entry, self._lowering, self._call)
        other._compiled.update(deepcopy(self._compiled, memo))
        return other

    def run(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """As ``Executable.run``, for inputs of any sizes that the program allows."""
        return self.specialized(inputs).run(inputs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """In the caller's structure, as ``Executable``."""
        inputs = self._call.flatten(args, kwargs) if self._call else [np.asarray(each) for each in args]
        return self.specialized(inputs)(*args, **kwargs)

    def run_per_tile(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """As ``Executable.run_per_tile``."""
        return self.specialized(inputs).run_per_tile(inputs)

    def profile(self, inputs: Sequence[np.ndarray]) -> "Profile":
        """As ``Executable.profile``, of the program for the sizes of ``inputs``."""
        return self.specialized(inputs).profile(inputs)

    def specialized(self, inputs: Sequence[np.ndarray]) -> Executable:
        """The program for the sizes of ``inputs``.

        Raises:
            RunError: the inputs are not those of the program; names the argument and the dimension.
            CompileError: the program cannot be compiled for these sizes.
        """
        sizes = self._sizes(inputs)
        if sizes not in self._compiled:
            module = self._module.operation.clone()
            try:
                run_steps(module, [PassStep(SpecializeShapes(self.entry, sizes))])
            except CompileError as error:
                raise CompileError(
                    f"{error}\nfor these sizes, which do not go together: {self._named(sizes)}"
                ) from error
            self._compiled[sizes] = Executable(module, self.entry, self._lowering, self._call)
        return self._compiled[sizes]

    def _sizes(self, inputs: Sequence[np.ndarray]) -> tuple[int, ...]:
        """What stands in the inputs where the types have ``?``."""
        if len(inputs) != len(self._types):
            raise RunError(f"{self.entry} takes {counted(len(self._types), 'argument')}, got {len(inputs)}")
        sizes: list[int] = []
        for number, (array, wanted) in enumerate(zip(inputs, self._types, strict=True)):
            if not dynamic_sizes(wanted):
                continue  # checked by the program that it is compiled to
            if np.ndim(array) != wanted.rank:
                raise RunError(f"argument {number} has {np.ndim(array)} dimensions, expected {wanted.rank}: {wanted}")
            for dimension, size in enumerate(np.shape(array)):
                if wanted.is_dynamic_dim(dimension):
                    sizes.append(size)
                elif wanted.shape[dimension] != size:
                    raise RunError(
                        f"argument {number} has size {size} in dimension {dimension}, "
                        f"expected {wanted.shape[dimension]}: {wanted}"
                    )
        return tuple(sizes)

    def _named(self, sizes: tuple[int, ...]) -> str:
        """``sizes`` with the arguments and dimensions that they belong to."""
        unknown = [
            f"argument {number}, dimension {dimension}"
            for number, wanted in enumerate(self._types)
            if dynamic_sizes(wanted)
            for dimension in range(wanted.rank)
            if wanted.is_dynamic_dim(dimension)
        ]
        return "; ".join(f"{name}: {size}" for name, size in zip(unknown, sizes, strict=True))

    def __repr__(self) -> str:
        return f"<DynamicExecutable {self.entry}({', '.join(map(str, self._types))})>"


def _made_again(
    bytecode: bytes,
    entry: str,
    lowering: Lowering,
    call: "Call | None",
    compiled: dict[tuple[int, ...], Executable],
) -> DynamicExecutable:
    program = DynamicExecutable(module_of(bytecode), entry, lowering, call)
    program._compiled.update(compiled)
    return program
