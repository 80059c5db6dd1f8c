// RUN: ipu-opt %s --split-input-file --ipu-partition | filecheck %s --check-prefix=PARTITION
// RUN: ipu-opt %s --split-input-file --ipu-partition --ipu-place-tensors | filecheck %s

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
  // What a function takes and gives lies where it says, for all of its calls.
  // CHECK-LABEL: func.func private @f
  // CHECK-SAME: %[[A:.*]]: tensor<8xf32, #[[ROW:m[0-9]+]]>
  // CHECK-SAME: -> tensor<8xf32, #[[ROW]]>
  func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %b = linalg.exp {ipu.parts = #ipu.parts<[[2, 8, 1]], 0>} ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    return %b : tensor<8xf32>
  }

  // PARTITION: call @f(%{{.*}}) {ipu.block_homes = {{\[\[}}#[[HOME:m[0-9]+]]]], ipu.homes = [#[[HOME]]], ipu.outlined}
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: tensor<8xf32, #[[ROW]]> {{.*}}, %[[Y:arg1]]: tensor<8xf32, #[[TILE:m[0-9]+]]>
  // CHECK: %[[R:.*]] = call @f(%{{.*}}) {ipu.outlined} : (tensor<8xf32, #[[ROW]]>) -> tensor<8xf32, #[[ROW]]>
  // CHECK: call @f(%[[R]])
  // CHECK: %[[C:.*]] = tensor.cast %[[Y]] : tensor<8xf32, #[[TILE]]> to tensor<8xf32, #[[ROW]]>
  // CHECK: call @f(%[[C]])
  func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32> {ipu.map = #ipu.mapping<8, [[8, 8, 1, 0]], 0, 3>}) -> (tensor<8xf32>, tensor<8xf32>) {
    %r = func.call @f(%x) {ipu.outlined} : (tensor<8xf32>) -> tensor<8xf32>
    %s = func.call @f(%r) {ipu.outlined} : (tensor<8xf32>) -> tensor<8xf32>
    %t = func.call @f(%y) {ipu.outlined} : (tensor<8xf32>) -> tensor<8xf32>
    return %s, %t : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
  func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %b = linalg.exp {ipu.parts = #ipu.parts<[[1, 4, 1]], 0>} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    return %b : tensor<4xf32>
  }

  // A tensor has a home of its own size, whatever a part of it is handed to.
  // CHECK-LABEL: func.func @parts_of_tensors_are_handed_over
  // CHECK-SAME: tensor<8xf32, #[[X:m[0-9]+]]>
  // CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}} : tensor<8xf32, #[[X]]> to tensor<4xf32, #[[X]]>
  // CHECK: %[[C:.*]] = tensor.cast %[[S]] : tensor<4xf32, #[[X]]> to tensor<4xf32, #[[TAKEN:m[0-9]+]]>
  // CHECK: call @f(%[[C]])
  // CHECK: tensor.cast %{{.*}} : tensor<4xf32, #[[Y:m[0-9]+]]> to tensor<4xf32, #
  func.func @parts_of_tensors_are_handed_over(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %s = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %r = func.call @f(%s) {ipu.outlined} : (tensor<4xf32>) -> tensor<4xf32>
    %t = tensor.extract_slice %y[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %p = "ipu.place"(%t) {mapping = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 3>} : (tensor<4xf32>) -> tensor<4xf32>
    return %r, %p : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
  // What most calls get from the call before lies where that gives it, not where the function needs it.
  // CHECK-LABEL: func.func private @layer
  // CHECK-SAME: %[[A:.*]]: tensor<4x4xf32, #[[ROWS:m[0-9]+]]>
  // CHECK-SAME: -> tensor<4x4xf32, #[[ROWS]]>
  // CHECK: tensor.cast %[[A]]
  func.func private @layer(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %e = tensor.empty() : tensor<4x4xf32>
    %b = linalg.generic {ipu.parts = #ipu.parts<[[1, 4, 1], [4, 4, 0]], 0>, indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%x: f32, %o: f32):
      %y = math.exp %x : f32
      linalg.yield %y : f32
    } -> tensor<4x4xf32>
    return %b : tensor<4x4xf32>
  }

  // CHECK-LABEL: func.func @layers
  // CHECK: %[[X1:.*]] = call @layer(
  // CHECK-NEXT: %[[X2:.*]] = call @layer(%[[X1]])
  // CHECK-NEXT: call @layer(%[[X2]])
  func.func @layers(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %r = func.call @layer(%x) {ipu.outlined} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %s = func.call @layer(%r) {ipu.outlined} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %t = func.call @layer(%s) {ipu.outlined} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %t : tensor<4x4xf32>
  }
}
