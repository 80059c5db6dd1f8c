// RUN: ipu-opt %s --ipu-delay-enqueues | filecheck %s
// RUN: sed s/io_tiles=2/io_tiles=0/ %s | ipu-opt - --ipu-delay-enqueues | filecheck %s --check-prefix=NONE

module attributes {ipu.target = #ipu.target<{tiles_per_ipu=8, io_tiles=2}>} {
// NONE-NOT: scf.if
"ipu.infeed"() {sym_name = "feed", types = [tensor<4xf32>]} : () -> ()
"ipu.outfeed"() {sym_name = "log", types = [tensor<4xf32>], mode = "all"} : () -> ()
"ipu.outfeed"() {sym_name = "asked", types = [tensor<4xf32>], mode = "all", at_once} : () -> ()

// The loop carries what it gives; each iteration but the first gives what the one before has, and the last is given
// behind the loop.
// CHECK-LABEL: func.func @at_the_end
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[NOTHING:.*]] = linalg.fill
// CHECK: %[[LAST:.*]] = scf.for %[[I:.*]] = %[[ZERO]] to {{.*}} iter_args(%[[BEFORE:.*]] = %[[NOTHING]])
// CHECK: "ipu.dequeue"
// CHECK: %[[X:.*]] = "ipu.element"
// CHECK: %[[LATER:.*]] = arith.cmpi ne, %[[I]], %[[ZERO]]
// CHECK: scf.if %[[LATER]]
// CHECK: "ipu.put"(%[[BEFORE]])
// CHECK: "ipu.enqueue"
// CHECK: %[[Y:.*]] = linalg.exp ins(%[[X]]
// CHECK: scf.yield %[[Y]]
// CHECK: "ipu.put"(%[[LAST]])
// CHECK: "ipu.enqueue"
// CHECK: return
func.func @at_the_end() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    "ipu.dequeue"() {queue = @feed} : () -> ()
    %x = "ipu.element"() {queue = @feed, index = 0} : () -> tensor<4xf32>
    %empty = tensor.empty() : tensor<4xf32>
    %y = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
    "ipu.put"(%y) {queue = @log, index = 0} : (tensor<4xf32>) -> ()
    "ipu.enqueue"() {queue = @log} : () -> ()
  }
  return
}

// The host is to see an element before it gives the next one.
// CHECK-LABEL: func.func @at_once
// CHECK-NOT: scf.if
func.func @at_once() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    "ipu.dequeue"() {queue = @feed} : () -> ()
    %x = "ipu.element"() {queue = @feed, index = 0} : () -> tensor<4xf32>
    "ipu.put"(%x) {queue = @asked, index = 0} : (tensor<4xf32>) -> ()
    "ipu.enqueue"() {queue = @asked} : () -> ()
  }
  return
}

// What is taken after it would go first: the order of one kind stays, but nothing would overlap.
// CHECK-LABEL: func.func @before_the_next_element
// CHECK-NOT: scf.if
func.func @before_the_next_element() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %x = tensor.empty() : tensor<4xf32>
    "ipu.put"(%x) {queue = @log, index = 0} : (tensor<4xf32>) -> ()
    "ipu.enqueue"() {queue = @log} : () -> ()
    "ipu.dequeue"() {queue = @feed} : () -> ()
  }
  return
}

// A loop that may not run has nothing to give behind it.
// CHECK-LABEL: func.func @unknown_count
// CHECK-NOT: scf.if
func.func @unknown_count(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    "ipu.dequeue"() {queue = @feed} : () -> ()
    %x = "ipu.element"() {queue = @feed, index = 0} : () -> tensor<4xf32>
    "ipu.put"(%x) {queue = @log, index = 0} : (tensor<4xf32>) -> ()
    "ipu.enqueue"() {queue = @log} : () -> ()
  }
  return
}
}
