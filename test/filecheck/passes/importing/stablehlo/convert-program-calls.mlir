// RUN: ipu-opt %s --ipu-check-stablehlo --ipu-convert-program-calls | filecheck %s

// CHECK: #[[M:.*]] = #ipu.mapping<4, {{\[}}[2, 4, 1, 1]], 0, 0>
// CHECK: "ipu.infeed"() {prefetch_depth = 2 : i64, sym_name = "in", types = [tensor<4xf32>, tensor<4xi32>]}
// CHECK-NEXT: "ipu.outfeed"() {mode = "all", sym_name = "out", types = [tensor<4xf32>]}
// CHECK-NEXT: "ipu.variable"() {sym_name = "layer/w", type = tensor<4xf32>}
// CHECK-NEXT: "ipu.outfeed"() {mode = "last", sym_name = "newest", types = [tensor<4xf32>]}
// CHECK-NEXT: "ipu.remote_buffer"() {sym_name = "rows_of", type = tensor<10x4xf32>}
// CHECK-NEXT: "ipu.remote_buffer"() {memory = "host", sym_name = "table", type = tensor<7x4xf32>}
// CHECK-NEXT: "ipu.host_function"() {gives = [tensor<2xi32>], sym_name = "host", takes = [tensor<4xf32>]}
// CHECK-NOT: sym_name = "there"

// Of TensorFlow: several results in a tuple, attributes as JSON, and a token that goes.
// CHECK-LABEL: func.func @tuples_and_tokens(
// CHECK-SAME: %[[TOKEN:.*]]: tensor<i32>)
// CHECK-NEXT: "ipu.dequeue"() {queue = @in}
// CHECK-NEXT: %[[X:.*]] = "ipu.element"() {index = 0 : i64, queue = @in} : () -> tensor<4xf32>
// CHECK-NEXT: %[[N:.*]] = "ipu.element"() {index = 1 : i64, queue = @in} : () -> tensor<4xi32>
// CHECK-NEXT: %[[U:.*]] = builtin.unrealized_conversion_cast %[[N]] : tensor<4xi32> to tensor<4xui32>
// CHECK-NEXT: "ipu.put"(%[[X]]) {index = 0 : i64, queue = @out}
// CHECK-NEXT: "ipu.enqueue"() {queue = @out}
// CHECK-NEXT: return %[[TOKEN]], %[[U]]
func.func @tuples_and_tokens(%t: tensor<i32>) -> (tensor<i32>, tensor<4xui32>) {
  %0 = stablehlo.custom_call @ipu.dequeue(%t) {backend_config = "{\"queue\": \"in\", \"prefetch_depth\": 2, \"token\": true}", has_side_effect = true} : (tensor<i32>) -> tuple<tensor<i32>, tensor<4xf32>, tensor<4xui32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<i32>, tensor<4xf32>, tensor<4xui32>>) -> tensor<i32>
  %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<i32>, tensor<4xf32>, tensor<4xui32>>) -> tensor<4xf32>
  %3 = stablehlo.get_tuple_element %0[2] : (tuple<tensor<i32>, tensor<4xf32>, tensor<4xui32>>) -> tensor<4xui32>
  %4 = stablehlo.custom_call @ipu.enqueue(%1, %2) {backend_config = "{\"queue\": \"out\", \"token\": true}", has_side_effect = true} : (tensor<i32>, tensor<4xf32>) -> tensor<i32>
  return %4, %3 : tensor<i32>, tensor<4xui32>
}

// CHECK-LABEL: func.func @no_results
// CHECK-NEXT: "ipu.put"
// CHECK-NEXT: "ipu.enqueue"() {queue = @out}
// CHECK-NEXT: return
func.func @no_results(%x: tensor<4xf32>) {
  %0 = stablehlo.custom_call @ipu.enqueue(%x) {backend_config = "{\"queue\": \"out\"}", has_side_effect = true} : (tensor<4xf32>) -> tuple<>
  return
}

