"""Names of values are those of the printer."""

import re

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ADVANCE, ir
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.runtime.translator.importing.walk import value_names

FUNCTION = """func.func @f(%x: memref<4xf32> {a.b = "%alloc_9 = memref.alloc("}, %y: memref<4xf32>, %n: index) {
  %alloc = arith.constant {a.c = "\\0A    %alloc_8 = memref.alloc() : memref<2xf32>"} dense<0.0> : vector<2xf32>
  %a = memref.alloc() : memref<4xf32>
  scf.for %i = %n to %n step %n {
    %inner = memref.alloca(%n) : memref<?xf32>
    %b = memref.alloc() : memref<4xf32>
    scf.for %j = %n to %n step %n {
      %c = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
      memref.copy %c, %b : memref<4xf32> to memref<4xf32>
    }
  }
  %c = memref.alloc() : memref<4xf32>
  memref.copy %c, %a : memref<4xf32> to memref<4xf32>
  return
}"""


def test_names_are_those_of_the_printer() -> None:
    module = parse_module(FUNCTION, ipu.context())
    (function,) = module.body.operations
    allocated: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in ("memref.alloc", "memref.alloca"):
            allocated.append(op.results[0].get_name().lstrip("%"))
        return ADVANCE

    function.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    arguments = re.findall(r"%(\w+): ", str(function).splitlines()[0])
    assert len(allocated) == 5 and len(arguments) == 3
    assert list(value_names(function.operation)) == [*arguments, *allocated]
