// RUN: ipu-opt %s --canonicalize --cse --loop-invariant-code-motion | filecheck %s

// Nothing moves, repeats or drops what happens to an element: not even what looks the same, or is not used.
"ipu.infeed"() {sym_name = "q", types = [tensor<4xf32>]} : () -> ()
"ipu.outfeed"() {sym_name = "o", types = [tensor<4xf32>], mode = "all"} : () -> ()

// CHECK-LABEL: func.func @all_stay_in_their_order
// CHECK: "ipu.dequeue"
// CHECK-NEXT: "ipu.element"
// CHECK-NEXT: "ipu.dequeue"
// CHECK-NEXT: "ipu.element"
// CHECK: scf.for
// CHECK-NEXT: "ipu.dequeue"
// CHECK-NEXT: "ipu.put"
// CHECK-NEXT: "ipu.enqueue"
// CHECK-NEXT: }
func.func @all_stay_in_their_order(%n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  "ipu.dequeue"() {queue = @q} : () -> ()
  %x = "ipu.element"() {queue = @q, index = 0} : () -> tensor<4xf32>
  "ipu.dequeue"() {queue = @q} : () -> ()
  %y = "ipu.element"() {queue = @q, index = 0} : () -> tensor<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    "ipu.dequeue"() {queue = @q} : () -> ()
    "ipu.put"(%x) {queue = @o, index = 0} : (tensor<4xf32>) -> ()
    "ipu.enqueue"() {queue = @o} : () -> ()
  }
  return %y : tensor<4xf32>
}
