// RUN: ipu-opt %s --ipu-convert-collectives --split-input-file --verify-diagnostics

func.func @several_ops(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{combines values by more than one op; it may be add, multiply, minimum, maximum, and, or}}
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    %n = stablehlo.negate %m : tensor<f32>
    stablehlo.return %n : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @not_all(%x: tensor<4xf32>) -> tensor<8xf32> {
    // expected-error @below {{has groups that do not hold each of the 4 replicas once}}
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
        : (tensor<4xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

func.func @uneven(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has groups of different sizes}}
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @open(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{has sizes that are not known; export the program for fixed sizes}}
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
      : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
