// RUN: ipu-opt %s --ipu-normalize-indices --split-input-file | filecheck %s

// The elements and their sum do not read each other: one op each.
// CHECK-LABEL: func.func @results_over_different_loops
// CHECK: %[[DOUBLE:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK: arith.addf
// CHECK-NOT: arith.addf
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK: return %[[DOUBLE]], %[[SUM]]
func.func @results_over_different_loops(%x: tensor<2x3xf32>, %a: tensor<2x3xf32>, %b: tensor<2xf32>)
    -> (tensor<2x3xf32>, tensor<2xf32>) {
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x3xf32>) outs(%a, %b : tensor<2x3xf32>, tensor<2xf32>) {
  ^bb0(%e: f32, %old: f32, %sum: f32):
    %d = arith.addf %e, %e : f32
    %s = arith.addf %sum, %e : f32
    linalg.yield %d, %s : f32, f32
  } -> (tensor<2x3xf32>, tensor<2xf32>)
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2xf32>
}

// -----

// A running sum: what an element is depends on the sum so far, so one loop runs around both.
// CHECK-LABEL: func.func @a_result_that_reads_another
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ALL:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}})
// CHECK: %[[X:.*]] = tensor.extract_slice %{{.*}}[0, %{{.*}}] [2, 1] [1, 1]
// CHECK: %[[NEW:.*]]:2 = linalg.generic {{.*}}iterator_types = ["parallel"]
// CHECK-SAME: ins(%[[X]] : tensor<2xf32>) outs(%{{.*}}, %[[SUM]] : tensor<2xf32>, tensor<2xf32>)
// CHECK: %[[PUT:.*]] = tensor.insert_slice %[[NEW]]#0 into %[[ALL]][0, %{{.*}}] [2, 1] [1, 1]
// CHECK: scf.yield %[[PUT]], %[[NEW]]#1
func.func @a_result_that_reads_another(%x: tensor<2x3xf32>, %a: tensor<2x3xf32>, %b: tensor<2xf32>)
    -> (tensor<2x3xf32>, tensor<2xf32>) {
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x3xf32>) outs(%a, %b : tensor<2x3xf32>, tensor<2xf32>) {
  ^bb0(%e: f32, %old: f32, %sum: f32):
    %s = arith.addf %sum, %e : f32
    linalg.yield %s, %s : f32, f32
  } -> (tensor<2x3xf32>, tensor<2xf32>)
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2xf32>
}

// -----

// Results over the same loops stay one op, whatever they read.
// CHECK-LABEL: func.func @value_and_place
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK-NOT: linalg.generic
func.func @value_and_place(%x: tensor<2x3xf32>, %a: tensor<2xf32>, %b: tensor<2xindex>)
    -> (tensor<2xf32>, tensor<2xindex>) {
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x3xf32>) outs(%a, %b : tensor<2xf32>, tensor<2xindex>) {
  ^bb0(%e: f32, %most: f32, %at: index):
    %j = linalg.index 1 : index
    %c = arith.cmpf ogt, %e, %most : f32
    %v = arith.select %c, %e, %most : f32
    %w = arith.select %c, %j, %at : index
    linalg.yield %v, %w : f32, index
  } -> (tensor<2xf32>, tensor<2xindex>)
  return %r#0, %r#1 : tensor<2xf32>, tensor<2xindex>
}

// -----

// Every other element is computed by itself and put into what is there.
// CHECK-LABEL: func.func @a_slice_with_steps
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<3x9xf32>
// CHECK: %[[OLD:.*]] = tensor.extract_slice %[[B]][2, 1] [1, 4] [1, 2] : tensor<3x9xf32> to tensor<4xf32>
// CHECK: %[[NEW:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4xf32>) outs(%[[OLD]] : tensor<4xf32>)
// CHECK: tensor.insert_slice %[[NEW]] into %[[B]][2, 1] [1, 4] [1, 2]
func.func @a_slice_with_steps(%x: tensor<4xf32>, %b: tensor<3x9xf32>) -> tensor<3x9xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (2, i * 2 + 1)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%b : tensor<3x9xf32>) {
  ^bb0(%e: f32, %old: f32):
    %s = arith.addf %e, %old : f32
    linalg.yield %s : f32
  } -> tensor<3x9xf32>
  return %r : tensor<3x9xf32>
}

