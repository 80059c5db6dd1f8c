// RUN: ipu-opt %s | ipu-opt | filecheck %s

// CHECK: #[[HALVES:m[0-9]+]] = #ipu.mapping<4, {{\[}}[2, 4, 1, 1]], 0, 0>

// CHECK-LABEL: func.func @place_is_a_hint_on_a_value
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: %[[Y:.*]] = "ipu.place"(%[[X]]) {mapping = #[[HALVES]]} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[Y]]
func.func @place_is_a_hint_on_a_value(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "ipu.place"(%x) {mapping = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
