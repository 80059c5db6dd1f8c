"""What memref types say."""

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.buffers import element_bytes, may_overlap, memory_mapping, root_of, strides_and_offset
from ipu_mlir.dialects.mapping.mapping import Mapping, MappingLoop
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.support.rewriting import list_ops

CONTEXT = ipu.context()


def type_of(text):
    return ir.Type.parse(text, CONTEXT)


@pytest.mark.parametrize(("text", "size"), [("i1", 1), ("i8", 1), ("i16", 2), ("i32", 4), ("i64", 8), ("index", 8),
                                            ("f16", 2), ("bf16", 2), ("f8E4M3FN", 1), ("f8E4M3B11FNUZ", 1), ("f32", 4),
                                            ("f64", 8)])  # fmt: skip
def test_element_bytes(text, size):
    assert element_bytes(type_of(text)) == size


@pytest.mark.parametrize(
    ("text", "strides", "offset"),
    [
        ("memref<2x3xf32>", (3, 1), 0),
        ("memref<f32>", (), 0),
        ("memref<2x3xf32, strided<[6, 2], offset: 5>>", (6, 2), 5),
    ],
)
def test_strides_and_offset(text, strides, offset):
    assert strides_and_offset(type_of(text)) == (strides, offset)


def test_memory_mapping():
    mapped = type_of("memref<4xf32, #ipu.mapping<4, [[2, 4, 1, 1]], 0, 3>>")
    assert memory_mapping(mapped) == Mapping(4, (MappingLoop(2, 4, 1, 1),), 0, 3)
    assert memory_mapping(type_of("memref<4xf32>")) is None
    assert memory_mapping(type_of("memref<4xf32, 1>")) is None


def views():
    """Views of one argument by name, and another argument."""
    module = parse_module(
        """
func.func @f(%x: memref<8xf32>, %other: memref<8xf32>, %third: memref<8xf32>, %p: i1) {
  %a = memref.subview %x[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %b = memref.subview %x[3] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1], offset: 3>>
  %c = memref.subview %x[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %d = memref.subview %c[1] [2] [2] : memref<4xf32, strided<[1], offset: 4>> to memref<2xf32, strided<[2], offset: 5>>
  %r = scf.if %p -> memref<8xf32> {
    scf.yield %x : memref<8xf32>
  } else {
    scf.yield %other : memref<8xf32>
  }
  %s = arith.select %p, %r, %third : memref<8xf32>
  %e = memref.subview %s[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  return
}""",
        CONTEXT,
    )
    function = list_ops(module.operation, "func.func")[0]
    x, other, third, _ = function.regions[0].blocks[0].arguments
    made = [op.results[0] for op in list_ops(module.operation, "memref.subview", "arith.select", "scf.if")]
    return module, dict(zip("xotabcdrse", [x, other, third, *made], strict=True))


def test_root_of_a_view_of_a_view():
    _module, named = views()
    assert root_of(named["d"]) == named["x"]
    assert root_of(named["o"]) == named["o"]


@pytest.mark.parametrize(("pair", "meet"), [("xa", True), ("ab", True), ("ac", False), ("bc", True), ("cd", True),
                                            ("ad", False), ("xo", False), ("xx", True), ("xr", True),
                                            ("tr", False), ("os", True), ("be", True), ("ce", False)])  # fmt: skip
def test_may_overlap(pair, meet):
    _module, named = views()
    assert may_overlap(named[pair[0]], named[pair[1]]) is meet
    assert may_overlap(named[pair[1]], named[pair[0]]) is meet
