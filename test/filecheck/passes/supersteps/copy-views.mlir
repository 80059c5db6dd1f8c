// RUN: ipu-opt %s --ipu-set-target=tiles=2 --ipu-copy-views | filecheck %s

#rows = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#two = #ipu.mapping<2, [[2, 2, 1, 0]], 0, 0>
#on_one = #ipu.mapping<2, [[2, 2, 1, 0]], 0, 0>
#map = affine_map<(d0) -> (d0)>

// CHECK: #[[TWO:m[0-9]+]] = #ipu.mapping<2, {{\[}}[2, 2, 1, 0]], 0, 0>

// The slice is read after its tensor was updated: bufferization would copy it, to a mapping of 4 elements.
// CHECK-LABEL: func.func @part_that_is_overwritten
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: %[[E:.*]] = tensor.empty() : tensor<2xf32, #[[TWO]]>
// CHECK: %[[C:.*]] = linalg.copy {{.*}}ins(%[[S]] : {{.*}}) outs(%[[E]]
// CHECK: %[[V:.*]] = tensor.expand_shape %[[C]] {{.*}} into tensor<1x2xf32, #[[TWO]]>
// CHECK: %[[U:.*]] = tensor.collapse_shape %[[V]] {{.*}} into tensor<2xf32, #[[TWO]]>
// CHECK: linalg.exp {{.*}}ins(%[[U]]
func.func @part_that_is_overwritten(%x: tensor<4xf32, #one> {bufferization.writable = false})
    -> (tensor<4xf32, #one>, tensor<2xf32, #two>) {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32, #one>
  %y = linalg.exp {ipu.parts = #ipu.parts<[[4, 4, 0]], 0>}
      ins(%x : tensor<4xf32, #one>) outs(%e : tensor<4xf32, #one>) -> tensor<4xf32, #one>
  %s = tensor.extract_slice %y[1] [2] [1] {ipu.map = #two} : tensor<4xf32, #one> to tensor<2xf32, #one>
  %v = tensor.expand_shape %s [[0, 1]] output_shape [1, 2] : tensor<2xf32, #one> into tensor<1x2xf32, #one>
  %u = tensor.collapse_shape %v [[0, 1]] : tensor<1x2xf32, #one> into tensor<2xf32, #one>
  %z = linalg.fill {ipu.parts = #ipu.parts<[[4, 4, 0]], 0>}
      ins(%c : f32) outs(%y : tensor<4xf32, #one>) -> tensor<4xf32, #one>
  %f = tensor.empty() : tensor<2xf32, #two>
  %t = linalg.exp {ipu.parts = #ipu.parts<[[2, 2, 0]], 0>}
      ins(%u : tensor<2xf32, #one>) outs(%f : tensor<2xf32, #two>) -> tensor<2xf32, #two>
  return %z, %t : tensor<4xf32, #one>, tensor<2xf32, #two>
}

// Where its elements lie does not say where the copy lies best: the reader, on tile 1, gets a copy of its own.
// CHECK-LABEL: func.func @part_that_a_reader_needs_elsewhere
// CHECK: tensor.extract_slice
// CHECK: %[[C:.*]] = linalg.copy
// CHECK: linalg.fill
// CHECK: %[[D:.*]] = linalg.copy {{.*}}ins(%[[C]]
// CHECK: linalg.generic {{.*}} ins(%[[D]]
// CHECK-NOT: __inplace_operands_attr__
func.func @part_that_a_reader_needs_elsewhere(%x: tensor<4xf32, #rows> {bufferization.writable = false})
    -> (tensor<4xf32, #rows>, tensor<2xf32, #ipu.mapping<2, [[2, 2, 1, 0]], 0, 1>>) {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32, #rows>
  %y = linalg.exp {ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%x : tensor<4xf32, #rows>) outs(%e : tensor<4xf32, #rows>) -> tensor<4xf32, #rows>
  %s = tensor.extract_slice %y[2] [2] [1] {ipu.map = #on_one} : tensor<4xf32, #rows> to tensor<2xf32, #rows>
  %z = linalg.fill {ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%c : f32) outs(%y : tensor<4xf32, #rows>) -> tensor<4xf32, #rows>
  %f = tensor.empty() : tensor<2xf32, #ipu.mapping<2, [[2, 2, 1, 0]], 0, 1>>
  %t = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"], ipu.parts = #ipu.parts<[[2, 2, 0]], 1>}
      ins(%s : tensor<2xf32, #rows>) outs(%f : tensor<2xf32, #ipu.mapping<2, [[2, 2, 1, 0]], 0, 1>>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.exp %a : f32
    linalg.yield %b : f32
  } -> tensor<2xf32, #ipu.mapping<2, [[2, 2, 1, 0]], 0, 1>>
  return %z, %t : tensor<4xf32, #rows>, tensor<2xf32, #ipu.mapping<2, [[2, 2, 1, 0]], 0, 1>>
}

// Nothing of the analysis stays: bufferization would believe it, whatever has changed since.
// CHECK-LABEL: func.func @part_that_stays_is_a_view
// CHECK-SAME: (%{{.*}}: tensor<4xf32, #{{.*}}> {bufferization.writable = false})
// CHECK: tensor.extract_slice
// CHECK-NOT: ipu.map
// CHECK-NOT: linalg.copy
// CHECK: return %
func.func @part_that_stays_is_a_view(%x: tensor<4xf32, #one> {bufferization.writable = false}) -> tensor<2xf32, #two> {
  %e = tensor.empty() : tensor<4xf32, #one>
  %y = linalg.exp {ipu.parts = #ipu.parts<[[4, 4, 0]], 0>}
      ins(%x : tensor<4xf32, #one>) outs(%e : tensor<4xf32, #one>) -> tensor<4xf32, #one>
  %s = tensor.extract_slice %y[1] [2] [1] {ipu.map = #two} : tensor<4xf32, #one> to tensor<2xf32, #one>
  %f = tensor.empty() : tensor<2xf32, #two>
  %t = linalg.exp {ipu.parts = #ipu.parts<[[2, 2, 0]], 0>}
      ins(%s : tensor<2xf32, #one>) outs(%f : tensor<2xf32, #two>) -> tensor<2xf32, #two>
  return %t : tensor<2xf32, #two>
}
