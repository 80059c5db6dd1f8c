// RUN: not ipu-import %s 2>&1 | filecheck %s
// RUN: not ipu-run %s 2>&1 | filecheck %s

// CHECK: ipu-import-invalid.mlir:8:8: error: 'stablehlo.cbrt' op
// CHECK: ipu-import-invalid.mlir:9:8: error: 'stablehlo.custom_call' op calls "my_kernel", which only the framework's own library has
func.func @main(%x: tensor<2xf32>) -> tensor<ui32> {
  %0 = stablehlo.complex %x, %x : tensor<2xcomplex<f32>>
  %2 = stablehlo.cbrt %0 : tensor<2xcomplex<f32>>
  %1 = stablehlo.custom_call @my_kernel() : () -> tensor<ui32>
  return %1 : tensor<ui32>
}
