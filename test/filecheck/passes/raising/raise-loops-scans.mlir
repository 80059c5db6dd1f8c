// RUN: ipu-opt %s --ipu-raise-loops | filecheck %s

// A branch takes the first element; the others are combined with the one before.
// CHECK-LABEL: func.func @first_by_a_branch
// CHECK-SAME: (%[[X:.*]]: tensor<3x5xf32>)
// CHECK-NOT: scf.for
// CHECK: %[[IN:.*]] = tensor.expand_shape %[[X]] {{.*}} into tensor<3x5x1xf32>
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}}library_call = "scan_add"} ins(%[[IN]]
// CHECK: %[[Y:.*]] = tensor.collapse_shape %[[SUMS]]
// CHECK: return %[[Y]]
func.func @first_by_a_branch(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %empty = tensor.empty() : tensor<3x5xf32>
  %r = scf.for %i = %zero to %three step %one iter_args(%s = %empty) -> (tensor<3x5xf32>) {
    %q = scf.for %j = %zero to %five step %one iter_args(%t = %s) -> (tensor<3x5xf32>) {
      %is_first = arith.cmpi eq, %j, %zero : index
      %v = scf.if %is_first -> (f32) {
        %x0 = tensor.extract %x[%i, %j] : tensor<3x5xf32>
        scf.yield %x0 : f32
      } else {
        %b = arith.subi %j, %one : index
        %old = tensor.extract %t[%i, %b] : tensor<3x5xf32>
        %own = tensor.extract %x[%i, %j] : tensor<3x5xf32>
        %sum = arith.addf %old, %own : f32
        scf.yield %sum : f32
      }
      %new = tensor.insert %v into %t[%i, %j] : tensor<3x5xf32>
      scf.yield %new : tensor<3x5xf32>
    }
    scf.yield %q : tensor<3x5xf32>
  }
  return %r : tensor<3x5xf32>
}

// Along the outer loop, another value in the beginning.
// CHECK-LABEL: func.func @along_the_outer_loop
// CHECK-NOT: scf.for
// CHECK: scf.if
// CHECK: arith.mulf
// CHECK: tensor.expand_shape %{{.*}} into tensor<1x3x5xf32>
// CHECK: library_call = "scan_mul"
func.func @along_the_outer_loop(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %empty = tensor.empty() : tensor<3x5xf32>
  %r = scf.for %i = %zero to %three step %one iter_args(%s = %empty) -> (tensor<3x5xf32>) {
    %q = scf.for %j = %zero to %five step %one iter_args(%t = %s) -> (tensor<3x5xf32>) {
      %is_first = arith.cmpi eq, %i, %zero : index
      %v = scf.if %is_first -> (f32) {
        %x0 = tensor.extract %x[%i, %j] : tensor<3x5xf32>
        %twice = arith.addf %x0, %x0 : f32
        %square = arith.mulf %twice, %x0 : f32
        scf.yield %square : f32
      } else {
        %b = arith.subi %i, %one : index
        %old = tensor.extract %t[%b, %j] : tensor<3x5xf32>
        %own = tensor.extract %x[%i, %j] : tensor<3x5xf32>
        %sum = arith.mulf %own, %old : f32
        scf.yield %sum : f32
      }
      %new = tensor.insert %v into %t[%i, %j] : tensor<3x5xf32>
      scf.yield %new : tensor<3x5xf32>
    }
    scf.yield %q : tensor<3x5xf32>
  }
  return %r : tensor<3x5xf32>
}

// A second tensor takes what comes last.
// CHECK-LABEL: func.func @with_the_last
// CHECK-NOT: scf.for
// CHECK: library_call = "scan_max"
// CHECK: %[[ALL:.*]] = tensor.collapse_shape
// CHECK: %[[LAST:.*]] = tensor.extract_slice %[[ALL]][0, 4] [3, 1] [1, 1] : tensor<3x5xi32> to tensor<3xi32>
// CHECK: return %[[ALL]], %[[LAST]]
func.func @with_the_last(%x: tensor<3x5xi32>) -> (tensor<3x5xi32>, tensor<3xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %empty = tensor.empty() : tensor<3x5xi32>
  %room = tensor.empty() : tensor<3xi32>
  %r:2 = scf.for %i = %zero to %three step %one iter_args(%s = %empty, %a = %room) -> (tensor<3x5xi32>, tensor<3xi32>) {
    %q:2 = scf.for %j = %zero to %five step %one iter_args(%t = %s, %c = %a) -> (tensor<3x5xi32>, tensor<3xi32>) {
      %is_first = arith.cmpi eq, %j, %zero : index
      %v = scf.if %is_first -> (i32) {
        %x0 = tensor.extract %x[%i, %j] : tensor<3x5xi32>
        scf.yield %x0 : i32
      } else {
        %b = arith.subi %j, %one : index
        %old = tensor.extract %t[%i, %b] : tensor<3x5xi32>
        %own = tensor.extract %x[%i, %j] : tensor<3x5xi32>
        %sum = arith.maxsi %old, %own : i32
        scf.yield %sum : i32
      }
      %new = tensor.insert %v into %t[%i, %j] : tensor<3x5xi32>
      %last = tensor.insert %v into %c[%i] : tensor<3xi32>
      scf.yield %new, %last : tensor<3x5xi32>, tensor<3xi32>
    }
    scf.yield %q#0, %q#1 : tensor<3x5xi32>, tensor<3xi32>
  }
  return %r#0, %r#1 : tensor<3x5xi32>, tensor<3xi32>
}

// The tensor has the first elements from the start.
// CHECK-LABEL: func.func @from_the_second
// CHECK-SAME: (%[[X:.*]]: tensor<6xf32>, %[[Y:.*]]: tensor<6xf32>)
// CHECK-NOT: scf.for
// CHECK: %[[TERMS:.*]] = tensor.insert_slice %{{.*}} into %[[Y]][1] [5] [1] : tensor<5xf32> into tensor<6xf32>
// CHECK: tensor.expand_shape %[[TERMS]]
// CHECK: library_call = "scan_min"
func.func @from_the_second(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  %one = arith.constant 1 : index
  %six = arith.constant 6 : index
  %r = scf.for %i = %one to %six step %one iter_args(%t = %y) -> (tensor<6xf32>) {
    %b = arith.subi %i, %one : index
    %old = tensor.extract %t[%b] : tensor<6xf32>
    %own = tensor.extract %x[%i] : tensor<6xf32>
    %v = arith.minimumf %old, %own : f32
    %new = tensor.insert %v into %t[%i] : tensor<6xf32>
    scf.yield %new : tensor<6xf32>
  }
  return %r : tensor<6xf32>
}

// The loop carries the sum; what goes into the tensor is the one before the element, and the last one comes out.
// CHECK-LABEL: func.func @carried_exclusive
// CHECK-NOT: scf.for
// CHECK: library_call = "scan_add"
// CHECK: %[[ALL:.*]] = tensor.collapse_shape
// CHECK: %[[END:.*]] = tensor.extract %[[ALL]][%{{.*}}]
// CHECK: %[[BUT_LAST:.*]] = tensor.extract_slice %[[ALL]][0] [5] [1]
// CHECK: %[[Y:.*]] = tensor.insert_slice %[[BUT_LAST]] into %{{.*}}[1] [5] [1]
// CHECK: return %[[Y]], %[[END]]
func.func @carried_exclusive(%x: tensor<6xi32>, %begin: i32) -> (tensor<6xi32>, i32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %six = arith.constant 6 : index
  %empty = tensor.empty() : tensor<6xi32>
  %r:2 = scf.for %i = %zero to %six step %one iter_args(%t = %empty, %old = %begin) -> (tensor<6xi32>, i32) {
    %own = tensor.extract %x[%i] : tensor<6xi32>
    %v = arith.addi %old, %own : i32
    %new = tensor.insert %old into %t[%i] : tensor<6xi32>
    scf.yield %new, %v : tensor<6xi32>, i32
  }
  return %r#0, %r#1 : tensor<6xi32>, i32
}

// Sums of 16-bit floats are f32, and each is rounded once.
// CHECK-LABEL: func.func @rounded
// CHECK-NOT: scf.for
// CHECK: arith.extf
// CHECK: library_call = "scan_add"} {{.*}} outs(%{{.*}} : tensor<3x5x1xf32>)
// CHECK: arith.truncf
// CHECK: return {{.*}} : tensor<3x5xf16>
func.func @rounded(%x: tensor<3x5xf16>) -> tensor<3x5xf16> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %empty = tensor.empty() : tensor<3x5xf16>
  %r = scf.for %i = %zero to %three step %one iter_args(%s = %empty) -> (tensor<3x5xf16>) {
    %q = scf.for %j = %zero to %five step %one iter_args(%t = %s) -> (tensor<3x5xf16>) {
      %is_first = arith.cmpi eq, %j, %zero : index
      %v = scf.if %is_first -> (f16) {
        %x0 = tensor.extract %x[%i, %j] : tensor<3x5xf16>
        scf.yield %x0 : f16
      } else {
        %b = arith.subi %j, %one : index
        %old = tensor.extract %t[%i, %b] : tensor<3x5xf16>
        %own = tensor.extract %x[%i, %j] : tensor<3x5xf16>
        %sum = arith.addf %old, %own : f16
        scf.yield %sum : f16
      }
      %new = tensor.insert %v into %t[%i, %j] : tensor<3x5xf16>
      scf.yield %new : tensor<3x5xf16>
    }
    scf.yield %q : tensor<3x5xf16>
  }
  return %r : tensor<3x5xf16>
}
