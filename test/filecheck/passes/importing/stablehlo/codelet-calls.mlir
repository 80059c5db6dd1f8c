// RUN: ipu-opt %s --ipu-check-stablehlo --ipu-convert-program-calls | filecheck %s

// CHECK-LABEL: func.func @a_codelet_is_called_for_each_element_of_a_stack(
// CHECK-SAME: %[[X:.*]]: tensor<2x5x4xf32>, %[[L:.*]]: tensor<2x3xi32>, %[[N:.*]]: tensor<2xi32>
// CHECK: %[[LOSS:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction", "reduction", "reduction"], library_call = "ctc_loss"
// CHECK-SAME: ins(%[[X]], %[[L]], %[[N]], %[[N]], %[[N]]
// CHECK: return %[[LOSS]] : tensor<2xf32>
func.func @a_codelet_is_called_for_each_element_of_a_stack(%x: tensor<2x5x4xf32>, %l: tensor<2x3xi32>, %n: tensor<2xi32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @ipu.codelet(%x, %l, %n, %n, %n) {backend_config = "{\"name\": \"ctc_loss\"}"} : (tensor<2x5x4xf32>, tensor<2x3xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
