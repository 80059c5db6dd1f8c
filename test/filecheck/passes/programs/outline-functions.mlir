// RUN: ipu-opt %s --ipu-outline-functions --inline --symbol-dce | filecheck %s

"ipu.variable"() {sym_name = "v", type = tensor<4xf32>} : () -> ()

// CHECK: func.func private @first
func.func private @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK-NOT: @alike
func.func private @alike(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = linalg.exp ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}
// CHECK: func.func private @with_state(%arg0: tensor<4xf32> {ipu.updated = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32> {ipu.updated = 0 : i64})
// CHECK-NOT: "ipu.
func.func private @with_state() -> tensor<4xf32> {
  %y = "ipu.read"() {variable = @v} : () -> tensor<4xf32>
  %z = linalg.exp ins(%y : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  "ipu.assign"(%z) {variable = @v} : (tensor<4xf32>) -> ()
  return %y : tensor<4xf32>
}
// CHECK: func.func private @around(%arg0: tensor<4xf32> {ipu.updated = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32> {ipu.updated = 0 : i64})
// CHECK: call @with_state(%arg0)
func.func private @around() -> tensor<4xf32> {
  %y = func.call @with_state() {ipu.outlined} : () -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK: func.func private @calls_ops_of_ours
// CHECK-NEXT: "ipu.to_shard"(%{{.*}}) {shard = 1 : i64}
func.func private @ours(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "ipu.to_shard"(%x) {shard = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @calls_ops_of_ours(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @ours(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @what_upstream_leaves_is_inlined(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @calls_ops_of_ours(%x) {ipu.outlined} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @functions_that_are_alike_are_one
// CHECK: %[[Y:.*]] = call @first(%{{.*}}) {ipu.outlined, no_inline}
// CHECK: call @first(%[[Y]]) {ipu.outlined, no_inline}
func.func @functions_that_are_alike_are_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @first(%x) {ipu.outlined} : (tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @alike(%y) {ipu.outlined} : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @variables_are_handed_to_functions
// CHECK:       %[[V:.*]] = "ipu.read"() {variable = @v}
// CHECK:       %[[R:.*]]:2 = call @around(%[[V]])
// CHECK:       "ipu.assign"(%[[R]]#1) {variable = @v}
func.func @variables_are_handed_to_functions() -> tensor<4xf32> {
  %y = func.call @around() {ipu.outlined} : () -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func private @sets(%arg0: tensor<4xf32>) -> tensor<4xf32>
func.func private @sets(%x: tensor<4xf32>) {
  "ipu.assign"(%x) {variable = @v} : (tensor<4xf32>) -> ()
  return
}
// CHECK-LABEL: func.func @what_is_only_assigned_is_not_read
// CHECK-NOT:   "ipu.read"
// CHECK:       %[[R:.*]] = call @sets(%{{.*}})
// CHECK-NEXT:  "ipu.assign"(%[[R]])
func.func @what_is_only_assigned_is_not_read(%x: tensor<4xf32>) {
  func.call @sets(%x) {ipu.outlined} : (tensor<4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @what_has_other_state_is_inlined
// CHECK-NOT: call
// CHECK: "ipu.fifo"
func.func @what_has_other_state_is_inlined(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @late(%x) {ipu.outlined} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @late(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "ipu.fifo"(%x) {depth = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @an_entry_that_is_called_stays_as_it_is() -> tensor<4xf32>
// CHECK: "ipu.read"
func.func @an_entry_that_is_called_stays_as_it_is() -> tensor<4xf32> {
  %y = "ipu.read"() {variable = @v} : () -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK-LABEL: func.func @around_an_entry
// CHECK-NOT: call
// CHECK: "ipu.read"
func.func @around_an_entry() -> tensor<4xf32> {
  %y = func.call @an_entry_that_is_called_stays_as_it_is() {ipu.outlined} : () -> tensor<4xf32>
  return %y : tensor<4xf32>
}