// Of JAX: a dictionary, and any number of results as such.
// CHECK-LABEL: func.func @variables
// CHECK-NEXT: "ipu.assign"(%{{.*}}) {variable = @"layer/w"}
// CHECK-NEXT: %[[W:.*]] = "ipu.read"() {variable = @"layer/w"}
// CHECK-NEXT: "ipu.assign"(%{{.*}}) {variable = @there}
// CHECK-NEXT: "ipu.put"(%[[W]]) {index = 0 : i64, queue = @newest}
// CHECK-NEXT: "ipu.enqueue"() {queue = @newest}
func.func @variables(%x: tensor<4xf32>) -> tensor<4xf32> {
  stablehlo.custom_call @ipu.assign(%x) {has_side_effect = true, mhlo.backend_config = {variable = "layer/w"}} : (tensor<4xf32>) -> ()
  %w = stablehlo.custom_call @ipu.read() {has_side_effect = true, mhlo.backend_config = {variable = "layer/w"}} : () -> tensor<4xf32>
  stablehlo.custom_call @ipu.assign(%x) {api_version = 4 : i32, backend_config = {variable = "there"}} : (tensor<4xf32>) -> ()
  stablehlo.custom_call @ipu.enqueue(%w) {mhlo.backend_config = {queue = "newest", mode = "last"}} : (tensor<4xf32>) -> ()
  return %w : tensor<4xf32>
}

// CHECK-LABEL: func.func @values(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<i1>)
// CHECK-NEXT: %[[P:.*]] = "ipu.place"(%[[X]]) {mapping = #[[M]]}
// CHECK-NEXT: return %[[P]], %[[Y]]
func.func @values(%x: tensor<4xf32>, %y: tensor<i1>) -> (tensor<4xf32>, tensor<i1>) {
  %p = stablehlo.custom_call @ipu.place(%x) {mhlo.backend_config = {mapping = "#ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>"}} : (tensor<4xf32>) -> tensor<4xf32>
  %b:2 = stablehlo.custom_call @ipu.barrier(%p, %y) : (tensor<4xf32>, tensor<i1>) -> (tensor<4xf32>, tensor<i1>)
  return %b#0, %b#1 : tensor<4xf32>, tensor<i1>
}

