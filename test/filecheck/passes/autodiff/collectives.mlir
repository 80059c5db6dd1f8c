// RUN: ipu-opt %s --ipu-autodiff --canonicalize | filecheck %s

// Each replica gets the sum of the cotangents of its block.
func.func private @gather(%x: tensor<2x3xf32>) -> tensor<4x2x3xf32> {
  %y = "ipu.all_gather"(%x) {group = 4} : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  return %y : tensor<4x2x3xf32>
}

// CHECK-LABEL: func.func private @of_gather(
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2]] : tensor<4x2x3xf32> into tensor<24xf32>
// CHECK: %[[BLOCK:.*]] = "ipu.reduce_scatter"(%[[FLAT]]) {{.*}}group = 4{{.*}}op = "add"{{.*}} : (tensor<24xf32>) -> tensor<6xf32>
// CHECK: tensor.expand_shape %[[BLOCK]] {{\[\[}}0, 1]] output_shape [2, 3]
func.func private @of_gather(tensor<2x3xf32>, tensor<4x2x3xf32>) -> (tensor<4x2x3xf32>, tensor<2x3xf32>)
    attributes {ipu.gradient = {of = @gather, by = array<i64: 0>}}

// Cotangents of the padding go nowhere; those of a mean are divided first.
func.func private @scatter(%x: tensor<10xf32>) -> tensor<3xf32> {
  %y = "ipu.reduce_scatter"(%x) {op = "mean", group = 4} : (tensor<10xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func private @of_scatter(
// CHECK: %[[SHARE:.*]] = arith.constant 2.500000e-01 : f32
// CHECK: arith.mulf %{{.*}}, %[[SHARE]]
// CHECK: %[[ALL:.*]] = "ipu.all_gather"(%{{.*}}) {{.*}}group = 4{{.*}} : (tensor<3xf32>) -> tensor<4x3xf32>
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[ALL]]
// CHECK: tensor.extract_slice %[[FLAT]][0] [10] [1] : tensor<12xf32> to tensor<10xf32>
func.func private @of_scatter(tensor<10xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<10xf32>)
    attributes {ipu.gradient = {of = @scatter, by = array<i64: 0>}}

// Blocks go back to where they came from.
func.func private @exchange(%x: tensor<8x2xf32>) -> tensor<2x8xf32> {
  %y = "ipu.all_to_all"(%x) {split_dimension = 0, concat_dimension = 1, group = 4} : (tensor<8x2xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func private @of_exchange(
// CHECK-SAME: %{{.*}}: tensor<8x2xf32>, %[[DY:.*]]: tensor<2x8xf32>
// CHECK: "ipu.all_to_all"(%[[DY]]) {concat_dimension = 0 : i64, group = 4 : i64, split_dimension = 1 : i64} : (tensor<2x8xf32>) -> tensor<8x2xf32>
func.func private @of_exchange(tensor<8x2xf32>, tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<8x2xf32>)
    attributes {ipu.gradient = {of = @exchange, by = array<i64: 0>}}

// The root of each group gets what all of the group have; the others get nothing.
func.func private @broadcast(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "ipu.broadcast"(%x) {root = 1, group = 2} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func private @of_broadcast(
// CHECK-SAME: %[[DY:[^ ]*]]: tensor<4xf32>)
// CHECK: %[[SUM:.*]] = "ipu.all_reduce"(%[[DY]]) {{.*}}op = "add"
// CHECK: %[[NUMBER:.*]] = "ipu.replica_index"()
// CHECK: %[[R:.*]] = tensor.extract %[[NUMBER]][]
// CHECK: %[[OWN:.*]] = arith.remsi %[[R]], %{{.*}} : i32
// CHECK: %[[IS_ROOT:.*]] = arith.cmpi eq, %[[OWN]]
// CHECK: arith.select %[[IS_ROOT]], %[[SUM]], %{{.*}} : tensor<4xf32>
func.func private @of_broadcast(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ipu.gradient = {of = @broadcast, by = array<i64: 0>}}
