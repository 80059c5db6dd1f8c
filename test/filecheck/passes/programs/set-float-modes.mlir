// RUN: ipu-opt %s --ipu-set-float-modes="rounding=stochastic overflow=clip seed=7" | filecheck %s
// RUN: ipu-opt %s --ipu-set-float-modes=overflow=nan | filecheck %s --check-prefix=NAN
// RUN: ipu-opt %s --ipu-set-float-modes=exceptions=div0,oflo | filecheck %s --check-prefix=CHECKED
// RUN: ipu-opt %s --ipu-set-float-modes | filecheck %s --check-prefix=OFF
// RUN: ipu-opt %s --ipu-set-float-modes=scopes=true | filecheck %s --check-prefix=SCOPED

#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK: "ipu.variable"() {init = dense<7> : tensor<i32>, sym_name = "ipu.rounding", type = tensor<i32>}
// OFF-NOT: ipu.
// SCOPED: "ipu.variable"() {init = dense<0>

// CHECK-LABEL: func.func @each_operation_that_rounds
// CHECK: %[[KEY:.*]] = "ipu.read"() {variable = @ipu.rounding} : () -> tensor<i32>
// CHECK: %[[NEXT:.*]] = arith.addi %[[KEY]]
// CHECK: "ipu.assign"(%[[NEXT]]) {variable = @ipu.rounding}
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[KEY]] : tensor<2x3xf16>, tensor<i32>)
// CHECK: ^bb0(%[[X:.*]]: f16, %[[K:.*]]: i32, %{{.*}}: f16):
// CHECK: %[[OWN:.*]] = "ipu.noise"(%[[K]], %{{.*}})
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[ROW:.*]] = "ipu.noise"(%[[OWN]], %[[I]])
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[ONE:.*]] = "ipu.noise"(%[[ROW]], %[[J]])
// CHECK: %[[TWO:.*]] = "ipu.noise"(%[[ONE]], %{{.*}})
// CHECK: %[[E:.*]] = math.exp %[[X]] : f16
// CHECK: %[[ROUNDED:.*]] = "ipu.round"(%[[E]], %[[ONE]]) {overflow = "clip"}
// CHECK: %[[NEG:.*]] = arith.negf %[[ROUNDED]]
// CHECK-NOT: ipu.round
// CHECK: %[[D:.*]] = arith.divf %[[X]], %[[NEG]]
// CHECK: %[[END:.*]] = "ipu.round"(%[[D]], %[[TWO]]) {overflow = "clip"}
// CHECK: linalg.yield %[[END]]
// NAN-LABEL: func.func @each_operation_that_rounds
// NAN-NOT: ipu.read
// NAN: %[[E:.*]] = math.exp
// NAN: "ipu.saturate"(%[[E]]) {overflow = "nan"}
// CHECKED-LABEL: func.func @each_operation_that_rounds
// CHECKED: %[[E:.*]] = math.exp
// CHECKED-NOT: div0
// CHECKED: %[[OK:.*]] = "ipu.is_sound"(%[[E]]) {exception = "oflo"}
// CHECKED: cf.assert %[[OK]], "the result is too large for its type (oflo), in math.exp at
// CHECKED: %[[D:.*]] = arith.divf
// CHECKED: "ipu.is_sound"(%[[D]]) {exception = "div0"}
// CHECKED: cf.assert %{{.*}}, "division of floats by zero (div0), in arith.divf at
// CHECKED: "ipu.is_sound"(%[[D]]) {exception = "oflo"}
func.func @each_operation_that_rounds(%a: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %e = tensor.empty() : tensor<2x3xf16>
  %r = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<2x3xf16>) outs(%e : tensor<2x3xf16>) {
  ^bb0(%x: f16, %out: f16):
    %y = math.exp %x : f16
    %z = arith.negf %y : f16
    %w = arith.divf %x, %z : f16
    linalg.yield %w : f16
  } -> tensor<2x3xf16>
  return %r : tensor<2x3xf16>
}

