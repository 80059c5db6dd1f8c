// RUN: ipu-opt %s --ipu-drop-placement | filecheck %s
// RUN: ipu-opt %s --ipu-drop-placement | ipu-opt --ipu-drop-placement | filecheck %s

// What supersteps compute, in one memory: an exchange is a copy, a read of control flow a load, families of a compute
// set stand one after the other; types say no mapping.
// CHECK-NOT: ipu.
// CHECK: memref.global "private" constant @two : memref<4xf32> = dense<2.0{{.*}}>
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>, %[[FLAG:.*]]: memref<i1>) -> memref<4xf32> {
// CHECK: %[[TWO:.*]] = memref.get_global @two : memref<4xf32>
// CHECK: %[[COPY:.*]] = memref.alloc() : memref<4xf32>
// CHECK: memref.copy %[[X]], %[[COPY]] : memref<4xf32> to memref<4xf32>
// CHECK: %[[HALF:.*]] = memref.subview %[[COPY]][2] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 2>>
// CHECK: linalg.add ins(%[[TWO]], %[[TWO]] : memref<4xf32>, memref<4xf32>) outs(%{{.*}} : memref<4xf32>)
// CHECK-NEXT: linalg.exp ins(%[[HALF]] : memref<2xf32, strided<[1], offset: 2>>) outs(%{{.*}} : memref<2xf32>)
// CHECK: %[[C:.*]] = memref.load %[[FLAG]][] : memref<i1>
// CHECK: %[[R:.*]] = scf.if %[[C]] -> (memref<4xf32>) {
// CHECK: return %[[R]] : memref<4xf32>
// CHECK-NOT: ipu.
#all = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 1>
#two = #ipu.mapping<2, [[2, 2, 1, 0]], 0, 1>
#flag = #ipu.mapping<1, [[1, 1, 1, 0]], 0, 0>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
memref.global "private" constant @two : memref<4xf32, #one> = dense<2.0>
func.func @main(%x: memref<4xf32, #all> {ipu.map = #all}, %flag: memref<i1, #flag>) -> memref<4xf32, #one> {
  %two = memref.get_global @two : memref<4xf32, #one>
  %copy = memref.alloc() : memref<4xf32, #one>
  "ipu.exchange"(%x, %copy) : (memref<4xf32, #all>, memref<4xf32, #one>) -> ()
  %half = memref.subview %copy[2] [2] [1] : memref<4xf32, #one> to memref<2xf32, strided<[1], offset: 2>, #one>
  %sum = memref.alloc() : memref<4xf32, #one>
  %exp = memref.alloc() : memref<2xf32, #two>
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.add ins(%two, %two : memref<4xf32, #one>, memref<4xf32, #one>) outs(%sum : memref<4xf32, #one>)
    }) {codelet = "add_f32", parts = #ipu.parts<[[4, 4, 0]], 1>} : () -> ()
    "ipu.vertices"() ({
      linalg.exp ins(%half : memref<2xf32, strided<[1], offset: 2>, #one>) outs(%exp : memref<2xf32, #two>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 2, 0]], 1>} : () -> ()
  }) : () -> ()
  %c = "ipu.read_control"(%flag) : (memref<i1, #flag>) -> i1
  %r = scf.if %c -> (memref<4xf32, #one>) {
    scf.yield %copy : memref<4xf32, #one>
  } else {
    scf.yield %copy : memref<4xf32, #one>
  }
  return %r : memref<4xf32, #one>
}
}
