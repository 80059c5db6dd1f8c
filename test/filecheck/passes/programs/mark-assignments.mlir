// RUN: ipu-opt %s --ipu-mark-assignments | filecheck %s

"ipu.variable"() {sym_name = "v", type = tensor<4xf32>} : () -> ()
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()

// CHECK-LABEL: func.func @new_value
// CHECK: linalg.exp
// CHECK-NEXT: "ipu.assigned"() {argument = 1 : i64} : () -> ()
// CHECK-NEXT: return
func.func @new_value(%v: tensor<4xf32> {ipu.variable = @v}, %w: tensor<4xf32> {ipu.variable = @w})
    -> (tensor<4xf32> {ipu.variable = @w}) {
  %y = linalg.exp ins(%v : tensor<4xf32>) outs(%w : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @value_that_stays
// CHECK-NOT: ipu.assigned
// CHECK: return
func.func @value_that_stays(%v: tensor<4xf32> {ipu.variable = @v}) -> (tensor<4xf32> {ipu.variable = @v}) {
  return %v : tensor<4xf32>
}

// CHECK-LABEL: func.func @one_arm_assigns
// CHECK: scf.if
// CHECK-NEXT: linalg.exp
// CHECK-NEXT: "ipu.assigned"() {argument = 1 : i64}
// CHECK-NEXT: scf.yield
// CHECK-NEXT: else
// CHECK-NEXT: scf.yield
// CHECK-NOT: ipu.assigned
// CHECK: return
func.func @one_arm_assigns(%p: i1, %v: tensor<4xf32> {ipu.variable = @v}) -> (tensor<4xf32> {ipu.variable = @v}) {
  %r = scf.if %p -> tensor<4xf32> {
    %y = linalg.exp ins(%v : tensor<4xf32>) outs(%v : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %v : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @loop_that_begins_with_it
// CHECK: scf.for
// CHECK: "ipu.assigned"() {argument = 1 : i64}
// CHECK-NEXT: scf.yield
// CHECK-NOT: ipu.assigned
// CHECK: return
func.func @loop_that_begins_with_it(%n: index, %v: tensor<4xf32> {ipu.variable = @v})
    -> (tensor<4xf32> {ipu.variable = @v}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %v) -> tensor<4xf32> {
    %y = linalg.exp ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// A loop that begins with something else may run no iteration: the variable is assigned all the same.
// CHECK-LABEL: func.func @loop_that_begins_with_another
// CHECK: scf.for
// CHECK-NOT: ipu.assigned
// CHECK: }
// CHECK-NEXT: "ipu.assigned"() {argument = 2 : i64}
// CHECK-NEXT: return
func.func @loop_that_begins_with_another(%n: index, %x: tensor<4xf32>, %v: tensor<4xf32> {ipu.variable = @v})
    -> (tensor<4xf32> {ipu.variable = @v}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %y = linalg.exp ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @body_of_a_while
// CHECK: scf.while
// CHECK-NOT: ipu.assigned
// CHECK: scf.condition
// CHECK: "ipu.assigned"() {argument = 1 : i64}
// CHECK-NEXT: scf.yield
// CHECK-NOT: ipu.assigned
// CHECK: return
func.func @body_of_a_while(%p: i1, %v: tensor<4xf32> {ipu.variable = @v}) -> (tensor<4xf32> {ipu.variable = @v}) {
  %r = scf.while (%a = %v) : (tensor<4xf32>) -> tensor<4xf32> {
    scf.condition(%p) %a : tensor<4xf32>
  } do {
  ^bb0(%b: tensor<4xf32>):
    %y = linalg.exp ins(%b : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func private @outlined
// CHECK: "ipu.assigned"() {argument = 0 : i64}
// CHECK-NEXT: return
func.func private @outlined(%w: tensor<4xf32> {ipu.updated = 0 : i64}) -> (tensor<4xf32> {ipu.updated = 0 : i64}) {
  %y = linalg.exp ins(%w : tensor<4xf32>) outs(%w : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
