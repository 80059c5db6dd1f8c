// RUN: ipu-opt %s --ipu-trim-calls | filecheck %s

// CHECK-LABEL: func.func @callers_use_what_they_have
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK: %[[R:.*]] = call @gives_what_it_got(%[[X]]) {ipu.outlined, no_inline} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[Y]], %[[R]], %[[R]]
func.func @callers_use_what_they_have(%x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %r:3 = call @gives_what_it_got(%x, %y) {ipu.outlined, no_inline}
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func private @gives_what_it_got
// CHECK-SAME: (%{{[a-z0-9]+}}: tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %{{[a-z0-9]+}} : tensor<4xf32>
func.func private @gives_what_it_got(%x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y, %z, %z : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A function that calls another one gives what that gives, and its callers get what they handed to it.
// CHECK-LABEL: func.func @through_another
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: return %[[X]]
func.func @through_another(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = call @calls_another(%x) {ipu.outlined, no_inline} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func private @calls_another(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = call @same(%x) {ipu.outlined, no_inline} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func private @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @hands_a_variable_over
func.func @hands_a_variable_over(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r:2 = call @leaves_one_variable(%x, %w) {ipu.outlined, no_inline}
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// A variable that stays as it is, is none that the function updates.
// CHECK-LABEL: func.func private @leaves_one_variable
// CHECK-SAME: (%{{[a-z0-9]+}}: tensor<4xf32>, %{{[a-z0-9]+}}: tensor<4xf32> {ipu.updated = 1 : i64}) -> (tensor<4xf32> {ipu.updated = 1 : i64})
func.func private @leaves_one_variable(%v: tensor<4xf32> {ipu.updated = 0 : i64}, %w: tensor<4xf32> {ipu.updated = 1 : i64})
    -> (tensor<4xf32> {ipu.updated = 0 : i64}, tensor<4xf32> {ipu.updated = 1 : i64}) {
  %z = linalg.exp ins(%v : tensor<4xf32>) outs(%w : tensor<4xf32>) -> tensor<4xf32>
  return %v, %z : tensor<4xf32>, tensor<4xf32>
}
