// RUN: ipu-opt %s --split-input-file --ipu-bufferize-streams --verify-diagnostics

#home = #ipu.mapping<8, [[4, 8, 1, 1]], 0, 0>
"ipu.outfeed"() {sym_name = "q", types = [tensor<4xf32>], mode = "all"} : () -> ()
func.func @part_of_a_tensor_is_put(%x: tensor<2x4xf32, #home>) {
  %s = tensor.extract_slice %x[1, 0] [1, 4] [1, 1] : tensor<2x4xf32, #home> to tensor<4xf32, #home>
  // expected-error @below {{takes 4 of the 8 elements of a tensor as operand 0; copy them first, as ipu-materialize-views does}}
  "ipu.put"(%s) {queue = @q, index = 0 : i64} : (tensor<4xf32, #home>) -> ()
  return
}
