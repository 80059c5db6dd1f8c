// RUN: ipu-opt %s --ipu-check-streams | filecheck %s

"ipu.infeed"() {sym_name = "q", types = [tensor<4xf32>, tensor<i32>]} : () -> ()
"ipu.outfeed"() {sym_name = "o", types = [tensor<4xf32>, tensor<i32>], mode = "all"} : () -> ()

// CHECK-LABEL: func.func @elements_in_loops
func.func @elements_in_loops(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    "ipu.dequeue"() {queue = @q} : () -> ()
    %x = "ipu.element"() {queue = @q, index = 0} : () -> tensor<4xf32>
    %k = "ipu.element"() {queue = @q, index = 1} : () -> tensor<i32>
    "ipu.put"(%k) {queue = @o, index = 1} : (tensor<i32>) -> ()
    "ipu.put"(%x) {queue = @o, index = 0} : (tensor<4xf32>) -> ()
    "ipu.enqueue"() {queue = @o} : () -> ()
    "ipu.put"(%k) {queue = @o, index = 1} : (tensor<i32>) -> ()
    "ipu.put"(%x) {queue = @o, index = 0} : (tensor<4xf32>) -> ()
    "ipu.enqueue"() {queue = @o} : () -> ()
  }
  return
}
