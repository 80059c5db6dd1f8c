// RUN: ipu-opt %s --ipu-check-stablehlo --ipu-convert-program-calls | filecheck %s

// CHECK: #[[M:.*]] = #ipu.mapping<4, {{\[}}[2, 4, 1, 1]], 0, 0>
// CHECK: "ipu.infeed"() {prefetch_depth = 2 : i64, sym_name = "in", types = [tensor<4xf32>, tensor<4xi32>]}
// CHECK-NEXT: "ipu.outfeed"() {mode = "all", sym_name = "out", types = [tensor<4xf32>]}
// CHECK-NEXT: "ipu.variable"() {sym_name = "layer/w", type = tensor<4xf32>}
// CHECK-NEXT: "ipu.outfeed"() {mode = "last", sym_name = "newest", types = [tensor<4xf32>]}
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
