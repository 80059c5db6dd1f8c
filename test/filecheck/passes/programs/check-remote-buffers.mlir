// RUN: ipu-opt %s --ipu-check-remote-buffers | filecheck %s

"ipu.remote_buffer"() {sym_name = "b", type = tensor<10x4xf32>} : () -> ()
"ipu.remote_buffer"() {sym_name = "t", type = tensor<10xf32>, memory = "host"} : () -> ()

// CHECK-LABEL: func.func @rows_and_slices_of_rows
func.func @rows_and_slices_of_rows(%i: index, %rows: tensor<3xi32>, %number: tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %j = %c0 to %i step %c1 {
    %x = "ipu.remote_load"(%j) {buffer = @b} : (index) -> tensor<10x4xf32>
    "ipu.remote_store"(%number, %j) {buffer = @t} : (tensor<f32>, index) -> ()
    %y = "ipu.host_gather"(%rows) {buffer = @t} : (tensor<3xi32>) -> tensor<3xf32>
    "ipu.host_update_add"(%rows, %y) {buffer = @t} : (tensor<3xi32>, tensor<3xf32>) -> ()
  }
  return
}
