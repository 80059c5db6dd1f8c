"""The target that a module names."""

from ipu_mlir.dialects.attributes.attributes import target_from_attr
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir

ATTRIBUTE = "ipu.target"


def module_target(op: ir.Operation) -> Target:
    """The target of the module that ``op`` is or stands in; the default one where it names none."""
    while True:
        if ATTRIBUTE in op.attributes:
            return target_from_attr(op.attributes[ATTRIBUTE])
        try:
            parent = op.parent
        except ValueError:  # what the bindings say of an op that was cloned
            parent = None
        if parent is None:
            return Target()
        op = parent.operation