// CHECK-LABEL: func.func @replicas
// CHECK-NEXT: %[[I:.*]] = "ipu.replica_index"() : () -> tensor<i32>
// CHECK-NEXT: %[[U:.*]] = builtin.unrealized_conversion_cast %[[I]] : tensor<i32> to tensor<ui32>
// CHECK-NEXT: "ipu.all_reduce"(%{{.*}}) {group = 2 : i64, op = "mean"} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: "ipu.all_gather"(%{{.*}}) {group = 2 : i64} : (tensor<4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: "ipu.all_to_all"(%{{.*}}) {concat_dimension = 0 : i64, group = 2 : i64, split_dimension = 0 : i64}
// CHECK-NEXT: "ipu.reduce_scatter"(%{{.*}}) {group = 2 : i64, op = "add"} : (tensor<4xf32>) -> tensor<2xf32>
// CHECK-NEXT: "ipu.broadcast"(%{{.*}}) {root = 1 : i64}
// CHECK-NEXT: "ipu.assume_equal"
func.func @replicas(%x: tensor<4xf32>) -> (tensor<ui32>, tensor<4xf32>, tensor<2x4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.custom_call @ipu.replica_index() : () -> tensor<ui32>
  %1 = stablehlo.custom_call @ipu.all_reduce(%x) {backend_config = "{\"op\": \"mean\", \"group\": 2}"} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @ipu.all_gather(%x) {backend_config = "{\"group\": 2}"} : (tensor<4xf32>) -> tensor<2x4xf32>
  %3 = stablehlo.custom_call @ipu.all_to_all(%x) {backend_config = "{\"split_dimension\": 0, \"concat_dimension\": 0, \"group\": 2}"} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = stablehlo.custom_call @ipu.reduce_scatter(%x) {backend_config = "{\"op\": \"add\", \"group\": 2}"} : (tensor<4xf32>) -> tensor<2xf32>
  %5 = stablehlo.custom_call @ipu.broadcast(%x) {backend_config = "{\"root\": 1}"} : (tensor<4xf32>) -> tensor<4xf32>
  %6 = stablehlo.custom_call @ipu.assume_equal(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<ui32>, tensor<4xf32>, tensor<2x4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK: %[[ROW:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK-NEXT: %[[X:.*]] = "ipu.remote_load"(%[[ROW]]) {buffer = @rows_of} : (index) -> tensor<2x4xf32>
// CHECK: "ipu.remote_store"(%[[X]], %{{.*}}) {buffer = @rows_of} : (tensor<2x4xf32>, index) -> ()
// CHECK-NEXT: %[[Y:.*]] = "ipu.host_gather"(%{{.*}}) {buffer = @table} : (tensor<3xi32>) -> tensor<3x4xf32>
// CHECK-NEXT: "ipu.host_update_add"(%{{.*}}, %[[Y]]) {buffer = @table, every = 2 : i64} : (tensor<3xi32>, tensor<3x4xf32>) -> ()
func.func @rows(%row: tensor<i32>, %some: tensor<3xi32>) {
  %0 = stablehlo.custom_call @ipu.remote_load(%row) {mhlo.backend_config = {buffer = "rows_of", shape = array<i64: 10, 4>}} : (tensor<i32>) -> tensor<2x4xf32>
  stablehlo.custom_call @ipu.remote_store(%0, %row) {mhlo.backend_config = {buffer = "rows_of", shape = dense<[10, 4]> : tensor<2xi64>}} : (tensor<2x4xf32>, tensor<i32>) -> ()
  %1 = stablehlo.custom_call @ipu.host_gather(%some) {backend_config = "{\"buffer\": \"table\", \"shape\": [7, 4]}"} : (tensor<3xi32>) -> tensor<3x4xf32>
  stablehlo.custom_call @ipu.host_update_add(%some, %1) {backend_config = "{\"buffer\": \"table\", \"shape\": [7, 4], \"every\": 2}"} : (tensor<3xi32>, tensor<3x4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @shown
// CHECK-NEXT: "ipu.print"(%{{.*}}) {label = "x"} : (tensor<4xf32>) -> ()
// CHECK-NEXT: %[[N:.*]] = builtin.unrealized_conversion_cast
// CHECK-NEXT: "ipu.print"(%[[N]]) {label = "n", unsigned} : (tensor<i8>) -> ()
func.func @shown(%x: tensor<4xf32>, %n: tensor<ui8>) {
  stablehlo.custom_call @ipu.print(%x) {mhlo.backend_config = {label = "x"}} : (tensor<4xf32>) -> ()
  stablehlo.custom_call @ipu.print(%n) {mhlo.backend_config = {label = "n"}} : (tensor<ui8>) -> ()
  return
}

"ipu.variable"() {sym_name = "there", type = tensor<4xf32>, init = dense<0.0> : tensor<4xf32>} : () -> ()

// CHECK-LABEL: func.func @delays_and_moves(
// CHECK-NEXT: %[[OLD:.*]] = "ipu.fifo"(%{{.*}}) {depth = 2 : i64, offload}
// CHECK-NEXT: %[[MOVED:.*]] = "ipu.to_shard"(%[[OLD]]) {shard = 1 : i64}
// CHECK-NEXT: return %[[MOVED]]
func.func @delays_and_moves(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @ipu.fifo(%x) {mhlo.backend_config = {depth = 2 : i64, offload = true}} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @ipu.to_shard(%0) {backend_config = "{\"shard\": 1}"} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @asks(
// CHECK-NEXT: "ipu.put"(%{{.*}}) {index = 0 : i64, queue = @host} : (tensor<4xf32>) -> ()
// CHECK-NEXT: "ipu.host_call"() {queue = @host} : () -> ()
// CHECK-NEXT: %[[FOUND:.*]] = "ipu.element"() {index = 0 : i64, queue = @host} : () -> tensor<2xi32>
// CHECK-NEXT: return %[[FOUND]]
func.func @asks(%x: tensor<4xf32>) -> tensor<2xi32> {
  %0 = stablehlo.custom_call @ipu.host_call(%x) {mhlo.backend_config = {function = "host"}} : (tensor<4xf32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
