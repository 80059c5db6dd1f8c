// RUN: ipu-opt %s --ipu-raise-loops | filecheck %s

// A branch that also gives a number cannot be taken apart with the loop, and stays one.
// CHECK-LABEL: func.func @a_tensor_and_a_number
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NOT: scf.if
// CHECK: return
func.func @a_tensor_and_a_number(%v: tensor<4xf32>, %a: tensor<4xf32>, %begin: f32) -> (tensor<4xf32>, f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %r:2 = scf.for %i = %zero to %four step %one iter_args(%s = %a, %n = %begin) -> (tensor<4xf32>, f32) {
    %value = tensor.extract %v[%i] : tensor<4xf32>
    %is_more = arith.cmpf ogt, %value, %n : f32
    %q:2 = scf.if %is_more -> (tensor<4xf32>, f32) {
      %x = tensor.insert %value into %s[%i] : tensor<4xf32>
      %product = arith.mulf %value, %n : f32
      scf.yield %x, %product : tensor<4xf32>, f32
    } else {
      scf.yield %s, %n : tensor<4xf32>, f32
    }
    scf.yield %q#0, %q#1 : tensor<4xf32>, f32
  }
  return %r#0, %r#1 : tensor<4xf32>, f32
}
