// RUN: ipu-opt %s --split-input-file --ipu-bufferize-collectives --verify-diagnostics

#home = #ipu.mapping<8, [[4, 8, 1, 1]], 0, 0>
#part = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @part_of_a_tensor_is_combined(%x: tensor<8xf32, #home>) -> tensor<4xf32, #part> {
  %s = tensor.extract_slice %x[4] [4] [1] : tensor<8xf32, #home> to tensor<4xf32, #home>
  // expected-error @below {{takes 4 of the 8 elements of a tensor as operand 0; copy them first, as ipu-materialize-views does}}
  %y = "ipu.all_reduce"(%s) {op = "add"} : (tensor<4xf32, #home>) -> tensor<4xf32, #part>
  return %y : tensor<4xf32, #part>
}
