"""Operations of bodies in the tables."""

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.costs.scalar_ops import scalar_op
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.runtime.per_tile.vertices.body import BODY_OPS
from ipu_mlir.runtime.translator.importing.scalar_lowerings import LOWERINGS
from ipu_mlir.runtime.translator.importing.scalar_ops import SCALAR_OPS


class Op:
    """As much of an op of type f32 or i32 as the tables ask for."""

    def __init__(self, name: str) -> None:
        self.name = name
        value = type("Value", (), {"type": "f32" if name.startswith("math.") or name.endswith("f") else "i32"})()
        self.operands, self.results = [value, value, value], [value]


FREE = {"arith.constant", "arith.bitcast", "arith.index_cast", "arith.index_castui", "linalg.index", "linalg.yield",
        "memref.load", "scf.yield", "scf.if", "cf.assert",
        "ipu.noise", "ipu.round", "ipu.saturate", "ipu.is_sound"}  # fmt: skip


@pytest.mark.parametrize("name", sorted({*SCALAR_OPS, *LOWERINGS, *BODY_OPS} - FREE))
def test_what_an_executor_runs_has_a_cost(name: str) -> None:
    assert scalar_op(Op(name)).name  # type: ignore[arg-type]


def test_an_unknown_op_is_an_error_that_names_it_and_its_place() -> None:
    text = "func.func @f(%x: f32) -> f32 {\n  %s, %c = math.sincos %x : f32\n  return %s : f32\n}"
    module = parse_module(text, ipu.context(), "t.mlir")
    (op,) = list_ops(module.operation, "math.sincos")
    with pytest.raises(CompileError, match=r"^t\.mlir:2:\d+: 'math\.sincos' has no cost; write bodies"):
        scalar_op(op)
