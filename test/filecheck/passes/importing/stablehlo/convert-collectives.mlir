// RUN: ipu-opt %s --split-input-file --ipu-convert-collectives --canonicalize | filecheck %s

// CHECK-LABEL: @all_of_them
func.func @all_of_them(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<16xf32>, tensor<1xf32>, tensor<ui32>) {
  // CHECK: "ipu.all_reduce"(%[[X:.*]]) {op = "max"} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[ALL:.*]] = "ipu.all_gather"(%[[X]]) : (tensor<4xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.reshape %[[ALL]] : (tensor<4x4xf32>) -> tensor<16xf32>
  %1 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}
      : (tensor<4xf32>) -> tensor<16xf32>
  // CHECK: "ipu.reduce_scatter"({{.*}}) {op = "add"} : (tensor<4xf32>) -> tensor<1xf32>
  %2 = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4xf32>) -> tensor<1xf32>
  // CHECK: %[[R:.*]] = "ipu.replica_index"() : () -> tensor<i32>
  // CHECK: stablehlo.bitcast_convert %[[R]] : (tensor<i32>) -> tensor<ui32>
  %3 = stablehlo.partition_id : tensor<ui32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<16xf32>, tensor<1xf32>, tensor<ui32>
}

// -----

// CHECK-LABEL: @consecutive_groups
func.func @consecutive_groups(%x: tensor<4x2xf32>) -> tensor<2x4xf32> {
  // CHECK: "ipu.all_to_all"(%{{.*}}) {concat_dimension = 1 : i64, group = 2 : i64, split_dimension = 0 : i64}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64,
      replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>} : (tensor<4x2xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// The groups are not consecutive: every replica gets all values and takes those of its group.
// CHECK-LABEL: @groups_apart
func.func @groups_apart(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-DAG: stablehlo.constant dense<[0, 1, 0, 1]>
  // CHECK-DAG: stablehlo.constant dense<[2, 3, 2, 3]>
  // CHECK: "ipu.all_gather"(%{{.*}}) : (tensor<4xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.add
  // CHECK-NOT: ipu.all_reduce
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The module says that there are four replicas; 0 and 2 receive nothing, which is zeros.
// CHECK-LABEL: @permutation
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @permutation(%x: tensor<2xf32>) -> tensor<2xf32> {
    // CHECK: stablehlo.constant dense<[-1, 0, -1, 1]> : tensor<4xi32>
    // CHECK: "ipu.all_gather"(%{{.*}}) : (tensor<2xf32>) -> tensor<4x2xf32>
    // CHECK: stablehlo.select
    %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [1, 3]]> : tensor<2x2xi64>}
        : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----

// CHECK-LABEL: @unsigned_and_complex
func.func @unsigned_and_complex(%u: tensor<2xui8>, %c: tensor<2xcomplex<f32>>) -> (tensor<2xui8>, tensor<2xcomplex<f32>>) {
  // CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<2xui8>) -> tensor<2xi8>
  // CHECK: "ipu.all_reduce"(%{{.*}}) {op = "add"} : (tensor<2xi8>) -> tensor<2xi8>
  %0 = "stablehlo.all_reduce"(%u) ({
  ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
    %m = stablehlo.add %a, %b : tensor<ui8>
    stablehlo.return %m : tensor<ui8>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xui8>) -> tensor<2xui8>
  // CHECK-COUNT-2: "ipu.all_reduce"(%{{.*}}) {op = "add"} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: stablehlo.complex
  %1 = "stablehlo.all_reduce"(%c) ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %m = stablehlo.add %a, %b : tensor<complex<f32>>
    stablehlo.return %m : tensor<complex<f32>>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return %0, %1 : tensor<2xui8>, tensor<2xcomplex<f32>>
}
