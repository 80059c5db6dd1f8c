"""Steps belong to the op of the source whose place and name they carry."""

import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.ipu import context
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.profile.build_profile import profile_of
from ipu_mlir.runtime.profile.source_ops import op_names

STEP = """
#h = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#o = #ipu.mapping<4, [[1, 4, 1, 1]], 0, 0>
module attributes {{ipu.target = #ipu.target<{{tiles_per_ipu = 4}}>}} {{
func.func @main(%x: memref<4xf32, #h>) -> memref<4xf32, #o> {{
  %a = memref.alloc() : memref<4xf32, #o>
  "ipu.exchange"(%x, %a) : (memref<4xf32, #h>, memref<4xf32, #o>) -> () loc({0})
  %out = memref.alloc() : memref<4xf32, #o>
  "ipu.compute_set"() ({{ "ipu.vertices"() ({{
    linalg.exp ins(%a : memref<4xf32, #o>) outs(%out : memref<4xf32, #o>) loc({0})
  }}) {{codelet = "exp_f32", parts = #ipu.parts<[[1, 4, 1]], 0>}} : () -> () }}) : () -> ()
  return %out : memref<4xf32, #o>
}}}}
"""


@pytest.mark.parametrize(
    ("location", "name", "place"),
    [
        ('"m.mlir":7:3', "tensor.empty", "m.mlir:7:3"),
        ('"/home/me/m.mlir":8:1', "linalg.exp", "m.mlir:8:1"),
        ('"jit(f)/layer/exp"', "exp", "jit(f)/layer/exp"),
        ('"jit(f)/layer/exp"("f.py":3:4)', "jit(f)/layer/exp", "f.py:3:4"),
        ('callsite("m.mlir":7:3 at "m.mlir":90:1)', "tensor.empty", "m.mlir:7:3"),
        ('fused["m.mlir":7:3, "m.mlir":8:3]', "tensor.empty", "m.mlir:7:3"),
        ("unknown", "unknown", None),
    ],
)
def test_an_op_has_its_name_and_place(location: str, name: str, place: str | None) -> None:
    source = 'module { func.func @main() { %0 = tensor.empty() : tensor<4xf32> loc("m.mlir":7:3) return } }'
    with context():
        module = ir.Module.parse(STEP.format(location))
        profile = profile_of(module, source=ir.Module.parse(source).operation)
    compute = next(op for op in profile.ops if op.compute_cycles)
    assert (compute.name, compute.location) == (name, place)
    assert compute.steps == (0, 1)
    assert compute.cycles == compute.compute_cycles + 2  # tile 1 sends both of its elements, 4 bytes in a cycle


def test_names_are_those_of_ops_and_not_of_their_bodies() -> None:
    text = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %y : tensor<4xf32>
}"""
    with context():
        names = op_names(ir.Module.parse(text).operation)
    assert set(names.values()) == {"tensor.empty", "linalg.map", "func.return"}


def test_ops_of_a_traced_function_stand_at_its_lines() -> None:
    @ipu.function
    def twice(x: ipu.Tensor) -> ipu.Tensor:
        return ipu.nn.relu(x @ x)

    executable = ipu.compile(twice, args=[ipu.TensorSpec((8, 8))], target=ipu.Target(tiles_per_ipu=4))
    found = {op.name: op.location or "" for op in executable.profile().ops}
    assert {"matmul", "np.maximum"} <= set(found)
    assert all(place.startswith("test_source_ops.py:") for place in found.values())
