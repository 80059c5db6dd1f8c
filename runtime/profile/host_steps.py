"""What the host hands to a program before it begins, and takes from it at the end."""

import numpy as np

from ipu_mlir.dialects.analysis.variables import variable_arguments
from ipu_mlir.dialects.costs.exchange import all_sync_cycles, host_read_cycles, host_write_cycles
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.profile.step_costs import StepCost, bytes_per_ipu


def arguments_in(block: ir.Block, target: Target) -> StepCost:
    """All arguments of the program but its variables, from the host to the IPUs; each IPU has its own connection."""
    variables = variable_arguments(block.owner.operation)
    held = bytes_per_ipu([each.type for each in block.arguments if each.arg_number not in variables], target)
    return _host_step(host_write_cycles(int(held.max(initial=0)), machine_of(target)), held, target)


def results_out(block: ir.Block, target: Target) -> StepCost:
    """All results of the program, from the IPUs to the host."""
    held = bytes_per_ipu([value.type for value in list(block.operations)[-1].operands], target)
    return _host_step(host_read_cycles(int(held.max(initial=0)), machine_of(target)), held, target)


def _host_step(cycles: int, held: IntArray, target: Target) -> StepCost:
    """A step of the host, with the sync in which the IPUs and the host meet; none where nothing is handed over."""
    sync = all_sync_cycles(target.ipus, machine_of(target)) if held.any() else 0
    return StepCost(np.zeros(target.num_tiles, dtype=np.int64), host=cycles, sync=sync)
