// RUN: ipu-opt %s --ipu-raise-loops | filecheck %s

// CHECK-LABEL: func.func @insert_in_a_loop_is_a_scatter
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>, %[[AT:.*]]: tensor<3xindex>, %[[V:.*]]: tensor<3xf32>)
// CHECK-NOT: scf.for
// CHECK: linalg.generic
// CHECK-DAG: tensor.extract %[[AT]]
// CHECK-DAG: tensor.extract %[[V]]
// CHECK: %[[R:.*]] = linalg.generic {{.*}}library_call = "scatter_set"
// CHECK-SAME: outs(%[[X]] : tensor<8xf32>)
// CHECK: return %[[R]]
func.func @insert_in_a_loop_is_a_scatter(%x: tensor<8xf32>, %at: tensor<3xindex>, %v: tensor<3xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %r = scf.for %i = %zero to %three step %one iter_args(%t = %x) -> tensor<8xf32> {
    %place = tensor.extract %at[%i] : tensor<3xindex>
    %new = tensor.extract %v[%i] : tensor<3xf32>
    %u = tensor.insert %new into %t[%place] : tensor<8xf32>
    scf.yield %u : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @addition_to_an_element
// CHECK-NOT: scf.for
// CHECK: library_call = "scatter_add"
func.func @addition_to_an_element(%x: tensor<8xf32>, %at: tensor<3xindex>, %v: tensor<3xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %r = scf.for %i = %zero to %three step %one iter_args(%t = %x) -> tensor<8xf32> {
    %place = tensor.extract %at[%i] : tensor<3xindex>
    %new = tensor.extract %v[%i] : tensor<3xf32>
    %old = tensor.extract %t[%place] : tensor<8xf32>
    %sum = arith.addf %old, %new : f32
    %u = tensor.insert %sum into %t[%place] : tensor<8xf32>
    scf.yield %u : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @nest_of_two_loops_is_one_scatter
// CHECK-NOT: scf.for
// CHECK-COUNT-1: library_call = "scatter_set"
func.func @nest_of_two_loops_is_one_scatter(%x: tensor<4x5xi32>, %v: tensor<2x3xi32>, %k: index) -> tensor<4x5xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %r = scf.for %i = %zero to %two step %one iter_args(%t = %x) -> tensor<4x5xi32> {
    %s = scf.for %j = %zero to %three step %one iter_args(%u = %t) -> tensor<4x5xi32> {
      %new = tensor.extract %v[%i, %j] : tensor<2x3xi32>
      %row = arith.addi %i, %k : index
      %w = tensor.insert %new into %u[%row, %j] : tensor<4x5xi32>
      scf.yield %w : tensor<4x5xi32>
    }
    scf.yield %s : tensor<4x5xi32>
  }
  return %r : tensor<4x5xi32>
}

// What was put there before is read at another place: the order of the iterations matters.
// CHECK-LABEL: func.func @recurrence_stays
// CHECK: scf.for
// CHECK-NOT: library_call
func.func @recurrence_stays(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %seven = arith.constant 7 : index
  %r = scf.for %i = %zero to %seven step %one iter_args(%t = %x) -> tensor<8xf32> {
    %next = arith.addi %i, %one : index
    %old = tensor.extract %t[%i] : tensor<8xf32>
    %u = tensor.insert %old into %t[%next] : tensor<8xf32>
    scf.yield %u : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @loop_of_unknown_length_stays
// CHECK: scf.for
// CHECK-NOT: library_call
func.func @loop_of_unknown_length_stays(%x: tensor<8xf32>, %v: f32, %n: index) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%t = %x) -> tensor<8xf32> {
    %u = tensor.insert %v into %t[%i] : tensor<8xf32>
    scf.yield %u : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @loop_over_structured_ops_stays
// CHECK: scf.for
// CHECK: linalg.exp
func.func @loop_over_structured_ops_stays(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %r = scf.for %i = %zero to %two step %one iter_args(%t = %x) -> tensor<8xf32> {
    %u = linalg.exp ins(%t : tensor<8xf32>) outs(%t : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %u : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// What an iteration makes of the state that it hands on is a slice for its row: the loop stays one anyway.
// CHECK-LABEL: func.func @rows_beside_a_state(
// CHECK:       scf.for {{.*}} -> (tensor<4xf32>, tensor<8x4xf32>)
// CHECK-NOT:     library_call
// CHECK:         tensor.insert_slice
func.func @rows_beside_a_state(%x: tensor<4xf32>, %all: tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %empty = tensor.empty() : tensor<4xf32>
  %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %x, %rows = %all) -> (tensor<4xf32>, tensor<8x4xf32>) {
    %next = linalg.tanh ins(%s : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
    %square = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%s : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.mulf %a, %a : f32
      linalg.yield %m : f32
    } -> tensor<4xf32>
    %row = tensor.insert_slice %square into %rows[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
    scf.yield %next, %row : tensor<4xf32>, tensor<8x4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<8x4xf32>
}
