"""Generated source is meant to be read."""

import ast

TEXT = """func.func @main(%image: memref<8x4xf32>, %bias: memref<4xf32>) -> memref<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant -0.5 : f32
  %hidden = memref.alloc() : memref<8x4xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
    affine_map<(d0, d1) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel"]} ins(%image, %bias : memref<8x4xf32>, memref<4xf32>)
      outs(%hidden : memref<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.maximumf %0, %zero : f32
    %2 = arith.mulf %1, %half : f32
    linalg.yield %2 : f32
  }
  return %hidden : memref<8x4xf32>
}"""


def test_lines_of_a_small_program(engine):
    source = engine(TEXT).source
    body = source[source.index("    def main") :].splitlines()
    assert body[:6] == [
        "    def main(arg0, arg1, result0):",
        "        # linalg.generic at -:5:3",
        "        add(arg0, arg1, result0)",
        "        maximum(result0, f_0, out=result0)",
        "        absolute(result0, result0)",
        "        multiply(result0, f_minus_0p5, result0)",
    ]
    assert "from ipu_mlir.runtime.numeric" not in source
    assert "f_minus_0p5 = memory.scalar(-0.5, 'f4')" in source


def test_source_is_the_same_every_time(engine):
    assert engine(TEXT).source == engine(TEXT).source


def test_every_line_fits_python(engine):
    ast.parse(engine(TEXT).source)
