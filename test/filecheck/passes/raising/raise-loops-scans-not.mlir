// RUN: ipu-opt %s --ipu-raise-loops | filecheck %s

// Each of these differs in one thing from running sums, and stays a loop.


// A recurrence.
// CHECK-LABEL: func.func @recurrence
// CHECK: scf.for
// CHECK-NOT: library_call
func.func @recurrence(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
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
        %half = arith.mulf %old, %own : f32
        %sum = arith.addf %half, %own : f32
        scf.yield %sum : f32
      }
      %new = tensor.insert %v into %t[%i, %j] : tensor<3x5xf32>
      scf.yield %new : tensor<3x5xf32>
    }
    scf.yield %q : tensor<3x5xf32>
  }
  return %r : tensor<3x5xf32>
}

// A difference does not run.
// CHECK-LABEL: func.func @difference
// CHECK: scf.for
// CHECK-NOT: library_call
func.func @difference(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
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
        %sum = arith.subf %old, %own : f32
        scf.yield %sum : f32
      }
      %new = tensor.insert %v into %t[%i, %j] : tensor<3x5xf32>
      scf.yield %new : tensor<3x5xf32>
    }
    scf.yield %q : tensor<3x5xf32>
  }
  return %r : tensor<3x5xf32>
}

// Combined with the element two places before.
// CHECK-LABEL: func.func @two_before
// CHECK: scf.for
// CHECK-NOT: library_call
func.func @two_before(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %two = arith.constant 2 : index
  %empty = tensor.empty() : tensor<3x5xf32>
  %r = scf.for %i = %zero to %three step %one iter_args(%s = %empty) -> (tensor<3x5xf32>) {
    %q = scf.for %j = %zero to %five step %one iter_args(%t = %s) -> (tensor<3x5xf32>) {
      %is_first = arith.cmpi ult, %j, %two : index
      %v = scf.if %is_first -> (f32) {
        %x0 = tensor.extract %x[%i, %j] : tensor<3x5xf32>
        scf.yield %x0 : f32
      } else {
        %b = arith.subi %j, %two : index
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

// The first element comes from what the loops have written.
// CHECK-LABEL: func.func @begins_with_a_result
// CHECK: scf.for
// CHECK-NOT: library_call
func.func @begins_with_a_result(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %empty = tensor.empty() : tensor<3x5xf32>
  %r = scf.for %i = %zero to %three step %one iter_args(%s = %empty) -> (tensor<3x5xf32>) {
    %q = scf.for %j = %zero to %five step %one iter_args(%t = %s) -> (tensor<3x5xf32>) {
      %is_first = arith.cmpi eq, %j, %zero : index
      %v = scf.if %is_first -> (f32) {
        %x0 = tensor.extract %t[%zero, %zero] : tensor<3x5xf32>
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

// What is added comes from what the loops have written.
// CHECK-LABEL: func.func @adds_a_result
// CHECK: scf.for
// CHECK-NOT: library_call
func.func @adds_a_result(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
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
        %own = tensor.extract %t[%i, %zero] : tensor<3x5xf32>
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

// The branch is taken in the second iteration.
// CHECK-LABEL: func.func @another_first
// CHECK: scf.for
// CHECK-NOT: library_call
func.func @another_first(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %empty = tensor.empty() : tensor<3x5xf32>
  %r = scf.for %i = %zero to %three step %one iter_args(%s = %empty) -> (tensor<3x5xf32>) {
    %q = scf.for %j = %zero to %five step %one iter_args(%t = %s) -> (tensor<3x5xf32>) {
      %is_first = arith.cmpi eq, %j, %one : index
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

// The tensor of the last ones has elements beyond those that the loops write.
// CHECK-LABEL: func.func @more_than_the_last_ones
// CHECK: scf.for
// CHECK-NOT: library_call
func.func @more_than_the_last_ones(%x: tensor<3x5xf32>, %y: tensor<4xf32>) -> (tensor<3x5xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %empty = tensor.empty() : tensor<3x5xf32>
  %r:2 = scf.for %i = %zero to %three step %one iter_args(%s = %empty, %ends = %y) -> (tensor<3x5xf32>, tensor<4xf32>) {
    %q:2 = scf.for %j = %zero to %five step %one iter_args(%t = %s, %u = %ends) -> (tensor<3x5xf32>, tensor<4xf32>) {
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
      %last = tensor.insert %v into %u[%i] : tensor<4xf32>
      scf.yield %new, %last : tensor<3x5xf32>, tensor<4xf32>
    }
    scf.yield %q#0, %q#1 : tensor<3x5xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<3x5xf32>, tensor<4xf32>
}
