// RUN: ipu-opt %s --ipu-expand-tm-tensor --allow-unregistered-dialect | filecheck %s

// CHECK-LABEL: @an_update_goes_where_its_index_says
// CHECK: scf.for %[[ROW:[a-z0-9_]+]] =
// CHECK: scf.for %[[COLUMN:[a-z0-9_]+]] =
// CHECK: %[[NUMBER:.*]] = tensor.extract %arg1[%[[ROW]], %{{.*}}] : tensor<3x1xi32>
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[NUMBER]]
// CHECK: arith.cmpi ult, %[[INDEX]]
// CHECK: scf.if
// CHECK: arith.addf
// CHECK: tensor.insert %{{.*}} into %{{.*}}[%[[INDEX]], %[[COLUMN]]] : tensor<5x4xf32>
func.func @an_update_goes_where_its_index_says(%u: tensor<3x4xf32>, %i: tensor<3x1xi32>, %x: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %0 = "tm_tensor.scatter"(%u, %i, %x) <{dimension_map = array<i64: 0>, unique_indices = false}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %b, %a : f32
    "tm_tensor.yield"(%1) : (f32) -> ()
  }) : (tensor<3x4xf32>, tensor<3x1xi32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// CHECK-LABEL: @a_scan_carries_what_it_has
// CHECK: scf.for {{.*}} -> (tensor<6xf32>, f32)
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: tensor.insert %[[SUM]]
func.func @a_scan_carries_what_it_has(%x: tensor<6xf32>, %o: tensor<6xf32>, %z: tensor<f32>) -> tensor<6xf32> {
  %0:2 = "tm_tensor.scan"(%x, %o, %z) <{dimension = 0 : i64, inclusive = true}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    "tm_tensor.yield"(%1) : (f32) -> ()
  }) : (tensor<6xf32>, tensor<6xf32>, tensor<f32>) -> (tensor<6xf32>, tensor<f32>)
  return %0#0 : tensor<6xf32>
}

// CHECK-LABEL: @a_sort_counts_what_comes_before
// CHECK: arith.cmpf olt
// CHECK: arith.cmpf olt
// CHECK-NOT: tm_tensor
func.func @a_sort_counts_what_comes_before(%x: tensor<6xf32>) -> tensor<6xf32> {
  %0 = "tm_tensor.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = arith.cmpf olt, %a, %b : f32
    "tm_tensor.yield"(%1) : (i1) -> ()
  }) : (tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
