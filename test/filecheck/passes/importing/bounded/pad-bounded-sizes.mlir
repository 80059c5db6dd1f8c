// RUN: ipu-opt %s --split-input-file --ipu-pad-bounded-sizes | filecheck %s

// CHECK-LABEL: @a_sum_leaves_the_padding_out
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[N:.*]]: tensor<i32>)
// CHECK: %[[USES:.*]] = stablehlo.maximum %[[N]], %{{.*}} : tensor<i32>
// CHECK: %[[OWN:.*]] = stablehlo.reshape %[[X]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[PLACE:.*]] = stablehlo.iota dim = 0 : tensor<4xi32>
// CHECK: %[[COUNT:.*]] = stablehlo.broadcast_in_dim %[[USES]], dims = []
// CHECK: %[[USED:.*]] = stablehlo.compare LT, %[[PLACE]], %[[COUNT]]
// CHECK: %[[KEPT:.*]] = stablehlo.select %[[USED]], %[[OWN]], %{{.*}} : tensor<4xi1>, tensor<4xf32>
// CHECK: stablehlo.reduce(%[[KEPT]]
// CHECK: return %{{.*}}, %[[USES]], %{{.*}} : tensor<f32>, tensor<i32>, tensor<f32>
func.func @a_sum_leaves_the_padding_out(%x: tensor<4xf32>, %n: tensor<i32>) -> (tensor<f32>, tensor<i32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xf32, #stablehlo.bounds<4>>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<i32>
  %3 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %1, %2, %3 : tensor<f32>, tensor<i32>, tensor<f32>
}

// -----

// CHECK-LABEL: @a_scatter_puts_the_padding_nowhere
// CHECK: %[[NOWHERE:.*]] = stablehlo.constant dense<-1> : tensor<i32>
// CHECK: %[[ROWS:.*]] = stablehlo.select
// CHECK: "stablehlo.scatter"(%{{.*}}, %[[ROWS]], %{{.*}})
// CHECK: (tensor<5xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<5xf32>
func.func @a_scatter_puts_the_padding_nowhere(%x: tensor<5xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>, %n: tensor<i32>) -> tensor<5xf32> {
  %0 = stablehlo.set_dimension_size %i, %n, dim = 0 : (tensor<4x1xi32>, tensor<i32>) -> tensor<?x1xi32, #stablehlo.bounds<4, ?>>
  %1 = stablehlo.set_dimension_size %u, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  %2 = "stablehlo.scatter"(%x, %0, %1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<5xf32>, tensor<?x1xi32, #stablehlo.bounds<4, ?>>, tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<5xf32>
  return %2 : tensor<5xf32>
}

// -----

// CHECK-LABEL: @a_branch_gives_its_size
// CHECK: %[[BOTH:.*]]:2 = "stablehlo.if"
// CHECK: stablehlo.return %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<i32>
// CHECK: stablehlo.return %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<i32>
// CHECK: (tensor<i1>) -> (tensor<4xf32>, tensor<i32>)
// CHECK: return %[[BOTH]]#1
func.func @a_branch_gives_its_size(%p: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i32>) -> tensor<i32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
    stablehlo.return %1 : tensor<?xf32, #stablehlo.bounds<4>>
  }, {
    %four = stablehlo.constant dense<4> : tensor<i32>
    %1 = stablehlo.set_dimension_size %x, %four, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
    stablehlo.return %1 : tensor<?xf32, #stablehlo.bounds<4>>
  }) : (tensor<i1>) -> tensor<?xf32, #stablehlo.bounds<4>>
  %2 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<i32>
  return %2 : tensor<i32>
}

// -----

// What is beyond the count is sorted behind everything; the function gives the count, so it may give the whole.
// CHECK-LABEL: @a_sort_puts_the_padding_last
// CHECK-SAME: -> (tensor<4xf32>, tensor<i32>)
// CHECK: %[[USES:.*]] = stablehlo.maximum %arg1
// CHECK: %[[BEYOND:.*]] = stablehlo.select %{{.*}} : tensor<4xi1>, tensor<4xi1>
// CHECK: %[[SORTED:.*]]:2 = "stablehlo.sort"(%[[BEYOND]], %{{.*}})
// CHECK: ^bb0(%[[P:.*]]: tensor<i1>, %[[Q:.*]]: tensor<i1>, %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>):
// CHECK: %[[BEFORE:.*]] = stablehlo.compare GT, %[[A]], %[[B]]
// CHECK: stablehlo.compare EQ, %[[P]], %[[Q]]
// CHECK: stablehlo.compare LT, %[[P]], %[[Q]]
// CHECK: return %[[SORTED]]#1, %[[USES]]
func.func @a_sort_puts_the_padding_last(%x: tensor<4xf32>, %n: tensor<i32>) -> (tensor<?xf32, #stablehlo.bounds<4>>, tensor<i32>) {
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  %1 = "stablehlo.sort"(%0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<?xf32, #stablehlo.bounds<4>>
  %3 = stablehlo.get_dimension_size %1, dim = 0 : (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<i32>
  return %1, %3 : tensor<?xf32, #stablehlo.bounds<4>>, tensor<i32>
}

// -----

// CHECK-LABEL: @running_sums_and_slices
// CHECK: %[[USES:.*]] = stablehlo.maximum %arg1
// CHECK: %[[KEPT:.*]] = stablehlo.select
// CHECK: "stablehlo.reduce_window"(%[[KEPT]]
// CHECK: %[[END:.*]] = stablehlo.minimum %[[USES]]
// CHECK: %[[LENGTH:.*]] = stablehlo.add %[[END]]
// CHECK: %[[RESULT:.*]] = stablehlo.maximum %[[LENGTH]]
// CHECK: stablehlo.slice %{{.*}} [1:3] : (tensor<4xf32>) -> tensor<2xf32>
// CHECK: return %[[RESULT]] : tensor<i32>
func.func @running_sums_and_slices(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  %1 = "stablehlo.reduce_window"(%0, %zero) <{padding = dense<[[3, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 4>, window_strides = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<?xf32, #stablehlo.bounds<4>>, tensor<f32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  %3 = stablehlo.slice %1 [1:3] : (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<?xf32, #stablehlo.bounds<2>>
  %4 = stablehlo.get_dimension_size %3, dim = 0 : (tensor<?xf32, #stablehlo.bounds<2>>) -> tensor<i32>
  return %4 : tensor<i32>
}
