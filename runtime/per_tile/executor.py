"""The per-tile executor: runs a superstep program tile by tile, and refuses what the machine could not do."""

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.control_flow import TERMINATORS
from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.analysis.variables import variable_arguments
from ipu_mlir.dialects.attributes.attributes import target_from_attr
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.runtime.per_tile.memory.tile_memories import View, buffer_of
from ipu_mlir.runtime.per_tile.program.constants import dense_value
from ipu_mlir.runtime.per_tile.program.control_flow import CONTROL_FLOW
from ipu_mlir.runtime.per_tile.program.exchange import Traffic
from ipu_mlir.runtime.per_tile.program.function_ops import FUNCTION_OPS, constant
from ipu_mlir.runtime.per_tile.program.host import as_held, gather, place, to_host
from ipu_mlir.runtime.per_tile.program.prepared_functions import Program
from ipu_mlir.runtime.per_tile.program.replicas import Meeting
from ipu_mlir.runtime.per_tile.program.run_state import HeldBytes, Machine
from ipu_mlir.runtime.per_tile.supported import check_supported

Array = np.ndarray[Any, Any]

_OPS = frozenset((*FUNCTION_OPS, *CONTROL_FLOW))


class PerTileExecutor:
    """Runs the supersteps of a module on machines with real boundaries: the oracle of the fast executor.

    Every tile has its own memory, full of poison; an exchange copies values from tile to tile; a vertex sees its own
    tile only. The executor reads the IR and nothing else, and enumerates every mapping from its definition.

    Attributes:
        traffic: what each exchange of the last run moved, in the order in which they ran.
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
        operation: ir.Operation = module.operation
        self._strict = strict
        self._entry = entry
        self._program = Program(operation, FUNCTION_OPS, CONTROL_FLOW)
        self._block = self._block_of_entry(operation)
        self._variables = variable_arguments(self._block.owner.operation)
        attributes = operation.attributes
        self._target = target_from_attr(attributes["ipu.target"]) if "ipu.target" in attributes else Target()
        self._held: list[HeldBytes] = []
        self.traffic: list[Traffic] = []
        check_supported(operation, _OPS | TERMINATORS)

    def run(
        self,
        inputs: Sequence[Array],
        variables: MutableMapping[str, Array] | None = None,
        streams: Any = None,
        remote: Any = None,
    ) -> list[Array]:
        """Run on host arrays, one per argument; answer fresh arrays, one per result.

        On several replicas each result has one more first dimension for them, whether they differ or not, and so have
        variables afterwards. What goes in may have it, where each replica is to get its own.

        Arrays of bf16 and f8 have the types of the package ml_dtypes; inputs may also be their bits, unsigned or void.

        Args:
            variables: the values of variables by name, which has those after the run when it ends; what is not there
                begins as the program says.
            streams: the queues, which are asked as generated programs ask them.
            remote: the remote buffers, likewise.

        Raises:
            RunError: the inputs do not fit the function, or the program does what the machine cannot do: the
                subclasses in ``errors.py`` say which. An assertion of the program fails.
        """
        variables = {} if variables is None else variables
        replicas = self._target.replicas
        meeting = Meeting(replicas) if replicas > 1 else None
        machines = [Machine(self._target.num_tiles, self._strict, streams, r, meeting, remote) for r in range(replicas)]
        self.traffic, self._held = machines[0].traffic, machines[0].held
        if meeting is None:
            with np.errstate(all="ignore"):
                results, left = self._run_one(machines[0], inputs, variables)
            variables.update(left)
            return results
        found = meeting.run(
            lambda r: self._run_one(
                machines[r],
                [self._own(each, value, r) for each, value in zip(inputs, self._taken(), strict=False)],
                {name: self._own(variables[name], value, r) for name, value in self._named() if name in variables},
            )
        )
        variables.update({name: np.stack([left[name] for _, left in found]) for name in found[0][1]})
        return [np.stack(each) for each in zip(*(results for results, _ in found), strict=True)]

    def _run_one(
        self, machine: Machine, inputs: Sequence[Array], variables: Mapping[str, Array]
    ) -> tuple[list[Array], dict[str, Array]]:
        """The results of one replica, and what its variables are afterwards."""
        end = terminator(self._block)
        for get_global in self._program.constants(self._entry):
            constant(self._program, get_global, machine)
        views = self._place_arguments(machine, inputs, variables)
        results = machine.run(self._program.function(self._entry), machine.held_once_more(list(views)))
        found = [gather(view, machine.memories, self._strict, end.location, "the result") for view in results]
        left = {}
        for number, name in self._variables.items():
            value = gather(views[number], machine.memories, self._strict, end.location, f"variable @{name}")
            left[name] = to_host(value, self._block.arguments[number].type)
        return [to_host(array, value.type) for array, value in zip(found, end.operands, strict=True)], left

    def _taken(self) -> list[ir.Value]:
        """The arguments that the host passes."""
        return [value for number, value in enumerate(self._block.arguments) if number not in self._variables]

    def _named(self) -> list[tuple[str, ir.Value]]:
        """The arguments that are variables, by name."""
        return [(name, self._block.arguments[number]) for number, name in self._variables.items()]

    def _own(self, array: Any, value: ir.Value, replica: int) -> Array:
        """The part of ``array`` that ``replica`` gets for an argument, or all of it."""
        whole, shape = np.asarray(array), tuple(ir.MemRefType(value.type).shape)
        return whole[replica] if whole.shape == (self._target.replicas, *shape) else whole

    def memory_held(self) -> list[HeldBytes]:
        """Bytes that lived on each tile at every step of the last run.

        A buffer lives to its last use. Arguments of the entry, variables among them, and the constants of all
        functions that it may call, live from the beginning to the end.
        """
        return self._held

    def _place_arguments(self, machine: Machine, inputs: Sequence[Array], variables: Mapping[str, Array]) -> list[View]:
        """Views of all arguments: what the host passes, and what was there from the last run."""
        arguments = list(self._block.arguments)
        taken = len(arguments) - len(self._variables)
        if len(inputs) != taken:
            raise RunError(f"the function takes {counted(taken, 'input')}, got {len(inputs)}")
        arrays = enumerate(map(np.asarray, inputs))
        views: list[View] = []
        for number, value in enumerate(arguments):
            name = self._variables.get(number)
            view = machine.resident_buffer(buffer_of(value), writable=name is not None)
            views.append(view)
            if name is None:
                place_in_list, array = next(arrays)
                place(as_held(array, view, f"input {place_in_list}"), view, machine.memories)
            elif name in variables:
                place(as_held(variables[name], view, f"variable @{name}"), view, machine.memories)
            elif "init" in (variable := self._program.symbol(name)).attributes:
                initial = dense_value(variable, variable.attributes["init"])
                place(initial.reshape(view.shape), view, machine.memories)
        return views

    def _block_of_entry(self, module: ir.Operation) -> ir.Block:
        names = []
        for op in module.regions[0].blocks[0].operations:
            if op.operation.name == "func.func":
                names.append(ir.StringAttr(op.attributes["sym_name"]).value)
                if names[-1] == self._entry and len(op.regions[0].blocks) == 1:
                    return _with_buffers_only(op, op.regions[0].blocks[0])
        listed = ", ".join(names) or "none"
        raise CompileError(f"no function '{self._entry}' with a body of one block; there are: {listed}")


def _with_buffers_only(function: ir.OpView, block: ir.Block) -> ir.Block:
    """The block of a function that the host can call: what it takes and gives lies on tiles."""
    for value in (*block.arguments, *terminator(block).operands):
        if not isinstance(value.type, ir.MemRefType):
            raise CompileError(
                f"{place_of(function.location)}: the host passes buffers only, but {value.get_name()} is a "
                f"{value.type}; make it a memref of rank 0"
            )
    return block
