// RUN: ipu-opt %s --split-input-file --ipu-move-rows-in-functions --canonicalize | filecheck %s

"ipu.remote_buffer"() {sym_name = "b", type = tensor<4x4xf32>} : () -> ()

// CHECK-LABEL: func.func @row_in_and_out
// CHECK-SAME: %[[X:[^:]*]]: tensor<4xf32>
// CHECK: %[[A:.*]] = call @step(%[[X]], %c1) {ipu.outlined, no_inline} : (tensor<4xf32>, index) -> tensor<4xf32>
// CHECK: %[[B:.*]] = call @step(%[[A]], %c3)
// CHECK-NOT: ipu.remote
// CHECK: return %[[B]]
func.func @row_in_and_out(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %m = "ipu.remote_load"(%one) {buffer = @b} : (index) -> tensor<4xf32>
  %a:2 = call @step(%m, %x) {ipu.outlined, no_inline} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %n = "ipu.remote_load"(%three) {buffer = @b} : (index) -> tensor<4xf32>
  "ipu.remote_store"(%a#0, %one) {buffer = @b} : (tensor<4xf32>, index) -> ()
  %b:2 = call @step(%n, %a#1) {ipu.outlined, no_inline} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  "ipu.remote_store"(%b#0, %three) {buffer = @b} : (tensor<4xf32>, index) -> ()
  return %b#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func private @step
// CHECK-SAME: (%[[X:[^:]*]]: tensor<4xf32>, %[[ROW:.*]]: index) -> tensor<4xf32>
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[X]]
// CHECK-NEXT: %[[M:.*]] = "ipu.remote_load"(%[[ROW]]) {buffer = @b}
// CHECK-NEXT: %[[NEW:.*]] = arith.addf %[[M]], %[[Y]]
// CHECK-NEXT: "ipu.remote_store"(%[[NEW]], %[[ROW]]) {buffer = @b}
// CHECK-NEXT: return %[[Y]]
func.func private @step(%m: tensor<4xf32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = arith.addf %x, %x : tensor<4xf32>
  %n = arith.addf %m, %y : tensor<4xf32>
  return %n, %y : tensor<4xf32>, tensor<4xf32>
}

// -----

"ipu.remote_buffer"() {sym_name = "b", type = tensor<4x4xf32>} : () -> ()
"ipu.remote_buffer"() {sym_name = "c", type = tensor<4x4xf32>} : () -> ()

// What others read too, what is changed before the call, and rows of two buffers stay with the callers.
// CHECK-LABEL: func.func @what_stays
// CHECK-COUNT-6: ipu.remote_load
// CHECK-LABEL: func.func private @sum
// CHECK-SAME: (%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>)
func.func @what_stays() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %read = "ipu.remote_load"(%zero) {buffer = @b} : (index) -> tensor<4xf32>
  %changed = "ipu.remote_load"(%one) {buffer = @b} : (index) -> tensor<4xf32>
  %l = "ipu.remote_load"(%zero) {buffer = @b} : (index) -> tensor<4xf32>
  "ipu.remote_store"(%read, %one) {buffer = @b} : (tensor<4xf32>, index) -> ()
  %x = call @sum(%read, %changed, %l) {ipu.outlined, no_inline} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %p = "ipu.remote_load"(%one) {buffer = @b} : (index) -> tensor<4xf32>
  %q = "ipu.remote_load"(%two) {buffer = @b} : (index) -> tensor<4xf32>
  %r = "ipu.remote_load"(%one) {buffer = @c} : (index) -> tensor<4xf32>
  %y = call @sum(%p, %q, %r) {ipu.outlined, no_inline} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %x, %y, %read : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

func.func private @sum(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %s = arith.addf %x, %y : tensor<4xf32>
  %t = arith.addf %s, %z : tensor<4xf32>
  return %t : tensor<4xf32>
}

// -----

"ipu.remote_buffer"() {sym_name = "b", type = tensor<4x4xf32>} : () -> ()

// A result that is read besides is stored in the function and given by it; two stores to one row stay in their order.
// CHECK-LABEL: func.func @results
// CHECK: %[[A:.*]] = call @twice(%{{.*}}, %{{.*}}) {{.*}} : (tensor<4xf32>, index) -> tensor<4xf32>
// CHECK-NOT: ipu.remote_store
// CHECK: call @twice(%[[A]]
// CHECK: call @once
// CHECK-NEXT: "ipu.remote_store"
// CHECK-NEXT: "ipu.remote_store"
// CHECK-NEXT: call @once
// CHECK-NEXT: "ipu.remote_store"
// CHECK-LABEL: func.func private @twice
// CHECK: "ipu.remote_store"
func.func @results(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %one = arith.constant 1 : index
  %a = call @twice(%x) {ipu.outlined, no_inline} : (tensor<4xf32>) -> tensor<4xf32>
  "ipu.remote_store"(%a, %one) {buffer = @b} : (tensor<4xf32>, index) -> ()
  %b = call @twice(%a) {ipu.outlined, no_inline} : (tensor<4xf32>) -> tensor<4xf32>
  "ipu.remote_store"(%b, %i) {buffer = @b} : (tensor<4xf32>, index) -> ()
  %c = call @once(%b) {ipu.outlined, no_inline} : (tensor<4xf32>) -> tensor<4xf32>
  "ipu.remote_store"(%x, %one) {buffer = @b} : (tensor<4xf32>, index) -> ()
  "ipu.remote_store"(%c, %one) {buffer = @b} : (tensor<4xf32>, index) -> ()
  %d = call @once(%c) {ipu.outlined, no_inline} : (tensor<4xf32>) -> tensor<4xf32>
  "ipu.remote_store"(%d, %one) {buffer = @b} : (tensor<4xf32>, index) -> ()
  return %d : tensor<4xf32>
}

func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func private @once(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.mulf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
