// RUN: ipu-opt %s --ipu-raise-loops | filecheck %s

// What may be loaded wherever the loop runs is loaded for all iterations at once.
// CHECK-LABEL: func.func @guard_of_the_place
// CHECK-NOT: scf.
// CHECK: %[[GUARD:.*]] = linalg.generic
// CHECK: arith.cmpi ult
// CHECK-NOT: scf.
// CHECK: library_call = "scatter_add"
// CHECK-SAME: tensor<4xi1>
// CHECK-NOT: scf.
func.func @guard_of_the_place(%x: tensor<8xf32>, %at: tensor<4xindex>, %v: tensor<4xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %eight = arith.constant 8 : index
  %r = scf.for %i = %zero to %four step %one iter_args(%t = %x) -> tensor<8xf32> {
    %j = tensor.extract %at[%i] : tensor<4xindex>
    %ok = arith.cmpi ult, %j, %eight : index
    %u = scf.if %ok -> tensor<8xf32> {
      %new = tensor.extract %v[%i] : tensor<4xf32>
      %old = tensor.extract %t[%j] : tensor<8xf32>
      %sum = arith.addf %old, %new : f32
      %w = tensor.insert %sum into %t[%j] : tensor<8xf32>
      scf.yield %w : tensor<8xf32>
    } else {
      scf.yield %t : tensor<8xf32>
    }
    scf.yield %u : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// The load stays under its guard: where that does not hold, there is no such element.
// CHECK-LABEL: func.func @load_under_the_guard
// CHECK-SAME: (%{{.*}}: tensor<8xf32>, %[[V:.*]]: tensor<3xf32>, %{{.*}}: index)
// CHECK-NOT: scf.for
// CHECK: %[[U:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK-NEXT: %[[L:.*]] = tensor.extract %[[V]]
// CHECK-NEXT: scf.yield %[[L]] : f32
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f32
// CHECK-NEXT: scf.yield %[[ZERO]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: linalg.yield %[[U]] : f32
// CHECK: tensor.insert_slice
// CHECK-NOT: scf.if
func.func @load_under_the_guard(%x: tensor<8xf32>, %v: tensor<3xf32>, %k: index) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %r = scf.for %i = %zero to %four step %one iter_args(%t = %x) -> tensor<8xf32> {
    %j = arith.addi %i, %k : index
    %ok = arith.cmpi ult, %j, %three : index
    %u = scf.if %ok -> tensor<8xf32> {
      %new = tensor.extract %v[%j] : tensor<3xf32>
      %w = tensor.insert %new into %t[%i] : tensor<8xf32>
      scf.yield %w : tensor<8xf32>
    } else {
      scf.yield %t : tensor<8xf32>
    }
    scf.yield %u : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @load_before_the_guard
// CHECK-NOT: scf.
// CHECK: library_call = "scatter_max"
// CHECK-NOT: scf.
func.func @load_before_the_guard(%x: tensor<8xf32>, %v: tensor<4xf32>, %at: tensor<4xindex>, %c: f32) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %r = scf.for %i = %zero to %four step %one iter_args(%t = %x) -> tensor<8xf32> {
    %j = tensor.extract %at[%i] : tensor<4xindex>
    %new = tensor.extract %v[%j] : tensor<4xf32>
    %ok = arith.cmpf olt, %new, %c : f32
    %u = scf.if %ok -> tensor<8xf32> {
      %old = tensor.extract %t[%j] : tensor<8xf32>
      %most = arith.maximumf %new, %old : f32
      %w = tensor.insert %most into %t[%j] : tensor<8xf32>
      scf.yield %w : tensor<8xf32>
    } else {
      scf.yield %t : tensor<8xf32>
    }
    scf.yield %u : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @other_branch_that_writes_too_stays
// CHECK: scf.for
// CHECK-NOT: library_call
func.func @other_branch_that_writes_too_stays(%x: tensor<8xf32>, %v: f32, %ok: i1) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %r = scf.for %i = %zero to %four step %one iter_args(%t = %x) -> tensor<8xf32> {
    %u = scf.if %ok -> tensor<8xf32> {
      %w = tensor.insert %v into %t[%i] : tensor<8xf32>
      scf.yield %w : tensor<8xf32>
    } else {
      %w = tensor.insert %v into %t[%zero] : tensor<8xf32>
      scf.yield %w : tensor<8xf32>
    }
    scf.yield %u : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// The guard depends on what earlier iterations have put there.
// CHECK-LABEL: func.func @guard_that_reads_the_carried_tensor_stays
// CHECK: scf.for
// CHECK-NOT: library_call
func.func @guard_that_reads_the_carried_tensor_stays(%x: tensor<8xi32>, %v: i32) -> tensor<8xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %r = scf.for %i = %zero to %four step %one iter_args(%t = %x) -> tensor<8xi32> {
    %next = arith.addi %i, %one : index
    %old = tensor.extract %t[%i] : tensor<8xi32>
    %ok = arith.cmpi slt, %old, %v : i32
    %u = scf.if %ok -> tensor<8xi32> {
      %w = tensor.insert %v into %t[%next] : tensor<8xi32>
      scf.yield %w : tensor<8xi32>
    } else {
      scf.yield %t : tensor<8xi32>
    }
    scf.yield %u : tensor<8xi32>
  }
  return %r : tensor<8xi32>
}

// CHECK-LABEL: func.func @difference_is_no_combination
// CHECK: scf.for
// CHECK-NOT: library_call
func.func @difference_is_no_combination(%x: tensor<8xf32>, %v: f32) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %r = scf.for %i = %zero to %four step %one iter_args(%t = %x) -> tensor<8xf32> {
    %old = tensor.extract %t[%i] : tensor<8xf32>
    %new = arith.subf %old, %v : f32
    %w = tensor.insert %new into %t[%i] : tensor<8xf32>
    scf.yield %w : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
