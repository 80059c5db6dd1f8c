// RUN: ipu-opt %s --canonicalize --cse --loop-invariant-code-motion | filecheck %s

// Nothing moves, repeats or drops what happens to a row: not even what looks the same.
"ipu.remote_buffer"() {sym_name = "b", type = tensor<100x4xf32>} : () -> ()

// CHECK-LABEL: func.func @all_stay_in_their_order
// CHECK: %[[X:.*]] = "ipu.remote_load"
// CHECK: scf.for
// CHECK-NEXT: "ipu.remote_load"
// CHECK-NEXT: "ipu.remote_store"(%[[X]]
// CHECK-NEXT: "ipu.remote_load"
// CHECK-NEXT: "ipu.remote_store"(%[[X]]
func.func @all_stay_in_their_order(%n: index, %row: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = "ipu.remote_load"(%row) {buffer = @b} : (index) -> tensor<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    %y = "ipu.remote_load"(%row) {buffer = @b} : (index) -> tensor<4xf32>
    "ipu.remote_store"(%x, %row) {buffer = @b} : (tensor<4xf32>, index) -> ()
    %z = "ipu.remote_load"(%row) {buffer = @b} : (index) -> tensor<4xf32>
    "ipu.remote_store"(%x, %row) {buffer = @b} : (tensor<4xf32>, index) -> ()
  }
  return
}
