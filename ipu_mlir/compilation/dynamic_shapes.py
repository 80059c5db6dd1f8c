"""Programs whose arguments have sizes that are known only when they are called."""

from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from ipu_mlir.compilation.executable import Executable
from ipu_mlir.compilation.lowering import Lowering
from ipu_mlir.compilation.portable import NotPortableError, bytecode_of, module_of, portable
from ipu_mlir.compilation.sources import load_module
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.frontends.stablehlo import import_stablehlo
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.pipeline_steps import PassStep
from ipu_mlir.passes.importing.specialize_shapes import SpecializeShapes

if TYPE_CHECKING:
    from ipu_mlir.frontends.table import Call, OpenProgram
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
        types = ir.SymbolTable(module.operation)[entry].attributes["function_type"].value.inputs
        self._inputs = tuple((_shape(each), str(each)) for each in types)
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
        inputs = self._call.flatten(args, kwargs) if self._call else list(args)
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
            try:
                module, call = self._for_sizes(sizes)
            except CompileError as error:
                raise CompileError(
                    f"{error}\nfor these sizes, which do not go together: {self._named(sizes)}"
                ) from error
            self._compiled[sizes] = Executable(module, self.entry, self._lowering, call)
        return self._compiled[sizes]

    def _for_sizes(self, sizes: tuple[int, ...]) -> "tuple[ir.Operation, Call | None]":
        module = self._module.operation.clone()
        run_steps(module, [PassStep(SpecializeShapes(self.entry, sizes))])
        import_stablehlo(module)
        return module, self._call

    def _sizes(self, inputs: Sequence[np.ndarray]) -> tuple[int, ...]:
        """What stands in the inputs where the types have ``?``."""
        if len(inputs) != len(self._inputs):
            raise RunError(f"{self.entry} takes {counted(len(self._inputs), 'argument')}, got {len(inputs)}")
        sizes: list[int] = []
        for number, (array, (shape, kind)) in enumerate(zip(inputs, self._inputs, strict=True)):
            if None not in shape:
                continue  # checked by the program that it is compiled to
            if np.ndim(array) != len(shape):
                raise RunError(f"argument {number} has {np.ndim(array)} dimensions, expected {len(shape)}: {kind}")
            for dimension, (size, expected) in enumerate(zip(np.shape(array), shape, strict=True)):
                if expected is None:
                    sizes.append(size)
                elif expected != size:
                    raise RunError(
                        f"argument {number} has size {size} in dimension {dimension}, expected {expected}: {kind}"
                    )
        return tuple(sizes)

    def _named(self, sizes: tuple[int, ...]) -> str:
        """``sizes`` with the arguments and dimensions that they belong to."""
        unknown = [
            f"argument {number}, dimension {dimension}"
            for number, (shape, _) in enumerate(self._inputs)
            for dimension, size in enumerate(shape)
            if size is None
        ]
        return "; ".join(f"{name}: {size}" for name, size in zip(unknown, sizes, strict=True))

    def __repr__(self) -> str:
        return f"<DynamicExecutable {self.entry}({', '.join(kind for _, kind in self._inputs)})>"


class ReimportedExecutable(DynamicExecutable):
    """A program whose framework does not say what it is for unknown sizes: imported anew for those of each call."""

    def __init__(self, program: "OpenProgram", lowering: Lowering, call: "Call | None") -> None:
        self.entry, self._inputs = "main", program.inputs
        self._program, self._lowering, self._call = program, lowering, call
        self._compiled = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse: the function of the framework belongs to this process."""
        raise NotPortableError(
            "the executable cannot be pickled, because its sizes are open and another process could not trace the "
            "function for others; compile it for fixed sizes"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> "ReimportedExecutable":
        other = ReimportedExecutable(self._program, self._lowering, self._call)
        other._compiled.update(deepcopy(self._compiled, memo))
        return other

    def _for_sizes(self, sizes: tuple[int, ...]) -> "tuple[ir.Operation, Call | None]":
        imported = self._program.for_sizes(sizes)
        return load_module(imported.program).operation, imported.call


def _shape(kind: ir.Type) -> tuple[int | None, ...]:
    """The sizes of the array that is an argument of type ``kind``: complex numbers have a dimension for their parts."""
    if not isinstance(kind, ir.RankedTensorType):
        return ()
    parts = (2,) if isinstance(kind.element_type, ir.ComplexType) else ()
    return (*(None if kind.is_dynamic_dim(n) else size for n, size in enumerate(kind.shape)), *parts)


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
