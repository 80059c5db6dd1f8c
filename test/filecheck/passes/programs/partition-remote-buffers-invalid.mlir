// RUN: ipu-opt %s --ipu-partition-remote-buffers --verify-diagnostics

module attributes {ipu.target = #ipu.target<{replicas = 2}>} {
"ipu.remote_buffer"() {sym_name = "b", type = tensor<10x4xf32>, partition = "token"} : () -> ()
func.func @rows_in_order(%i: index) {
  // expected-error @below {{'ipu.remote_load' op moves rows of @b in order, whose rows lie on one replica each: look them up}}
  %x = "ipu.remote_load"(%i) {buffer = @b} : (index) -> tensor<4xf32>
  return
}
}
