"""``ipu-mark-replicas``: which variables, arguments and results differ between replicas."""

from dataclasses import dataclass

from ipu_mlir.dialects.analysis.collectives import collective_of
from ipu_mlir.dialects.analysis.control_flow import control_op, is_branch
from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.analysis.remote import remote_buffers_in
from ipu_mlir.dialects.analysis.replicas import VARIES, Varying
from ipu_mlir.dialects.analysis.variables import VARIABLE, variable_arguments, variables_in
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.rewriting import list_ops, list_outside_bodies
from ipu_mlir.passes.support.value_attributes import set_value_attributes, value_attributes


@dataclass(frozen=True)
class MarkReplicas(Pass):
    """Say what differs between replicas, and refuse control flow that depends on it.

    All replicas take the same branches, so that they reach each collective together. Collectives whose
    groups or shapes do not go with the number of replicas are refused as well.

    Branches in loops that only compute are let through: those on elements become scatters and gathers
    (``ipu-raise-loops``), for which an index may differ. With ``all_branches`` they are refused as any other.

    Needs:  functions whose variables are arguments (``ipu-promote-variables``), or supersteps.
    Leaves: ``ipu.varies`` on variables and remote buffers, on arguments that are such, and on results; nothing where
            there is one replica.
    """

    name = "ipu-mark-replicas"

    all_branches: bool = False

    def run(self, module: ir.Operation) -> None:
        replicas = module_target(module).replicas
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            for op in list_outside_bodies(module):
                broken = _broken_collective(op, replicas)
                if broken is not None:
                    refuse(op, broken)
            if refuse.diagnostics or replicas == 1:
                return
            varying = Varying(module, replicas)
            for op, value in varying.divergent():
                if not self.all_branches and _may_be_raised(op):
                    continue
                origin = place_of(varying.origin(value)) or "its source"
                refuse(
                    op,
                    f"goes the way that a value says which differs between replicas, because of {origin}; all replicas "
                    "go one way: combine the value over all of them, with ipu.all_reduce for example, or say with "
                    "ipu.assume_equal that it is one",
                )
            if not refuse.diagnostics:
                _mark(module, varying)


def _may_be_raised(op: ir.Operation) -> bool:
    """True if ``op`` is a branch in a loop in which nothing meets the host or other replicas."""
    around = op.parent.operation
    while is_branch(around):
        around = around.parent.operation
    plain = all(not inner.name.startswith("ipu.") and inner.name != "cf.assert" for inner in list_outside_bodies(op))
    is_in_loop = (row := control_op(around)) is not None and row.repeats
    return is_branch(op) and is_in_loop and plain


def _broken_collective(op: ir.Operation, replicas: int) -> str | None:
    collective = collective_of(op)
    if collective is None:
        return None
    size = collective.size(replicas)
    source, dest = (value.type for value in (*op.operands, *op.results))
    return collective.broken_shape(source, dest, size) or collective.broken_sizes(size, replicas)


def _mark(module: ir.Operation, varying: Varying) -> None:
    for name, variable in variables_in(module).items():
        variable.attributes[VARIES] = ir.BoolAttr.get(name in varying.variables)
    for name, buffer in remote_buffers_in(module).items():
        buffer.op.attributes[VARIES] = ir.BoolAttr.get(name in varying.buffers)
    for function in list_ops(module, "func.func"):
        if not len(function.regions[0].blocks):
            continue
        block = function.regions[0].blocks[0]
        variables = variable_arguments(function)
        taken = {n for n, name in variables.items() if name in varying.variables}
        arguments, results = value_attributes(function, "arg_attrs"), value_attributes(function, "res_attrs")
        for number in taken:
            arguments[number][VARIES] = ir.BoolAttr.get(True)
        for value, entry in zip(terminator(block).operands, results, strict=True):
            if VARIABLE not in entry:
                entry[VARIES] = ir.BoolAttr.get(value in varying)
        set_value_attributes(function, "arg_attrs", arguments)
        set_value_attributes(function, "res_attrs", results)