// A sum in f16 rounds to the nearest in each step; what is added to it does not.
// CHECK-LABEL: func.func @sum_that_is_f16_in_each_step
// CHECK: %[[S:.*]] = arith.mulf
// CHECK: %[[R:.*]] = "ipu.round"(%[[S]],
// CHECK: %[[T:.*]] = arith.addf %{{.*}}, %[[R]] : f16
// CHECK-NEXT: linalg.yield %[[T]]
// CHECKED-LABEL: func.func @sum_that_is_f16_in_each_step
// CHECKED: %[[SUM:.*]] = linalg.generic
// CHECKED-NOT: cf.assert
// CHECKED: linalg.generic {{.*}} ins(%[[SUM]] : tensor<2xf16>)
// CHECKED: ^bb0(%[[ONE:.*]]: f16):
// CHECKED-NEXT: %[[OK:.*]] = "ipu.is_sound"(%[[ONE]]) {exception = "oflo"}
// CHECKED-NEXT: cf.assert %[[OK]], "the result is too large for its type (oflo)"
func.func @sum_that_is_f16_in_each_step(%a: tensor<2x3xf16>, %init: tensor<2xf16>) -> tensor<2xf16> {
  %r = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<2x3xf16>) outs(%init : tensor<2xf16>) {
  ^bb0(%x: f16, %sum: f16):
    %y = arith.mulf %x, %x : f16
    %z = arith.addf %sum, %y : f16
    linalg.yield %z : f16
  } -> tensor<2xf16>
  return %r : tensor<2xf16>
}

// CHECK-LABEL: func.func @each_round_of_a_loop_has_a_key
// CHECK-NOT: ipu.read
// CHECK: scf.for
// CHECK-NEXT: "ipu.read"
func.func @each_round_of_a_loop_has_a_key(%a: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %r = scf.for %i = %zero to %ten step %one iter_args(%b = %a) -> tensor<2x3xf16> {
    %c = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%b : tensor<2x3xf16>) {
    ^bb0(%x: f16):
      %y = arith.addf %x, %x : f16
      linalg.yield %y : f16
    } -> tensor<2x3xf16>
    scf.yield %c : tensor<2x3xf16>
  }
  return %r : tensor<2x3xf16>
}

// CHECK-LABEL: func.func private @called_function_takes_the_variable(
// CHECK-SAME: %[[K:.*]]: tensor<i32> {ipu.updated = 0 : i64}) -> (tensor<2x3xf16>, tensor<i32> {ipu.updated = 0 : i64})
func.func private @called_function_takes_the_variable(%a: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %r = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%a : tensor<2x3xf16>) {
  ^bb0(%x: f16):
    %y = arith.mulf %x, %x : f16
    linalg.yield %y : f16
  } -> tensor<2x3xf16>
  return %r : tensor<2x3xf16>
}

// CHECK-LABEL: func.func @caller
// CHECK: %[[NOW:.*]] = "ipu.read"
// CHECK: %[[R:.*]]:2 = call @called_function_takes_the_variable(%{{.*}}, %[[NOW]])
// CHECK: "ipu.assign"(%[[R]]#1)
func.func @caller(%a: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %r = func.call @called_function_takes_the_variable(%a) {no_inline} : (tensor<2x3xf16>) -> tensor<2x3xf16>
  return %r : tensor<2x3xf16>
}

// SCOPED-LABEL: func.func @innermost_scope_decides
// SCOPED: %[[Y:.*]] = arith.addf
// SCOPED: "ipu.round"(%[[Y]],
// SCOPED: arith.mulf
// SCOPED-NEXT: linalg.yield
// CHECK-LABEL: func.func @innermost_scope_decides
// CHECK: "ipu.round"
// CHECK: "ipu.round"
func.func @innermost_scope_decides(%a: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %r = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%a : tensor<2x3xf16>) {
  ^bb0(%x: f16):
    %y = arith.addf %x, %x : f16 loc("ipu.rounding.nearest/ipu.rounding.stochastic/add")
    %z = arith.mulf %y, %x : f16 loc("ipu.rounding.stochastic/ipu.rounding.nearest/mul")
    linalg.yield %z : f16
  } -> tensor<2x3xf16>
  return %r : tensor<2x3xf16>
}