// -----

// What nobody reads is not taken out.
// CHECK-LABEL: func.func @a_slice_that_is_only_written
// CHECK-NOT: tensor.extract_slice
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4xf32>
// CHECK: linalg.generic {{.*}} outs(%[[E]] : tensor<4xf32>)
// CHECK: tensor.insert_slice
func.func @a_slice_that_is_only_written(%x: tensor<4xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i * 2)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%b : tensor<8xf32>) {
  ^bb0(%e: f32, %old: f32):
    linalg.yield %e : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A diagonal: every element is either the new or the old one.
// CHECK-LABEL: func.func @points
// CHECK-SAME: %[[X:.*]]: tensor<6xf32>, %[[Y:.*]]: tensor<6x2xf32>
// CHECK: %[[OLD:.*]] = linalg.generic
// CHECK: tensor.extract %[[Y]]
// CHECK: %[[NEW:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<6xf32>) outs(%[[OLD]] : tensor<6xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} outs(%[[Y]] : tensor<6x2xf32>)
// CHECK: ^bb0(%[[KEPT:.*]]: f32):
// CHECK: %[[IS:.*]] = arith.cmpi eq
// CHECK: %[[MADE:.*]] = tensor.extract %[[NEW]]
// CHECK: arith.select %[[IS]], %[[MADE]], %[[KEPT]]
func.func @points(%x: tensor<6xf32>, %y: tensor<6x2xf32>) -> tensor<6x2xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i floordiv 3)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<6xf32>) outs(%y : tensor<6x2xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = arith.addf %a, %old : f32
    linalg.yield %s : f32
  } -> tensor<6x2xf32>
  return %r : tensor<6x2xf32>
}

// -----

// No dimension says which iteration writes there: a table does.
// CHECK-LABEL: func.func @points_from_a_table
// CHECK: arith.constant dense<[3, 2, 1, 0, -1]> : tensor<5xi32>
// CHECK: arith.select
func.func @points_from_a_table(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (3 - i)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%y : tensor<5xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

// A sum has no order: one of the two loops runs around the other.
// CHECK-LABEL: func.func @loops_that_meet
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}] [5] [1] : tensor<8xf32> to tensor<5xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]
// CHECK: tensor.insert_slice
func.func @loops_that_meet(%x: tensor<4xf32>, %y: tensor<5xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i + j)>],
      iterator_types = ["reduction", "reduction"]}
      ins(%x, %y : tensor<4xf32>, tensor<5xf32>) outs(%b : tensor<8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %m = arith.mulf %a, %c : f32
    %s = arith.addf %m, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @quotients_are_loaded
// CHECK: linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<8xf32>)
// CHECK: %[[AT:.*]] = affine.apply
// CHECK: tensor.extract %{{.*}}[%[[AT]]] : tensor<4xf32>
func.func @quotients_are_loaded(%x: tensor<4xf32>, %e: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @nothing_runs
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<4x3xf32>)
// CHECK-NEXT: return %[[B]]
func.func @nothing_runs(%x: tensor<0x4xf32>, %b: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, 1)>],
                       iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<0x4xf32>) outs(%b : tensor<4x3xf32>) {
  ^bb0(%e: f32, %old: f32):
    linalg.yield %e : f32
  } -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// -----

// No iteration of a loop that is a dimension of the result needs what another one left.
// CHECK-LABEL: func.func @reductions_of_one_iteration
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
func.func @reductions_of_one_iteration(%x: tensor<5xi32>, %b: tensor<5x2xi32>) -> tensor<5x2xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(k, j, i) -> (i)>, affine_map<(k, j, i) -> (k, j)>],
                       iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%x : tensor<5xi32>) outs(%b : tensor<5x2xi32>) {
  ^bb0(%e: i32, %most: i32):
    %m = arith.maxsi %most, %e : i32
    linalg.yield %m : i32
  } -> tensor<5x2xi32>
  return %r : tensor<5x2xi32>
}
