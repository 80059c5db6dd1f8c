// RUN: ipu-opt %s --ipu-fold-collectives | filecheck %s

// CHECK-LABEL: func.func @alone
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[I:.*]]: tensor<2xi32>
func.func @alone(%x: tensor<8xf32>, %n: tensor<2xi32>) -> (tensor<i32>, tensor<8xf32>, tensor<1x8xf32>, tensor<8xf32>, tensor<2xi32>, tensor<8xf32>) {
  // CHECK: %[[R:.*]] = arith.constant dense<0> : tensor<i32>
  %r = "ipu.replica_index"() : () -> tensor<i32>
  %a = "ipu.all_reduce"(%x) {op = "mean"} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: %[[G:.*]] = tensor.expand_shape %[[X]] {{.*}} : tensor<8xf32> into tensor<1x8xf32>
  %g = "ipu.all_gather"(%a) : (tensor<8xf32>) -> tensor<1x8xf32>
  %s = "ipu.reduce_scatter"(%x) {op = "max"} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: %[[Q:.*]] = linalg.generic
  // CHECK: arith.muli
  %q = "ipu.all_reduce"(%n) {op = "square_add", group = 1} : (tensor<2xi32>) -> tensor<2xi32>
  %t = "ipu.all_to_all"(%s) {split_dimension = 0, concat_dimension = 0} : (tensor<8xf32>) -> tensor<8xf32>
  %b = "ipu.broadcast"(%t) : (tensor<8xf32>) -> tensor<8xf32>
  %e = "ipu.assume_equal"(%b) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: return %[[R]], %[[X]], %[[G]], %[[X]], %[[Q]], %[[X]]
  return %r, %a, %g, %s, %q, %e : tensor<i32>, tensor<8xf32>, tensor<1x8xf32>, tensor<8xf32>, tensor<2xi32>, tensor<8xf32>
}
