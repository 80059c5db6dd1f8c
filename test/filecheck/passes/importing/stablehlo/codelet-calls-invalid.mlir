// RUN: ipu-opt %s --ipu-check-stablehlo --split-input-file --verify-diagnostics

func.func @codelets(%x: tensor<2x3x3xf32>) {
  // expected-error @below {{calls a codelet that is not there: no library codelet is called 'choleski'; is 'cholesky' meant?}}
  %0 = stablehlo.custom_call @ipu.codelet(%x) {backend_config = "{\"name\": \"choleski\"}"} : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  // expected-error @below {{calls the library codelet 'sort', which is none on stacks; write its linalg.generic}}
  %1 = stablehlo.custom_call @ipu.codelet(%x) {backend_config = "{\"name\": \"sort\"}"} : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  // expected-error @below {{calls the codelet 'cholesky' with tensor<2x3x3xf32> and results tensor<2x3xf32>; it needs stacks of [n, n], and results of [n, n], of floats of one type}}
  %2 = stablehlo.custom_call @ipu.codelet(%x) {backend_config = "{\"name\": \"cholesky\"}"} : (tensor<2x3x3xf32>) -> tensor<2x3xf32>
  return
}
