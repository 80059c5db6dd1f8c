// RUN: ipu-opt %s --ipu-promote-variables | filecheck %s

// CHECK-DAG: sym_name = "w"
// CHECK-DAG: sym_name = "n"
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>, init = dense<0.0> : tensor<4xf32>} : () -> ()
"ipu.variable"() {sym_name = "n", type = tensor<i32>, init = dense<0> : tensor<i32>} : () -> ()

// CHECK-LABEL: func.func @function_takes_and_gives_what_it_changes(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32> {ipu.variable = @w})
// CHECK-SAME: -> (tensor<4xf32>, tensor<4xf32> {ipu.variable = @w})
// CHECK: %[[NEW:.*]] = arith.addf %[[W]], %[[X]]
// CHECK: return %[[W]], %[[NEW]]
func.func @function_takes_and_gives_what_it_changes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = "ipu.read"() {variable = @w} : () -> tensor<4xf32>
  %new = arith.addf %w, %x : tensor<4xf32>
  "ipu.assign"(%new) {variable = @w} : (tensor<4xf32>) -> ()
  return %w : tensor<4xf32>
}

// CHECK-LABEL: func.func @what_is_only_read_is_no_result(
// CHECK-SAME: %[[W:.*]]: tensor<4xf32> {ipu.variable = @w}) -> tensor<4xf32> {
// CHECK: return %[[W]] : tensor<4xf32>
func.func @what_is_only_read_is_no_result() -> tensor<4xf32> {
  %w = "ipu.read"() {variable = @w} : () -> tensor<4xf32>
  return %w : tensor<4xf32>
}

// CHECK-LABEL: func.func @what_is_assigned_first_may_be_unset(
// CHECK-SAME: {ipu.unset, ipu.variable = @w})
// CHECK-SAME: -> (tensor<4xf32>, tensor<4xf32> {ipu.variable = @w}) {
func.func @what_is_assigned_first_may_be_unset(%x: tensor<4xf32>) -> (tensor<4xf32>) {
  "ipu.assign"(%x) {variable = @w} : (tensor<4xf32>) -> ()
  %w = "ipu.read"() {variable = @w} : () -> tensor<4xf32>
  return %w : tensor<4xf32>
}

// CHECK-LABEL: func.func @function_without_variables_stays(%{{.*}}: tensor<4xf32>) -> tensor<4xf32>
func.func @function_without_variables_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @loop_carries_what_it_changes(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<4xf32>, %[[C:[a-z0-9]*]]: i1,
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<4xf32> {ipu.variable = @w}, %[[N:[a-z0-9]*]]: tensor<i32> {ipu.variable = @n})
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[INNER:.*]] = %[[W]], %[[M:.*]] = %[[N]])
// CHECK:   %[[S:.*]] = arith.addf %[[INNER]], %[[X]]
// CHECK:   %[[B:.*]] = scf.if %[[C]] -> (tensor<i32>) {
// CHECK:     %[[MORE:.*]] = arith.addi %[[M]]
// CHECK:     scf.yield %[[MORE]]
// CHECK:   } else {
// CHECK:     scf.yield %[[M]]
// CHECK:   scf.yield %[[S]], %[[B]]
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @loop_carries_what_it_changes(%x: tensor<4xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %one = arith.constant dense<1> : tensor<i32>
  scf.for %i = %c0 to %c9 step %c1 {
    %w = "ipu.read"() {variable = @w} : () -> tensor<4xf32>
    %s = arith.addf %w, %x : tensor<4xf32>
    "ipu.assign"(%s) {variable = @w} : (tensor<4xf32>) -> ()
    scf.if %c {
      %n = "ipu.read"() {variable = @n} : () -> tensor<i32>
      %m = arith.addi %n, %one : tensor<i32>
      "ipu.assign"(%m) {variable = @n} : (tensor<i32>) -> ()
    }
  }
  return
}

// CHECK-LABEL: func.func @condition_of_a_while_sees_the_last_round(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[N:.*]]: tensor<i32> {ipu.variable = @n})
// CHECK: %[[R:.*]]:2 = scf.while (%[[Y:.*]] = %[[X]], %[[K:.*]] = %[[N]])
// CHECK:   tensor.extract %[[K]]
// CHECK:   scf.condition(%{{.*}}) %[[Y]], %[[K]]
// CHECK: ^bb0(%[[Z:.*]]: tensor<4xf32>, %[[M:.*]]: tensor<i32>):
// CHECK:   %[[MORE:.*]] = arith.addi %[[M]]
// CHECK:   scf.yield %[[Z]], %[[MORE]]
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @condition_of_a_while_sees_the_last_round(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant dense<1> : tensor<i32>
  %limit = arith.constant 20 : i32
  %r = scf.while (%y = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %n = "ipu.read"() {variable = @n} : () -> tensor<i32>
    %k = tensor.extract %n[] : tensor<i32>
    %go = arith.cmpi slt, %k, %limit : i32
    scf.condition(%go) %y : tensor<4xf32>
  } do {
  ^bb0(%z: tensor<4xf32>):
    %n = "ipu.read"() {variable = @n} : () -> tensor<i32>
    %m = arith.addi %n, %one : tensor<i32>
    "ipu.assign"(%m) {variable = @n} : (tensor<i32>) -> ()
    scf.yield %z : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @switch_gives_what_one_case_changes(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %{{.*}}: index, %[[W:.*]]: tensor<4xf32> {ipu.variable = @w})
// CHECK: %[[R:.*]] = scf.index_switch
// CHECK: case 2 {
// CHECK-NEXT: scf.yield %[[X]]
// CHECK: default {
// CHECK-NEXT: scf.yield %[[W]]
// CHECK: return %[[R]]
func.func @switch_gives_what_one_case_changes(%x: tensor<4xf32>, %k: index) {
  scf.index_switch %k
  case 2 {
    "ipu.assign"(%x) {variable = @w} : (tensor<4xf32>) -> ()
    scf.yield
  }
  default {
    scf.yield
  }
  return
}

// CHECK-LABEL: func.func @variables_change_places(
// CHECK-SAME: %[[W:.*]]: tensor<4xf32> {ipu.variable = @w}, %[[V:.*]]: tensor<4xf32> {ipu.variable = @v})
// CHECK: return %[[V]], %[[W]]
"ipu.variable"() {sym_name = "v", type = tensor<4xf32>} : () -> ()
func.func @variables_change_places() {
  %v = "ipu.read"() {variable = @v} : () -> tensor<4xf32>
  %w = "ipu.read"() {variable = @w} : () -> tensor<4xf32>
  "ipu.assign"(%v) {variable = @w} : (tensor<4xf32>) -> ()
  "ipu.assign"(%w) {variable = @v} : (tensor<4xf32>) -> ()
  return
}
