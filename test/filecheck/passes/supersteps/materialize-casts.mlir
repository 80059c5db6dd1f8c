// RUN: ipu-opt %s --ipu-materialize-casts | filecheck %s

#home = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#a = #ipu.mapping<1, [], 0, 0>
#b = #ipu.mapping<1, [], 0, 1>
#c = #ipu.mapping<1, [], 0, 2>

// CHECK: #[[HOME:m[0-9]+]] = #ipu.mapping<4, {{\[}}[2, 4, 1, 1]], 0, 0>
// CHECK: #[[ONE:m[0-9]+]] = #ipu.mapping<4, {{\[}}[4, 4, 1, 0]], 0, 0>

// CHECK-LABEL: func.func @change_of_mapping_is_a_copy
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32, #[[HOME]]>)
// CHECK-NOT: tensor.cast
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4xf32, #[[ONE]]>
// CHECK: %[[Y:.*]] = linalg.copy {{.*}}ins(%[[X]] : tensor<4xf32, #[[HOME]]>) outs(%[[E]] : tensor<4xf32, #[[ONE]]>)
// CHECK: return %[[Y]]
func.func @change_of_mapping_is_a_copy(%x: tensor<4xf32, #home>) -> tensor<4xf32, #one> {
  %y = tensor.cast %x : tensor<4xf32, #home> to tensor<4xf32, #one>
  return %y : tensor<4xf32, #one>
}

// CHECK-LABEL: func.func @two_casts_are_two_copies
// CHECK-COUNT-2: linalg.copy
// CHECK-NOT: tensor.cast
func.func @two_casts_are_two_copies(%x: tensor<i1, #a>) -> tensor<i1, #c> {
  %y = tensor.cast %x : tensor<i1, #a> to tensor<i1, #b>
  %z = tensor.cast %y : tensor<i1, #b> to tensor<i1, #c>
  return %z : tensor<i1, #c>
}

// CHECK-LABEL: func.func @cast_without_mapping_stays
// CHECK: tensor.cast
func.func @cast_without_mapping_stays(%x: tensor<4xf32>) -> tensor<?xf32> {
  %y = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}

#x = #ipu.mapping<6, [[3, 6, 1, 1]], 0, 0>
#far = #ipu.mapping<8, [[4, 8, 1, 1]], 0, 0>
#box = #ipu.mapping<8, [[3, 3, 1, 0], [3, 6, 1, 1]], 0, 0>

// CHECK-LABEL: func.func @what_is_padded_is_padded_where_it_is_read
// CHECK-SAME: (%[[X:.*]]: tensor<6xf32
// CHECK-NOT: linalg.fill
// CHECK: tensor.empty() : tensor<8xf32
// CHECK: %[[E:.*]] = tensor.empty() : tensor<8xf32, #[[BOX:m[0-9]+]]>
// CHECK: %[[L:.*]] = arith.constant dense<0.000000e+00> : tensor<1xf32
// CHECK: %[[J:.*]] = tensor.insert_slice %[[L]] into %[[E]][0] [1] [1]
// CHECK: %[[K:.*]] = tensor.insert_slice %{{.*}} into %[[J]][7] [1] [1]
// CHECK: %[[I:.*]] = tensor.insert_slice %[[X]] into %[[K]][1] [6] [1]
// CHECK: return %[[I]] : tensor<8xf32, #[[BOX]]>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 2, name = "ipu2"}>} {
func.func @what_is_padded_is_padded_where_it_is_read(%x: tensor<6xf32, #x>) -> tensor<8xf32, #box> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32, #far>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32, #far>) -> tensor<8xf32, #far>
  %p = tensor.insert_slice %x into %f[1] [6] [1] : tensor<6xf32, #x> into tensor<8xf32, #far>
  %y = tensor.cast %p : tensor<8xf32, #far> to tensor<8xf32, #box>
  return %y : tensor<8xf32, #box>
}
}
