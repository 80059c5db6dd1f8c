"""When the verifier of an op is asked."""

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ir


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ('"ipu.fifo"() {depth = 2} : () -> tensor<4xf32>', "expects exactly 1 operands, but got 0"),
        ('"ipu.fifo"(%x) {depth = 2} : (tensor<4xf32>) -> ()', "expects exactly 1 results, but got 0"),
        ('"ipu.fifo"(%x) : (tensor<4xf32>) -> tensor<4xf32>', 'attribute "depth" is expected but not provided'),
        (
            '"ipu.fifo"(%x) {depth = "a"} : (tensor<4xf32>) -> tensor<4xf32>',
            "expected base attribute 'builtin.integer'",
        ),
        ('"ipu.fifo"(%x) {depth = 2} : (tensor<4xf32>) -> tensor<5xf32>', "a fifo keeps the type"),
        ('"ipu.library_call"(%x) {operandSegmentSizes = array<i32: 1>} : (tensor<4xf32>) -> ()', "operandSegmentSizes"),
    ],
)
def test_mlir_reports_what_an_op_lacks_and_the_verifier_the_rest(op: str, message: str) -> None:
    with ipu.context(), pytest.raises(ir.MLIRError) as caught:
        ir.Module.parse(f"func.func @f(%x: tensor<4xf32>) {{ {op}\n return }}")
    assert message in str(caught.value)
    assert len(caught.value.error_diagnostics) == 1
