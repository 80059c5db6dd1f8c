import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.normalize import raise_splats
from ipu_mlir.passes.support.rewriting import list_ops


def _chain(length: int) -> str:
    """Each op adds one to each element of the one before it; the first of them begins with a constant."""
    ops = "".join(
        f"""
        %{number + 1} = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel"]}}
            ins(%{number} : tensor<4xi32>) outs(%empty : tensor<4xi32>) {{
          ^bb0(%x: i32, %y: i32):
            %sum = arith.addi %x, %one : i32
            linalg.yield %sum : i32
        }} -> tensor<4xi32>"""
        for number in range(length)
    )
    return f"""
      #id = affine_map<(d0) -> (d0)>
      func.func @main() -> tensor<4xi32> {{
        %one = arith.constant 1 : i32
        %empty = tensor.empty() : tensor<4xi32>
        %0 = arith.constant dense<5> : tensor<4xi32>{ops}
        return %{length} : tensor<4xi32>
      }}"""


@pytest.mark.parametrize("length", [1, 40])
def test_each_op_of_a_chain_is_looked_at_once(length, monkeypatch):
    looked_at = []

    def counted(op, rewriter):
        looked_at.append(op.location)
        return original(op, rewriter)

    original = raise_splats.fill_of_constant
    monkeypatch.setattr(raise_splats, "fill_of_constant", counted)
    with ipu.context():
        module = ir.Module.parse(_chain(length))
        raise_splats.RaiseSplats().run(module.operation)
    (constant,) = (op for op in list_ops(module.operation, "arith.constant") if "i32" in str(op.results[0].type))
    assert constant.attributes["value"].value == 5 + length
    assert len(looked_at) == length
