"""The per-tile executor: runs a superstep program tile by tile, and refuses what the machine could not do."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.attributes import target_from_attr
from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.errors import CompileError, RunError
from ipu_mlir.dialects.target import Target
from ipu_mlir.runtime.per_tile.exchange import Traffic
from ipu_mlir.runtime.per_tile.host import gather, place
from ipu_mlir.runtime.per_tile.interpreter import HeldBytes, Interpreter
from ipu_mlir.runtime.per_tile.memory import View
from ipu_mlir.runtime.per_tile.supported import check_supported

Array = np.ndarray[Any, Any]


class PerTileExecutor:
    """Runs the supersteps of a module on machines with real boundaries: the oracle of the fast executor.

    Every tile has its own memory, full of poison; an exchange copies values from tile to tile; a vertex sees its own
    tile only. The executor reads the IR and nothing else, and enumerates every mapping from its definition.

    Attributes:
        traffic: what each exchange of the last run moved, in order.
    """

    def __init__(self, module: ir.Module | ir.OpView | ir.Operation, entry: str = "main", strict: bool = True) -> None:
        """Make ready to run ``entry`` of ``module``.

        Args:
            strict: whether reading an element that was never written is an error. Without it the read yields poison
                (NaN, or bytes 0xA5 for integers), and so do results.

        Raises:
            CompileError: there is no such function, or the module holds operations that the executor cannot run.
        """
        self._module = module  # keeps alive what the operations below point into
        self._operation: ir.Operation = module.operation
        self._strict = strict
        self._function = self._entry_named(entry)
        attributes = self._operation.attributes
        self._target = target_from_attr(attributes["ipu.target"]) if "ipu.target" in attributes else Target()
        self._held: list[HeldBytes] = []
        self.traffic: list[Traffic] = []
        check_supported(self._operation)

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Run on host arrays, one per argument; answer fresh arrays, one per result.

        Raises:
            RunError: the inputs do not fit the function, or the program does what the machine cannot do: the
                subclasses in ``errors.py`` say which.
        """
        interpreter = Interpreter(self._operation, self._target.num_tiles, self._strict)
        self.traffic, self._held = interpreter.traffic, interpreter.held
        block = self._function.regions[0].blocks[0]
        with np.errstate(all="ignore"):
            views = self._place_arguments(interpreter, block, inputs)
            results = interpreter.run_block(block, views)
        location = list(block.operations)[-1].location
        return [gather(view, interpreter.memories, self._strict, location) for view in results]

    def memory_held(self) -> list[HeldBytes]:
        """Bytes that lived on each tile at every step of the last run; a buffer lives to its last use."""
        return self._held

    def _place_arguments(self, interpreter: Interpreter, block: ir.Block, inputs: Sequence[Array]) -> list[View]:
        if len(inputs) != len(block.arguments):
            raise RunError(f"the function takes {len(block.arguments)} inputs, got {len(inputs)}")
        views = []
        for number, (value, array) in enumerate(zip(block.arguments, map(np.asarray, inputs), strict=True)):
            view = interpreter.new_buffer(value, writable=False)
            if array.shape != view.shape or array.dtype != view.allocation.dtype:
                raise RunError(
                    f"input {number} is {array.dtype} {array.shape}, expected {view.allocation.dtype} {view.shape}"
                )
            place(array, view, interpreter.memories)
            views.append(view)
        return views

    def _entry_named(self, entry: str) -> ir.OpView:
        names = []
        for op in self._operation.regions[0].blocks[0].operations:
            if op.operation.name == "func.func":
                names.append(ir.StringAttr(op.attributes["sym_name"]).value)
                if names[-1] == entry and len(op.regions[0].blocks) == 1:
                    return op
        raise CompileError(f"no function '{entry}' with a body of one block; there are: {', '.join(names) or 'none'}")
