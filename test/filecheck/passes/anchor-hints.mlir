// RUN: ipu-opt %s --ipu-anchor-hints | filecheck %s

// CHECK-DAG: #[[HALVES:m[0-9]+]] = #ipu.mapping<4, {{\[}}[2, 4, 1, 1]], 0, 0>
// CHECK-DAG: #[[COLUMNS:m[0-9]+]] = #ipu.mapping<12, {{\[}}[3, 3, 4, 0], [2, 4, 1, 1]], 0, 5>
// CHECK-DAG: #[[REDUCED:m[0-9]+]] = #ipu.mapping<4, {{\[}}[2, 4, 1, 1]], 0, 1>

// CHECK-LABEL: func.func @parts_of_an_op_become_a_place_of_its_result
// CHECK: %[[SUM:.*]] = linalg.add ins
// CHECK-NEXT: %[[PLACED:.*]] = "ipu.place"(%[[SUM]]) {mapping = #[[HALVES]]}
// CHECK-NEXT: return %[[PLACED]]
func.func @parts_of_an_op_become_a_place_of_its_result(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add {ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @all_users_take_the_placed_value
// CHECK: %[[SUM:.*]] = linalg.add
// CHECK-NOT: ipu.parts
// CHECK-NEXT: %[[PLACED:.*]] = "ipu.place"(%[[SUM]]) {mapping = #[[COLUMNS]]}
// CHECK-NEXT: linalg.exp ins(%[[PLACED]]
// CHECK: linalg.log ins(%[[PLACED]]
func.func @all_users_take_the_placed_value(%x: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %e = tensor.empty() : tensor<3x4xf32>
  %y = linalg.add {ipu.parts = #ipu.parts<[[3, 3, 0], [2, 4, 1]], 5>}
      ins(%x, %x : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = linalg.exp ins(%y : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %w = linalg.log ins(%y : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %z, %w : tensor<3x4xf32>, tensor<3x4xf32>
}

// CHECK-LABEL: func.func @reduction_places_its_smaller_result
// CHECK: linalg.reduce
// CHECK: "ipu.place"({{.*}}) {mapping = #[[REDUCED]]} : (tensor<4xf32>)
func.func @reduction_places_its_smaller_result(%x: tensor<3x4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.reduce {arith.addf} ins(%x : tensor<3x4xf32>) outs(%e : tensor<4xf32>) dimensions = [0]
      {ipu.parts = #ipu.parts<[[3, 3, 0], [2, 4, 1]], 1>}
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_hint_no_place
// CHECK-NOT: ipu.place
func.func @no_hint_no_place(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
