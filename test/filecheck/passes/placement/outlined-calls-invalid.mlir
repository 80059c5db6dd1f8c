// RUN: ipu-opt %s --ipu-partition --split-input-file --verify-diagnostics

func.func private @nothing(%x: tensor<8xf32>) -> tensor<8xf32>
func.func @call_of_a_declaration(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'func.call' op calls @nothing, which has no body, or calls itself; a call that stays is of another function}}
  %y = func.call @nothing(%x) {ipu.outlined} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @itself(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'func.call' op calls @itself, which has no body, or calls itself; a call that stays is of another function}}
  %y = func.call @itself(%x) {ipu.outlined} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func private @other(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @call_without_a_mark(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'func.call' op cannot be placed on tiles; only functions with a body of one block that do not call themselves can be inlined}}
  %y = func.call @other(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
