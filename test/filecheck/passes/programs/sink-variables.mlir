// RUN: ipu-opt %s --ipu-sink-variables | filecheck %s

"ipu.variable"() {sym_name = "m", type = tensor<4xf32>, init = dense<0.0> : tensor<4xf32>, offload} : () -> ()
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>, init = dense<0.0> : tensor<4xf32>} : () -> ()

// The state is read in the branch that changes it, and nowhere else; what is not offloaded is carried.
// CHECK-LABEL: func.func @branch_in_a_loop
func.func @branch_in_a_loop(%n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: "ipu.read"() {variable = @w}
  %m = "ipu.read"() {variable = @m} : () -> tensor<4xf32>
  %w = "ipu.read"() {variable = @w} : () -> tensor<4xf32>
  // CHECK: scf.for {{.*}} -> (tensor<4xf32>) {
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %m, %b = %w) -> (tensor<4xf32>, tensor<4xf32>) {
    // CHECK-NEXT: scf.if %arg1 -> (tensor<4xf32>) {
    %s:2 = scf.if %c -> (tensor<4xf32>, tensor<4xf32>) {
      // CHECK-NEXT: %[[M:.*]] = "ipu.read"() {variable = @m}
      // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[M]]
      %new = arith.addf %a, %b : tensor<4xf32>
      // CHECK-NEXT: "ipu.assign"(%[[SUM]]) {variable = @m}
      // CHECK-NEXT: scf.yield %[[SUM]] : tensor<4xf32>
      scf.yield %new, %new : tensor<4xf32>, tensor<4xf32>
    } else {
      // CHECK-NEXT: } else {
      // CHECK-NEXT: scf.yield %{{.*}} : tensor<4xf32>
      scf.yield %a, %b : tensor<4xf32>, tensor<4xf32>
    }
    scf.yield %s#0, %s#1 : tensor<4xf32>, tensor<4xf32>
  }
  // CHECK-NOT: variable = @m
  "ipu.assign"(%r#0) {variable = @m} : (tensor<4xf32>) -> ()
  "ipu.assign"(%r#1) {variable = @w} : (tensor<4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @while_loop
func.func @while_loop(%n: i32) -> tensor<4xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %m = "ipu.read"() {variable = @m} : () -> tensor<4xf32>
  // CHECK: scf.while (%[[I:.*]] = %{{.*}}) : (i32) -> i32 {
  %r:2 = scf.while (%a = %m, %i = %zero) : (tensor<4xf32>, i32) -> (i32, tensor<4xf32>) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i, %a : i32, tensor<4xf32>
  } do {
  ^bb0(%i: i32, %a: tensor<4xf32>):
    // CHECK: %[[M:.*]] = "ipu.read"() {variable = @m}
    // CHECK: %[[TWICE:.*]] = arith.addf %[[M]], %[[M]]
    %twice = arith.addf %a, %a : tensor<4xf32>
    %next = arith.addi %i, %one : i32
    // CHECK: "ipu.assign"(%[[TWICE]]) {variable = @m}
    scf.yield %twice, %next : tensor<4xf32>, i32
  }
  // CHECK: %[[END:.*]] = "ipu.read"() {variable = @m}
  "ipu.assign"(%r#1) {variable = @m} : (tensor<4xf32>) -> ()
  // CHECK: return %[[END]]
  return %r#1 : tensor<4xf32>
}

// A loop that does not change it reads it once; what is read before it changes is the old value.
// CHECK-LABEL: func.func @what_stays
func.func @what_stays(%n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[M:.*]] = "ipu.read"() {variable = @m}
  %m = "ipu.read"() {variable = @m} : () -> tensor<4xf32>
  // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[M]])
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %m) -> tensor<4xf32> {
    // CHECK-NEXT: arith.addf %[[A]], %[[M]]
    %b = arith.addf %a, %m : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %old = "ipu.read"() {variable = @m} : () -> tensor<4xf32>
  "ipu.assign"(%r) {variable = @m} : (tensor<4xf32>) -> ()
  // CHECK: return %[[M]], %{{.*}}
  return %old, %r : tensor<4xf32>, tensor<4xf32>
}

// Nobody knows what the variable is when the branch begins: both of its blocks assign.
// CHECK-LABEL: func.func @nothing_is_known
func.func @nothing_is_known(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: scf.if
  // CHECK-NEXT: "ipu.assign"(%arg1)
  // CHECK-NEXT: } else {
  // CHECK-NEXT: "ipu.assign"(%arg2)
  %s = scf.if %c -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  "ipu.assign"(%s) {variable = @m} : (tensor<4xf32>) -> ()
  return
}
