// RUN: ipu-opt %s --ipu-convert-callbacks | filecheck %s

// CHECK-LABEL: func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xf32> {jax.result_info = "result"})
// CHECK:         %[[TOKEN:.*]] = stablehlo.constant dense<false> : tensor<i1>
// CHECK:         %[[PURE:.*]] = stablehlo.custom_call @ipu.host_call(%arg0) {{.*}}function = "python1", token = false
// CHECK:         %[[ORDERED:.*]]:2 = stablehlo.custom_call @ipu.host_call(%[[TOKEN]], %[[PURE]]) {{.*}}function = "python0", token = true{{.*}} -> (tensor<i1>, tensor<3xf32>)
// CHECK:         stablehlo.while(%[[CARRIED:.*]] = %[[ORDERED]]#0
// CHECK:         func.call @inner(%[[CARRIED]]) : (tensor<i1>) -> tensor<i1>
// CHECK:         return %[[ORDERED]]#1 : tensor<3xf32>
func.func public @main(%token: !stablehlo.token {jax.token = true}, %x: tensor<3xf32>)
    -> (!stablehlo.token {jax.token = true}, tensor<3xf32> {jax.result_info = "result"}) {
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {mhlo.backend_config = {index = 1 : ui64}} : (tensor<3xf32>) -> tensor<3xf32>
  %1:2 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%token, %0) {has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}} : (!stablehlo.token, tensor<3xf32>) -> (!stablehlo.token, tensor<3xf32>)
  %2 = stablehlo.while(%carried = %1#0) : !stablehlo.token
  cond {
    %c = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %3 = func.call @inner(%carried) : (!stablehlo.token) -> !stablehlo.token
    stablehlo.return %3 : !stablehlo.token
  }
  return %2, %1#1 : !stablehlo.token, tensor<3xf32>
}

// CHECK-LABEL: func.func private @inner(%arg0: tensor<i1>) -> tensor<i1>
// CHECK-NEXT:    stablehlo.custom_call @ipu.host_call(%arg0) {{.*}}function = "python2", token = true
func.func private @inner(%token: !stablehlo.token) -> !stablehlo.token {
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%token) {has_side_effect = true, mhlo.backend_config = {index = 2 : ui64}} : (!stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// CHECK-LABEL: @a_token_of_its_own
// CHECK-NEXT:    %[[MADE:.*]] = stablehlo.constant dense<false> : tensor<i1>
// CHECK-NEXT:    stablehlo.custom_call @ipu.host_call(%[[MADE]], %arg0)
func.func @a_token_of_its_own(%x: tensor<3xf32>) {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%0, %x) {has_side_effect = true, mhlo.backend_config = {index = 3 : ui64}} : (!stablehlo.token, tensor<3xf32>) -> !stablehlo.token
  return
}
