// RUN: ipu-opt %s --ipu-partition --ipu-place-tensors --split-input-file | filecheck %s

#halves = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>

// CHECK-DAG: #[[HALVES:m[0-9]+]] = #ipu.mapping<4, {{\[}}[2, 4, 1, 1]], 0, 0>
// CHECK-LABEL: func.func @operand_that_lies_there_is_read_in_place
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32, #[[HALVES]]> {bufferization.writable = false}) -> tensor<4xf32, #[[HALVES]]>
// CHECK-NOT: ipu.map
// CHECK-NOT: tensor.cast
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4xf32, #[[HALVES]]>
// CHECK: linalg.exp {{.*}}ins(%[[X]] : {{.*}}) outs(%[[E]]
func.func @operand_that_lies_there_is_read_in_place(%x: tensor<4xf32> {ipu.map = #halves}) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp {ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>

// CHECK-DAG: #[[ONE:m[0-9]+]] = #ipu.mapping<4, {{\[}}[4, 4, 1, 0]], 0, 0>
// CHECK-DAG: #[[HALVES:m[0-9]+]] = #ipu.mapping<4, {{\[}}[2, 4, 1, 1]], 0, 0>
// CHECK-LABEL: func.func @operand_that_lies_elsewhere_is_cast
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32, #[[ONE]]>
// CHECK: %[[MOVED:.*]] = tensor.cast %[[X]] : tensor<4xf32, #[[ONE]]> to tensor<4xf32, #[[HALVES]]>
// CHECK: linalg.exp {{.*}}ins(%[[MOVED]]
func.func @operand_that_lies_elsewhere_is_cast(%x: tensor<4xf32> {ipu.map = #one}) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp {ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>

// CHECK-LABEL: func.func @two_readers_in_one_place_share_a_cast
// CHECK-COUNT-1: tensor.cast
// CHECK-NOT: tensor.cast
// CHECK: linalg.exp {{.*}}ins(%[[MOVED:[a-z0-9_]+]] :
// CHECK: linalg.log {{.*}}ins(%[[MOVED]] :
func.func @two_readers_in_one_place_share_a_cast(%x: tensor<4xf32> {ipu.map = #one}) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<4xf32>
  %y = linalg.exp {ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %z = linalg.log {ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// -----

#x = #ipu.mapping<12, [[3, 12, 1, 1]], 0, 0>
#w = #ipu.mapping<12, [[4, 12, 1, 1]], 0, 0>

// Row blocks of the left operand go to both tiles of a row, column blocks of the right one to both of a column.
// CHECK-DAG: #[[GRID:m[0-9]+]] = #ipu.mapping<16, {{\[}}[2, 4, 4, 2], [2, 4, 1, 1]], 0, 0>
// CHECK-DAG: #[[ROWS:m[0-9]+]] = #ipu.mapping<12, {{\[}}[6, 12, 1, 2], [1, 2, 0, 1]], 0, 0>
// CHECK-DAG: #[[COLUMNS:m[0-9]+]] = #ipu.mapping<12, {{\[}}[3, 3, 4, 0], [2, 4, 1, 1], [1, 2, 0, 2]], 0, 0>
// CHECK-LABEL: func.func @operands_of_a_matmul_are_spread_over_the_grid
// CHECK: tensor.cast %{{.*}} to tensor<4x3xf32, #[[ROWS]]>
// CHECK: tensor.cast %{{.*}} to tensor<3x4xf32, #[[COLUMNS]]>
// CHECK: linalg.matmul {{.*}} -> tensor<4x4xf32, #[[GRID]]>
func.func @operands_of_a_matmul_are_spread_over_the_grid(
    %x: tensor<4x3xf32> {ipu.map = #x}, %w: tensor<3x4xf32> {ipu.map = #w}) -> tensor<4x4xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %z = linalg.fill {ipu.parts = #ipu.parts<[[2, 4, 2], [2, 4, 1]], 0>}
      ins(%c : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.matmul {ipu.parts = #ipu.parts<[[2, 4, 2], [2, 4, 1], [3, 3, 0]], 0>}
      ins(%x, %w : tensor<4x3xf32>, tensor<3x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

#halves = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>

// A view keeps the mapping of the allocation that it shows; a reader elsewhere gets a tensor of its own.
// CHECK-DAG: #[[HALVES:m[0-9]+]] = #ipu.mapping<4, {{\[}}[2, 4, 1, 1]], 0, 0>
// CHECK-DAG: #[[OWN:m[0-9]+]] = #ipu.mapping<2, {{\[}}[2, 2, 1, 0]], 0, 0>
// CHECK-LABEL: func.func @slice_lies_where_its_source_lies
// CHECK: %[[S:.*]] = tensor.extract_slice {{.*}} : tensor<4xf32, #[[HALVES]]> to tensor<2xf32, #[[HALVES]]>
// CHECK: tensor.cast %[[S]] : tensor<2xf32, #[[HALVES]]> to tensor<2xf32, #[[OWN]]>
func.func @slice_lies_where_its_source_lies(%x: tensor<4xf32> {ipu.map = #halves}) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %s = tensor.extract_slice %x[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %y = linalg.exp {ipu.parts = #ipu.parts<[[2, 2, 0]], 0>}
      ins(%s : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

#halves = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>

// CHECK-DAG: #[[HALVES:m[0-9]+]] = #ipu.mapping<4, {{\[}}[2, 4, 1, 1]], 0, 0>
// CHECK-LABEL: func.func @slice_is_read_in_place_where_its_elements_lie
// CHECK-NOT: tensor.cast
// CHECK: return
func.func @slice_is_read_in_place_where_its_elements_lie(%x: tensor<4xf32> {ipu.map = #halves}) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %s = tensor.extract_slice %x[2] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %y = linalg.exp {ipu.parts = #ipu.parts<[[2, 2, 0]], 1>}
      ins(%s : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

#halves = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>

// CHECK-DAG: #[[HALVES:m[0-9]+]] = #ipu.mapping<4, {{\[}}[2, 4, 1, 1]], 0, 0>
// CHECK-DAG: #[[ONE:m[0-9]+]] = #ipu.mapping<4, {{\[}}[4, 4, 1, 0]], 0, 0>
// CHECK-LABEL: func.func @place_elsewhere_is_a_cast
// CHECK-NOT: ipu.place
// CHECK: %[[Y:.*]] = tensor.cast %{{.*}} : tensor<4xf32, #[[HALVES]]> to tensor<4xf32, #[[ONE]]>
// CHECK: return %[[Y]]
func.func @place_elsewhere_is_a_cast(%x: tensor<4xf32> {ipu.map = #halves}) -> tensor<4xf32> {
  %y = "ipu.place"(%x) {mapping = #one} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @place_where_it_lies_is_nothing
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32, #[[HALVES]]>
// CHECK-NEXT: return %[[X]]
func.func @place_where_it_lies_is_nothing(%x: tensor<4xf32> {ipu.map = #halves}) -> tensor<4xf32> {
  %y = "ipu.place"(%x) {mapping = #halves} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

#halves = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>

// CHECK-DAG: #[[HALVES:m[0-9]+]] = #ipu.mapping<4, {{\[}}[2, 4, 1, 1]], 0, 0>
// CHECK-LABEL: func.func @constants_keep_their_values
// CHECK: arith.constant dense<[1.0{{.*}}, 2.0{{.*}}, 3.0{{.*}}, 4.0{{.*}}]> : tensor<4xf32, #[[HALVES]]>
// CHECK: arith.constant dense<7> : tensor<4xi32, #[[HALVES]]>
// CHECK: arith.constant dense<[true, false, true, true]> : tensor<4xi1, #[[HALVES]]>
// CHECK: arith.constant dense<[1, -2, 3, 9223372036854775807]> : tensor<4xi64, #[[HALVES]]>
// CHECK: arith.constant dense<[0, 1, 2, 3]> : tensor<4xindex, #[[HALVES]]>
func.func @constants_keep_their_values()
    -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi1>, tensor<4xi64>, tensor<4xindex>) {
  %a = arith.constant {ipu.map = #halves} dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %b = arith.constant {ipu.map = #halves} dense<7> : tensor<4xi32>
  %c = arith.constant {ipu.map = #halves} dense<[true, false, true, true]> : tensor<4xi1>
  %d = arith.constant {ipu.map = #halves} dense<[1, -2, 3, 9223372036854775807]> : tensor<4xi64>
  %e = arith.constant {ipu.map = #halves} dense<[0, 1, 2, 3]> : tensor<4xindex>
  return %a, %b, %c, %d, %e : tensor<4xf32>, tensor<4xi32>, tensor<4xi1>, tensor<4xi64>, tensor<4xindex>
}

// -----

#point = #ipu.mapping<1, [], 0, 3>

// CHECK-DAG: #[[POINT:m[0-9]+]] = #ipu.mapping<1, [], 0, 3>
// CHECK-LABEL: func.func @rank_zero
// CHECK: arith.constant dense<2.5{{.*}}> : tensor<f64, #[[POINT]]>
// CHECK: linalg.exp {{.*}} -> tensor<f64, #[[POINT]]>
func.func @rank_zero() -> tensor<f64> {
  %c = arith.constant {ipu.map = #point} dense<2.5> : tensor<f64>
  %e = tensor.empty() : tensor<f64>
  %y = linalg.exp {ipu.parts = #ipu.parts<[], 3>} ins(%c : tensor<f64>) outs(%e : tensor<f64>) -> tensor<f64>
  return %y : tensor<f64>
}

// -----

#halves = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#one = #ipu.mapping<2, [[2, 2, 1, 0]], 0, 0>

// Part of a tensor that is computed may be copied: the view says where the copy would lie. Arguments are only read.
// CHECK-DAG: #[[ONE:m[0-9]+]] = #ipu.mapping<2, {{\[}}[1, 2, 1, 1]], 0, 0>
// CHECK-LABEL: func.func @part_says_where_a_copy_would_lie
// CHECK: tensor.extract_slice %{{.*}}[0] [2] [2] {ipu.map = #[[ONE]]}
// CHECK: tensor.extract_slice %{{.*}}[0] [2] [2] :
func.func @part_says_where_a_copy_would_lie(%x: tensor<4xf32> {ipu.map = #halves}) -> (tensor<2xf32>, tensor<2xf32>) {
  %e = tensor.empty() {ipu.map = #halves} : tensor<4xf32>
  %y = linalg.exp {ipu.parts = #ipu.parts<[[2, 4, 1]], 0>, ipu.homes = [#halves]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = tensor.extract_slice %y[0] [2] [2] : tensor<4xf32> to tensor<2xf32>
  %t = tensor.extract_slice %x[0] [2] [2] : tensor<4xf32> to tensor<2xf32>
  return %s, %t : tensor<2xf32>, tensor<2xf32>
}

// -----

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>

"ipu.variable"() {sym_name = "v", type = tensor<4xf32>, init = dense<1.0> : tensor<4xf32>} : () -> ()
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>, init = dense<1.0> : tensor<4xf32>} : () -> ()

// CHECK-LABEL: func.func @variables_that_are_only_read_stay
// CHECK-SAME: %{{.*}}: tensor<4xf32, #{{.*}}> {bufferization.writable = false, ipu.variable = @v},
// CHECK-SAME: %{{.*}}: tensor<4xf32, #{{.*}}> {ipu.variable = @w})
func.func @variables_that_are_only_read_stay(
    %v: tensor<4xf32> {ipu.map = #one, ipu.variable = @v}, %w: tensor<4xf32> {ipu.map = #one, ipu.variable = @w})
    -> (tensor<4xf32> {ipu.variable = @w}) {
  %y = linalg.exp {ipu.parts = #ipu.parts<[[4, 4, 0]], 0>}
      ins(%v : tensor<4xf32>) outs(%w : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
