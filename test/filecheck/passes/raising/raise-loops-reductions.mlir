// RUN: ipu-opt %s --ipu-raise-loops | filecheck %s

// The rank of an element is the number of smaller ones: a reduction per element, and then one scatter.
// CHECK-LABEL: func.func @sort_by_rank
// CHECK-NOT: scf.for
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK: arith.cmpi slt
// CHECK-NOT: scf.for
// CHECK: library_call = "scatter_set"
func.func @sort_by_rank(%x: tensor<4xi32>, %e: tensor<4xi32>) -> tensor<4xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %r = scf.for %i = %zero to %four step %one iter_args(%t = %e) -> tensor<4xi32> {
    %mine = tensor.extract %x[%i] : tensor<4xi32>
    %rank = scf.for %j = %zero to %four step %one iter_args(%n = %zero) -> index {
      %other = tensor.extract %x[%j] : tensor<4xi32>
      %less = arith.cmpi slt, %other, %mine : i32
      %more = arith.addi %n, %one : index
      %count = arith.select %less, %more, %n : index
      scf.yield %count : index
    }
    %w = tensor.insert %mine into %t[%rank] : tensor<4xi32>
    scf.yield %w : tensor<4xi32>
  }
  return %r : tensor<4xi32>
}

// The window's largest element gets the gradient: value and place are reduced together.
// CHECK-LABEL: func.func @select_and_scatter
// CHECK-NOT: scf.for
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xindex>)
// CHECK-NOT: scf.for
// CHECK: library_call = "scatter_add"
func.func @select_and_scatter(%x: tensor<8xf32>, %g: tensor<4xf32>, %e: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %low = arith.constant 0xFF800000 : f32
  %r = scf.for %i = %zero to %four step %one iter_args(%t = %e) -> tensor<8xf32> {
    %begin = arith.muli %i, %two : index
    %found:2 = scf.for %j = %zero to %two step %one iter_args(%m = %low, %at = %zero) -> (f32, index) {
      %here = arith.addi %begin, %j : index
      %v = tensor.extract %x[%here] : tensor<8xf32>
      %greater = arith.cmpf ogt, %v, %m : f32
      %best = arith.select %greater, %v, %m : f32
      %place = arith.select %greater, %here, %at : index
      scf.yield %best, %place : f32, index
    }
    %gradient = tensor.extract %g[%i] : tensor<4xf32>
    %old = tensor.extract %t[%found#1] : tensor<8xf32>
    %sum = arith.addf %old, %gradient : f32
    %w = tensor.insert %sum into %t[%found#1] : tensor<8xf32>
    scf.yield %w : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// What an inner loop loads under the guard stays under it; where the guard does not hold, the sum stays what it was.
// CHECK-LABEL: func.func @reduction_under_the_guard
// CHECK-NOT: scf.for
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK: ^bb0(%{{.*}}: i1, %[[SUM:.*]]: f32):
// CHECK: scf.if
// CHECK: tensor.extract
// CHECK: else
// CHECK-NEXT: scf.yield %[[SUM]] : f32
// CHECK-NOT: scf.for
// CHECK: arith.select
func.func @reduction_under_the_guard(%x: tensor<5xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %start = arith.constant 0.0 : f32
  %r = scf.for %i = %zero to %four step %one iter_args(%t = %e) -> tensor<4xf32> {
    %ok = arith.cmpi ult, %i, %three : index
    %u = scf.if %ok -> tensor<4xf32> {
      %sum = scf.for %j = %zero to %three step %one iter_args(%s = %start) -> f32 {
        %here = arith.addi %i, %j : index
        %v = tensor.extract %x[%here] : tensor<5xf32>
        %next = arith.addf %s, %v : f32
        scf.yield %next : f32
      }
      %w = tensor.insert %sum into %t[%i] : tensor<4xf32>
      scf.yield %w : tensor<4xf32>
    } else {
      scf.yield %t : tensor<4xf32>
    }
    scf.yield %u : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @inner_loop_of_unknown_length_stays
// CHECK-COUNT-2: scf.for
// CHECK-NOT: library_call
func.func @inner_loop_of_unknown_length_stays(%x: tensor<4xi32>, %e: tensor<4xi32>, %n: index) -> tensor<4xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %r = scf.for %i = %zero to %four step %one iter_args(%t = %e) -> tensor<4xi32> {
    %at = scf.for %j = %zero to %n step %one iter_args(%k = %zero) -> index {
      %next = arith.addi %k, %j : index
      scf.yield %next : index
    }
    %v = tensor.extract %x[%i] : tensor<4xi32>
    %w = tensor.insert %v into %t[%at] : tensor<4xi32>
    scf.yield %w : tensor<4xi32>
  }
  return %r : tensor<4xi32>
}
