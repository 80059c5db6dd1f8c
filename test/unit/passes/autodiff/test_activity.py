"""What depends on what is differentiated by, beside values of code that is there no more."""

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.autodiff.activity import active_values
from ipu_mlir.passes.autodiff.backward import Backward

PROGRAM = """
func.func @main(%x: f32, %y: f32) -> f32 {
  %0 = arith.mulf %x, %y : f32
  %1 = "ipu.stop_gradient"(%0) : (f32) -> f32
  %2 = arith.addf %1, %x : f32
  return %2 : f32
}"""


def test_what_new_code_makes_is_no_seed():
    """Memory of an op that is erased is that of the next one, whose results are equal to those it had."""
    module = parse_module(PROGRAM, ipu.context())
    block = module.operation.regions[0].blocks[0].operations[0].regions[0].blocks[0]
    ops = [each.operation for each in block.operations]
    product, stopped, total = (op.results[0] for op in ops[:3])
    x, y = block.arguments
    assert active_values(ops, [x, stopped]) == {x, product, total}
    assert active_values(ops, [y, total]) == {y, product}


def test_new_code_has_no_cotangents_of_old_code():
    module = parse_module(PROGRAM, ipu.context())
    block = module.operation.regions[0].blocks[0].operations[0].regions[0].blocks[0]
    ops = [each.operation for each in block.operations]
    x, y = block.arguments
    stale = ops[1].results[0]
    back = Backward({}, {x, stale}, {stale: y, x: y})
    back.enter(ops[:3])
    assert back.of(stale) is None and back.of(x) == y
    assert back.wants(ops[2].results[0]) and not back.wants(stale)
