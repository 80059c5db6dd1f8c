// RUN: ipu-sweep %s --tiles 4 --partials-type f32,native -o %t.csv | filecheck %s
// RUN: filecheck %s --input-file %t.csv --check-prefix=CSV
// RUN: ipu-run %s --tiles 4 --partials-type native | filecheck %s --check-prefix=RAN
// RUN: not ipu-run %s --partials-type native --pass-pipeline ipu-compile 2>&1 | filecheck %s --check-prefix=PASSES

// CHECK: partials type cycles
// CHECK: 0.6 4 none f32
// CHECK: * 0.6 4 none native
// CHECK: fastest that fits: proportion 0.6, 4 tiles, native partials:

// CSV: most_partials,partials_type,cycles
// CSV: 0.6,4,,f32,
// CSV: 0.6,4,,native,

// RAN: out0: float16[64, 64]
// PASSES: --partials-type is for the default passes; give it to the ipu-widen-sums of yours
func.func @main(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<64x64xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<64x64xf16>) -> tensor<64x64xf16>
  %y = linalg.matmul ins(%x, %w : tensor<64x64xf16>, tensor<64x64xf16>) outs(%z : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}
