// RUN: ipu-opt %s | ipu-opt | filecheck %s

// CHECK-LABEL: func.func @on_tensors
func.func @on_tensors(%x: tensor<8xf32>, %m: tensor<8x2xf16>, %c: tensor<i1>) {
  // CHECK: "ipu.replica_index"() : () -> tensor<i32>
  %r = "ipu.replica_index"() : () -> tensor<i32>
  // CHECK: "ipu.all_reduce"(%{{.*}}) {op = "square_add"} : (tensor<8xf32>) -> tensor<8xf32>
  %a = "ipu.all_reduce"(%x) {op = "square_add"} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: "ipu.all_reduce"(%{{.*}}) {group = 2 : i64, op = "and"} : (tensor<i1>) -> tensor<i1>
  %b = "ipu.all_reduce"(%c) {op = "and", group = 2} : (tensor<i1>) -> tensor<i1>
  // CHECK: "ipu.all_gather"(%{{.*}}) {group = 4 : i64} : (tensor<8x2xf16>) -> tensor<4x8x2xf16>
  %g = "ipu.all_gather"(%m) {group = 4} : (tensor<8x2xf16>) -> tensor<4x8x2xf16>
  // CHECK: "ipu.reduce_scatter"(%{{.*}}) {group = 3 : i64, op = "mean"} : (tensor<8xf32>) -> tensor<3xf32>
  %s = "ipu.reduce_scatter"(%x) {op = "mean", group = 3} : (tensor<8xf32>) -> tensor<3xf32>
  // CHECK: "ipu.all_to_all"(%{{.*}}) {concat_dimension = 1 : i64, group = 4 : i64, split_dimension = 0 : i64} : (tensor<8x2xf16>) -> tensor<2x8xf16>
  %t = "ipu.all_to_all"(%m) {split_dimension = 0, concat_dimension = 1, group = 4} : (tensor<8x2xf16>) -> tensor<2x8xf16>
  // CHECK: "ipu.broadcast"(%{{.*}}) {group = 4 : i64, root = 3 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %d = "ipu.broadcast"(%x) {root = 3, group = 4} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: "ipu.assume_equal"(%{{.*}}) : (tensor<i1>) -> tensor<i1>
  %e = "ipu.assume_equal"(%c) : (tensor<i1>) -> tensor<i1>
  return
}

#home = #ipu.mapping<8, [[2, 8, 1, 1]], 0, 0>
#scalar = #ipu.mapping<1, [[1, 1, 1, 0]], 0, 0>

// CHECK-LABEL: func.func @on_tiles
func.func @on_tiles(%x: memref<8xf32, #home>, %y: memref<8xf32, #home>, %i: memref<i32, #scalar>) {
  // CHECK: "ipu.number_replica"(%{{.*}}) : (memref<i32, #{{.*}}>) -> ()
  "ipu.number_replica"(%i) : (memref<i32, #scalar>) -> ()
  // CHECK: "ipu.collective"(%{{.*}}, %{{.*}}) {kind = "all_reduce", op = "add"} : (memref<8xf32, #{{.*}}>, memref<8xf32, #{{.*}}>) -> ()
  "ipu.collective"(%x, %y) {kind = "all_reduce", op = "add"} : (memref<8xf32, #home>, memref<8xf32, #home>) -> ()
  return
}
