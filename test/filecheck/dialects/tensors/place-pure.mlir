// RUN: ipu-opt %s --canonicalize --cse | filecheck %s

#halves = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>

// CHECK-LABEL: func.func @equal_places_are_one
// CHECK-COUNT-1: "ipu.place"
// CHECK-NOT: "ipu.place"
// CHECK-LABEL: func.func @unused_place_goes
// CHECK-NOT: "ipu.place"
func.func @equal_places_are_one(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = "ipu.place"(%x) {mapping = #halves} : (tensor<4xf32>) -> tensor<4xf32>
  %z = "ipu.place"(%x) {mapping = #halves} : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

func.func @unused_place_goes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "ipu.place"(%x) {mapping = #halves} : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
