// RUN: ipu-opt %s --ipu-partition --ipu-place-tensors --split-input-file | filecheck %s

#map = affine_map<(d0) -> (d0)>

// Three slices that begin one element apart come in one cast: on each tile a block of three and both its neighbours.
// CHECK-DAG: #[[HOME:m[0-9]+]] = #ipu.mapping<14, {{\[}}[3, 14, 1, 1]], 0, 0>
// CHECK-DAG: #[[BOX:m[0-9]+]] = #ipu.mapping<14, {{\[}}[3, 12, 1, 1], [3, 3, 1, 0]], 0, 0>
// CHECK-LABEL: func.func @neighbours_of_a_block_come_in_one_cast
// CHECK-SAME: %[[X:.*]]: tensor<14xf32, #[[HOME]]>
// CHECK: %[[AROUND:.*]] = tensor.cast %[[X]] : tensor<14xf32, #[[HOME]]> to tensor<14xf32, #[[BOX]]>
// CHECK-NOT: tensor.cast
// CHECK-DAG: %[[LEFT:.*]] = tensor.extract_slice %[[AROUND]][0] [12] [1] {{.*}} : tensor<14xf32, #[[BOX]]> to tensor<12xf32, #[[BOX]]>
// CHECK-DAG: %[[RIGHT:.*]] = tensor.extract_slice %[[AROUND]][2] [12] [1]
// CHECK: linalg.generic {{.*}}ins(%[[LEFT]], %{{.*}}, %[[RIGHT]] :
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 5}>} {
  func.func @neighbours_of_a_block_come_in_one_cast(
      %x: tensor<14xf32> {ipu.map = #ipu.mapping<14, [[3, 14, 1, 1]], 0, 0>}) -> tensor<12xf32> {
    %a = tensor.extract_slice %x[0] [12] [1] : tensor<14xf32> to tensor<12xf32>
    %b = tensor.extract_slice %x[1] [12] [1] : tensor<14xf32> to tensor<12xf32>
    %c = tensor.extract_slice %x[2] [12] [1] : tensor<14xf32> to tensor<12xf32>
    %e = tensor.empty() : tensor<12xf32>
    %r = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]}
        ins(%a, %b, %c : tensor<12xf32>, tensor<12xf32>, tensor<12xf32>) outs(%e : tensor<12xf32>) {
    ^bb0(%l: f32, %m: f32, %n: f32, %o: f32):
      %s = arith.addf %l, %n : f32
      %t = arith.subf %s, %m : f32
      linalg.yield %t : f32
    } -> tensor<12xf32>
    return %r : tensor<12xf32>
  }
}

// -----

#map = affine_map<(d0) -> (d0)>

// Between the halves lies more than they have: each comes by itself.
// CHECK-LABEL: func.func @halves_come_apart
// CHECK-COUNT-2: tensor.cast %{{.*}} : tensor<6xf32, {{.*}}> to tensor<6xf32
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 5}>} {
  func.func @halves_come_apart(
      %x: tensor<12xf32> {ipu.map = #ipu.mapping<12, [[12, 12, 1, 0]], 0, 4>}) -> tensor<6xf32> {
    %a = tensor.extract_slice %x[0] [6] [1] : tensor<12xf32> to tensor<6xf32>
    %b = tensor.extract_slice %x[6] [6] [1] : tensor<12xf32> to tensor<6xf32>
    %e = tensor.empty() : tensor<6xf32>
    %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"],
                         ipu.parts = #ipu.parts<[[2, 6, 1]], 0>}
        ins(%a, %b : tensor<6xf32>, tensor<6xf32>) outs(%e : tensor<6xf32>) {
    ^bb0(%l: f32, %m: f32, %o: f32):
      %s = arith.addf %l, %m : f32
      linalg.yield %s : f32
    } -> tensor<6xf32>
    return %r : tensor<6xf32>
  }
}
