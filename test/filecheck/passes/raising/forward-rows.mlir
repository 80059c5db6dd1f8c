// RUN: ipu-opt %s --ipu-forward-rows --canonicalize | filecheck %s

// Weights that each iteration stores are the weights; nothing is stored.
// CHECK-LABEL: func.func @alike_in_all_rows(
// CHECK-SAME:  %[[W:[a-z0-9]+]]: tensor<4xf32>
// CHECK-NOT:   tensor.insert_slice
// CHECK:       %[[N:.*]] = scf.for {{.*}} -> (i32)
// CHECK-NOT:   tensor.insert_slice
// CHECK:       return %[[N]], %[[W]]
func.func @alike_in_all_rows(%w: tensor<4xf32>, %all: tensor<3x4xf32>, %n: i32, %at: index) -> (i32, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = arith.constant 2 : index
  %end = arith.constant 3 : index
  %r:2 = scf.for %t = %c0 to %end step %c1 iter_args(%s = %n, %stored = %all) -> (i32, tensor<3x4xf32>) {
    %number = arith.index_cast %t : index to i32
    %sum = arith.muli %s, %number : i32
    %place = arith.index_cast %number : i32 to index
    %low = arith.maxsi %place, %c0 : index
    %clamped = arith.minsi %low, %last : index
    %back = arith.subi %last, %clamped : index
    %kept = tensor.insert_slice %w into %stored[%clamped, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
    scf.yield %sum, %kept : i32, tensor<3x4xf32>
  }
  %row = tensor.extract_slice %r#1[%at, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
  return %r#0, %row : i32, tensor<4xf32>
}

// Somebody takes all rows at once.
// CHECK-LABEL: func.func @taken_as_a_whole(
// CHECK:       tensor.insert_slice
// CHECK:       return %[[R:.*]]#0, %[[R]]#1
func.func @taken_as_a_whole(%w: tensor<4xf32>, %all: tensor<3x4xf32>, %n: i32, %at: index) -> (i32, tensor<3x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = arith.constant 2 : index
  %end = arith.constant 3 : index
  %r:2 = scf.for %t = %c0 to %end step %c1 iter_args(%s = %n, %stored = %all) -> (i32, tensor<3x4xf32>) {
    %number = arith.index_cast %t : index to i32
    %sum = arith.muli %s, %number : i32
    %place = arith.index_cast %number : i32 to index
    %low = arith.maxsi %place, %c0 : index
    %clamped = arith.minsi %low, %last : index
    %back = arith.subi %last, %clamped : index
    %kept = tensor.insert_slice %w into %stored[%clamped, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
    scf.yield %sum, %kept : i32, tensor<3x4xf32>
  }
  return %r#0, %r#1 : i32, tensor<3x4xf32>
}

// The last row is what it was.
// CHECK-LABEL: func.func @fewer_rounds_than_rows(
// CHECK:       tensor.insert_slice
// CHECK:       tensor.extract_slice
func.func @fewer_rounds_than_rows(%w: tensor<4xf32>, %all: tensor<3x4xf32>, %n: i32, %at: index) -> (i32, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = arith.constant 2 : index
  %end = arith.constant 2 : index
  %r:2 = scf.for %t = %c0 to %end step %c1 iter_args(%s = %n, %stored = %all) -> (i32, tensor<3x4xf32>) {
    %number = arith.index_cast %t : index to i32
    %sum = arith.muli %s, %number : i32
    %place = arith.index_cast %number : i32 to index
    %low = arith.maxsi %place, %c0 : index
    %clamped = arith.minsi %low, %last : index
    %back = arith.subi %last, %clamped : index
    %kept = tensor.insert_slice %w into %stored[%clamped, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
    scf.yield %sum, %kept : i32, tensor<3x4xf32>
  }
  %row = tensor.extract_slice %r#1[%at, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
  return %r#0, %row : i32, tensor<4xf32>
}

// The place is not the counter itself.
// CHECK-LABEL: func.func @another_place(
// CHECK:       tensor.insert_slice
// CHECK:       tensor.extract_slice
func.func @another_place(%w: tensor<4xf32>, %all: tensor<3x4xf32>, %n: i32, %at: index) -> (i32, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = arith.constant 2 : index
  %end = arith.constant 3 : index
  %r:2 = scf.for %t = %c0 to %end step %c1 iter_args(%s = %n, %stored = %all) -> (i32, tensor<3x4xf32>) {
    %number = arith.index_cast %t : index to i32
    %sum = arith.muli %s, %number : i32
    %place = arith.index_cast %number : i32 to index
    %low = arith.maxsi %place, %c0 : index
    %clamped = arith.minsi %low, %last : index
    %back = arith.minsi %clamped, %c1 : index
    %kept = tensor.insert_slice %w into %stored[%back, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
    scf.yield %sum, %kept : i32, tensor<3x4xf32>
  }
  %row = tensor.extract_slice %r#1[%at, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
  return %r#0, %row : i32, tensor<4xf32>
}

// Each row is another one.
// CHECK-LABEL: func.func @made_in_the_loop(
// CHECK:       tensor.insert_slice
// CHECK:       tensor.extract_slice
func.func @made_in_the_loop(%w: tensor<4xf32>, %all: tensor<3x4xf32>, %n: i32, %at: index) -> (i32, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = arith.constant 2 : index
  %end = arith.constant 3 : index
  %r:2 = scf.for %t = %c0 to %end step %c1 iter_args(%s = %n, %stored = %all) -> (i32, tensor<3x4xf32>) {
    %number = arith.index_cast %t : index to i32
    %sum = arith.muli %s, %number : i32
    %place = arith.index_cast %number : i32 to index
    %low = arith.maxsi %place, %c0 : index
    %clamped = arith.minsi %low, %last : index
    %back = arith.subi %last, %clamped : index
    %float = arith.sitofp %s : i32 to f32
    %made = tensor.from_elements %float, %float, %float, %float : tensor<4xf32>
    %kept = tensor.insert_slice %made into %stored[%clamped, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
    scf.yield %sum, %kept : i32, tensor<3x4xf32>
  }
  %row = tensor.extract_slice %r#1[%at, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
  return %r#0, %row : i32, tensor<4xf32>
}

// A gradient adds to rows of zeros, and puts zeros where it has read: it takes the rows, and puts what it adds.
// CHECK-LABEL: func.func @rows_that_are_read_where_they_are_put(
// CHECK-SAME:  %[[GIVEN:[a-z0-9]+]]: tensor<3x4xf32>
// CHECK:       %[[R:.*]]:2 = scf.for %{{.*}} iter_args(%[[S:.*]] = %{{.*}}, %[[SUMS:.*]] = %{{.*}}) -> (tensor<4xf32>, tensor<3x4xf32>)
// CHECK:         %[[ROW:.*]] = tensor.extract_slice %[[GIVEN]]
// CHECK:         %[[NEXT:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[ROW]] :
// CHECK:         %[[PUT:.*]] = tensor.insert_slice %[[NEXT]] into %[[SUMS]]
// CHECK-NEXT:    scf.yield %[[NEXT]], %[[PUT]]
func.func @rows_that_are_read_where_they_are_put(%given: tensor<3x4xf32>, %s0: tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = arith.constant 2 : index
  %end = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %flat = tensor.empty() : tensor<4xf32>
  %empty = tensor.empty() : tensor<3x4xf32>
  %none = linalg.fill ins(%zero : f32) outs(%flat : tensor<4xf32>) -> tensor<4xf32>
  %nothing = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x4xf32>) -> tensor<3x4xf32>
  %r:3 = scf.for %t = %c0 to %end step %c1 iter_args(%s = %s0, %left = %given, %sums = %nothing) -> (tensor<4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
    %back = arith.subi %last, %t : index
    %row = tensor.extract_slice %left[%back, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
    %next = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%s, %row : tensor<4xf32>, tensor<4xf32>) outs(%flat : tensor<4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      linalg.yield %m : f32
    } -> tensor<4xf32>
    %gone = tensor.insert_slice %none into %left[%back, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
    %so_far = tensor.extract_slice %sums[%back, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
    %sum = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%so_far, %next : tensor<4xf32>, tensor<4xf32>) outs(%flat : tensor<4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.addf %p, %q : f32
      linalg.yield %m : f32
    } -> tensor<4xf32>
    %put = tensor.insert_slice %sum into %sums[%back, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
    scf.yield %next, %gone, %put : tensor<4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
  }
  return %r#0, %r#2 : tensor<4xf32>, tensor<3x4xf32>
}

// Another row than the one that is put may have been put before.
// CHECK-LABEL: func.func @rows_that_are_put_before(
// CHECK:       scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[LEFT:.*]] = %{{.*}})
// CHECK:         tensor.extract_slice %[[LEFT]]
func.func @rows_that_are_put_before(%given: tensor<3x4xf32>, %s0: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = arith.constant 2 : index
  %end = arith.constant 3 : index
  %r:2 = scf.for %t = %c0 to %end step %c1 iter_args(%s = %s0, %left = %given) -> (tensor<4xf32>, tensor<3x4xf32>) {
    %back = arith.subi %last, %t : index
    %row = tensor.extract_slice %left[%back, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
    %gone = tensor.insert_slice %s into %left[%t, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
    scf.yield %row, %gone : tensor<4xf32>, tensor<3x4xf32>
  }
  return %r#0 : tensor<4xf32>
}
