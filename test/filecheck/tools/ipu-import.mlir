// RUN: ipu-import %s | filecheck %s
// RUN: ipu-import %s --no-locations | ipu-run - --tiles 4 --print-values | filecheck %s --check-prefix VALUE

// CHECK: #[[PLACE:loc[0-9]*]] = loc("{{.*}}ipu-import.mlir":9:8)
// CHECK-LABEL: @main
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32 loc(#[[PLACE]])
// VALUE: out0: float32[2]
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
