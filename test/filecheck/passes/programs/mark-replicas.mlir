// RUN: ipu-opt %s --ipu-promote-variables --ipu-mark-replicas | filecheck %s

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4, replicas = 4}>} {

"ipu.infeed"() {sym_name = "q", types = [tensor<8xf32>]} : () -> ()
// A variable that gets what all replicas have together is one value; one that gets the data of a replica is not.
// CHECK: ipu.varies = false, sym_name = "w"
"ipu.variable"() {sym_name = "w", type = tensor<8xf32>, init = dense<0.0> : tensor<8xf32>} : () -> ()
// CHECK: ipu.varies = true, sym_name = "v"
"ipu.variable"() {sym_name = "v", type = tensor<8xf32>, init = dense<0.0> : tensor<8xf32>} : () -> ()

// CHECK-LABEL: func.func @step
// CHECK-SAME: -> (tensor<8xf32> {ipu.varies = true}, tensor<8xf32> {ipu.varies = false}
func.func @step() -> (tensor<8xf32>, tensor<8xf32>) {
  "ipu.dequeue"() {queue = @q} : () -> ()
  %x = "ipu.element"() {queue = @q, index = 0} : () -> tensor<8xf32>
  %mean = "ipu.all_reduce"(%x) {op = "mean"} : (tensor<8xf32>) -> tensor<8xf32>
  "ipu.assign"(%x) {variable = @v} : (tensor<8xf32>) -> ()
  "ipu.assign"(%mean) {variable = @w} : (tensor<8xf32>) -> ()
  return %x, %mean : tensor<8xf32>, tensor<8xf32>
}

// A variable that one function makes different is different in all.
// CHECK-LABEL: func.func @read
// CHECK-SAME: -> (tensor<8xf32> {ipu.varies = true}, tensor<8xf32> {ipu.varies = false})
func.func @read() -> (tensor<8xf32>, tensor<8xf32>) {
  %v = "ipu.read"() {variable = @v} : () -> tensor<8xf32>
  %w = "ipu.read"() {variable = @w} : () -> tensor<8xf32>
  return %v, %w : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @sources
// CHECK-SAME: %arg0: tensor<8xf32> {ipu.varies = true}, %arg1: tensor<8xf32>)
// CHECK-SAME: -> (tensor<i32> {ipu.varies = true}, tensor<8xf32> {ipu.varies = true}, tensor<8xf32> {ipu.varies = false}, tensor<8xf32> {ipu.varies = true})
func.func @sources(%a: tensor<8xf32> {ipu.varies = true}, %b: tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %r = "ipu.replica_index"() : () -> tensor<i32>
  %sum = arith.addf %a, %b : tensor<8xf32>
  %squares = arith.mulf %b, %b : tensor<8xf32>
  // Groups have values of their own.
  %pairs = "ipu.all_reduce"(%sum) {op = "add", group = 2} : (tensor<8xf32>) -> tensor<8xf32>
  return %r, %sum, %squares, %pairs : tensor<i32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// What a loop carries differs if what it begins with does, or what an iteration makes of it.
// CHECK-LABEL: func.func @loop
// CHECK-SAME: -> (tensor<8xf32> {ipu.varies = true}, tensor<8xf32> {ipu.varies = false})
func.func @loop(%a: tensor<8xf32> {ipu.varies = true}, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x, %y = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %b, %y = %b) -> (tensor<8xf32>, tensor<8xf32>) {
    %next = arith.addf %x, %a : tensor<8xf32>
    %other = arith.addf %y, %b : tensor<8xf32>
    scf.yield %next, %other : tensor<8xf32>, tensor<8xf32>
  }
  return %x, %y : tensor<8xf32>, tensor<8xf32>
}

// Rows of a replica differ where they are stored so, or at places that differ; a table on the host is one.
// CHECK: ipu.varies = true, sym_name = "rows"
"ipu.remote_buffer"() {sym_name = "rows", type = tensor<4x8xf32>} : () -> ()
// CHECK: ipu.varies = false, memory = "host", sym_name = "table"
"ipu.remote_buffer"() {sym_name = "table", type = tensor<4x8xf32>, memory = "host"} : () -> ()
// CHECK-LABEL: func.func @rows_of_replicas
// CHECK-SAME: -> (tensor<8xf32> {ipu.varies = true}, tensor<2x8xf32> {ipu.varies = false})
func.func @rows_of_replicas(%a: tensor<8xf32> {ipu.varies = true}, %i: index, %n: tensor<2xi32>) -> (tensor<8xf32>, tensor<2x8xf32>) {
  "ipu.remote_store"(%a, %i) {buffer = @rows} : (tensor<8xf32>, index) -> ()
  "ipu.remote_store"(%a, %i) {buffer = @table} : (tensor<8xf32>, index) -> ()
  %x = "ipu.remote_load"(%i) {buffer = @rows} : (index) -> tensor<8xf32>
  %y = "ipu.host_gather"(%n) {buffer = @table} : (tensor<2xi32>) -> tensor<2x8xf32>
  return %x, %y : tensor<8xf32>, tensor<2x8xf32>
}

}
