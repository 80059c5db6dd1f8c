// RUN: ipu-opt %s | ipu-opt --canonicalize --cse --loop-invariant-code-motion | filecheck %s

// CHECK-LABEL: func.func @values_are_shown_each_time
// CHECK: "ipu.print"(%{{.*}}) {label = "x"} : (tensor<4xf32>) -> ()
// CHECK-NEXT: "ipu.print"(%{{.*}}) {label = "x"} : (tensor<4xf32>) -> ()
// CHECK-NEXT: scf.for
// CHECK-NEXT: "ipu.print"(%{{.*}}) {label = "", unsigned} : (tensor<i8>) -> ()
func.func @values_are_shown_each_time(%x: tensor<4xf32>, %y: tensor<i8>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  "ipu.print"(%x) {label = "x"} : (tensor<4xf32>) -> ()
  "ipu.print"(%x) {label = "x"} : (tensor<4xf32>) -> ()
  scf.for %i = %c0 to %n step %c1 {
    "ipu.print"(%y) {label = "", unsigned} : (tensor<i8>) -> ()
  }
  return
}

// CHECK-LABEL: func.func @buffers
// CHECK: "ipu.print"(%{{.*}}) {label = "b"} : (memref<4xf32, #{{.*}}>) -> ()
func.func @buffers(%x: memref<4xf32, #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>>) {
  "ipu.print"(%x) {label = "b"} : (memref<4xf32, #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>>) -> ()
  return
}
