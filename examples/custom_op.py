"""An op of your own, with a verifier, and the pass that turns it into ops that the compiler knows.

The op belongs to a dialect of its own, which is loaded into the context that reads the program; the pass runs before
those that compile a program, and what it makes is placed, costed and run as any other op.

    python examples/custom_op.py
"""

from typing import Any

import numpy as np

import ipu_mlir
from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ext, ir, upstream
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.linalg_builders import elementwise
from ipu_mlir.passes.support.rewriting import REWRITTEN, rewrite


class Mine(ext.Dialect, name="mine"):
    """Activations."""


class LeakyReluOp(Mine.Operation, name="leaky_relu"):
    """Multiply what is negative by ``slope``.

    %y = "mine.leaky_relu"(%x) {slope = 0.1 : f32} : (tensor<4xf32>) -> tensor<4xf32>
    """

    source: ext.Operand[Any]
    slope: ir.FloatAttr
    value: ext.Result[Any]

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        source, value, slope = op.source.type, op.value.type, op.slope
        if source != value:
            return fail(op, f"takes {source} but gives {value}; both are one type")
        if not 0 <= slope.value < 1:
            return fail(op, f"has slope {slope}; it is a float, at least 0 and less than 1")
        return True


def lower_leaky_relu(op: Any, rewriter: Any) -> bool:
    """leaky_relu(x) becomes max(x, slope * x) of every element."""
    arith, element = upstream("arith"), op.operands[0].type.element_type

    def scalar(x: ir.Value) -> ir.Value:
        slope = arith.constant(element, ir.FloatAttr.get(element, op.attributes["slope"].value))
        return arith.maximumf(x, arith.mulf(x, slope))

    with rewriter.ip, op.location:
        rewriter.replace_op(op, elementwise(op.operands[0], element, scalar))
    return REWRITTEN


class LowerMine(Pass):
    """Turn the ops of the dialect ``mine`` into linalg.

    Needs:  tensors (input).
    Leaves: no op of ``mine``.
    """

    name = "lower-mine"

    def run(self, module: ir.Operation) -> None:
        rewrite(module, {"mine.leaky_relu": lower_leaky_relu})


PROGRAM = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "mine.leaky_relu"(%x) {slope = 0.1 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
"""


def main() -> None:
    """Compile a program with the op, run it, and show what the verifier says to a wrong one."""
    with ipu.context():
        Mine.load()
        module = ir.Module.parse(PROGRAM)
        exe = ipu_mlir.compile(module, pipeline=[LowerMine(), "ipu-compile"], target=ipu_mlir.Target(tiles_per_ipu=2))
        print(exe(np.array([-2, -1, 0, 1], np.float32)))
        try:
            ir.Module.parse(PROGRAM.replace("0.1", "1.5"))
        except ir.MLIRError as error:
            print(error.error_diagnostics[0].message)


if __name__ == "__main__":
    main()
