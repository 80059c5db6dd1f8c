"""The target of a module."""

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.attributes.module_target import module_target
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.support.rewriting import list_ops

FUNCTION = "func.func @f() {\n  return\n}"


def test_target_of_the_module_holds_inside_it():
    module = parse_module(
        f"module attributes {{ipu.target = #ipu.target<{{tiles_per_ipu = 4}}>}} {{\n{FUNCTION}\n}}", ipu.context()
    )
    (inner,) = list_ops(module.operation, "func.return")
    assert module_target(module.operation) == module_target(inner) == Target(tiles_per_ipu=4)


def test_module_that_names_none_has_the_default():
    module = parse_module(FUNCTION, ipu.context())
    assert module_target(module.operation) == Target()
