// RUN: ipu-opt %s --ipu-partition --split-input-file | filecheck %s

// What a loop carries is stored where its initial value is; where that is stands at the loop.
// CHECK-DAG: #[[HALVES:m[0-9]+]] = #ipu.mapping<8, {{\[}}[4, 8, 1, 1]], 0, 0>
// CHECK-LABEL: func.func @loop
// CHECK-SAME: {ipu.map = #[[HALVES]]}
// CHECK: linalg.exp {ipu.homes = [#[[HALVES]]], ipu.parts = {{.*}}}
// CHECK: scf.yield
// CHECK: } {ipu.block_homes = {{\[}}[unit, #[[HALVES]]]], ipu.homes = [#[[HALVES]]]}
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 2}>} {
  func.func @loop(%x: tensor<8xf32> {ipu.map = #ipu.mapping<8, [[4, 8, 1, 1]], 0, 0>}) -> tensor<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> tensor<8xf32> {
      %e = tensor.empty() : tensor<8xf32>
      %y = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      scf.yield %y : tensor<8xf32>
    }
    return %r : tensor<8xf32>
  }
}

// -----

// A while carries a counter, which is stored nowhere, and hands a tensor on. Both of its blocks are in the text.
// CHECK-DAG: #[[HALVES:m[0-9]+]] = #ipu.mapping<8, {{\[}}[4, 8, 1, 1]], 0, 0>
// CHECK-LABEL: func.func @while
// CHECK: scf.condition
// CHECK: } attributes {ipu.block_homes = {{\[}}[#[[HALVES]]], [#[[HALVES]]]], ipu.homes = [#[[HALVES]]]}
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 2}>} {
  func.func @while(%x: tensor<8xf32> {ipu.map = #ipu.mapping<8, [[4, 8, 1, 1]], 0, 0>}, %c: i1) -> tensor<8xf32> {
    %r = scf.while (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
      scf.condition(%c) %a : tensor<8xf32>
    } do {
    ^bb0(%b: tensor<8xf32>):
      scf.yield %b : tensor<8xf32>
    }
    return %r : tensor<8xf32>
  }
}

// -----

// Branches give their result where the first of them has it.
// CHECK-DAG: #[[HALVES:m[0-9]+]] = #ipu.mapping<8, {{\[}}[4, 8, 1, 1]], 0, 0>
// CHECK-DAG: #[[WHOLE:m[0-9]+]] = #ipu.mapping<8, {{\[}}[8, 8, 1, 0]], 0, 0>
// CHECK-LABEL: func.func @branch
// CHECK: } {ipu.homes = [#[[HALVES]]]}
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 2}>} {
  func.func @branch(%x: tensor<8xf32> {ipu.map = #ipu.mapping<8, [[4, 8, 1, 1]], 0, 0>},
                    %y: tensor<8xf32> {ipu.map = #ipu.mapping<8, [[8, 8, 1, 0]], 0, 0>}, %c: i1) -> tensor<8xf32> {
    %r = scf.if %c -> tensor<8xf32> {
      scf.yield %x : tensor<8xf32>
    } else {
      scf.yield %y : tensor<8xf32>
    }
    return %r : tensor<8xf32>
  }
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>

// A loop carries what an op reads with its neighbours on all sides: square blocks have the shortest edges.
// CHECK-DAG: #[[SQUARES:m[0-9]+]] = #ipu.mapping<256, {{\[}}[8, 16, 16, 2], [8, 16, 1, 1]], 0, 0>
// CHECK-LABEL: func.func @stencil
// CHECK-SAME: {ipu.map = #[[SQUARES]]}
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
  func.func @stencil(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%u = %x) -> tensor<16x16xf32> {
      %n = tensor.extract_slice %u[0, 1] [14, 14] [1, 1] : tensor<16x16xf32> to tensor<14x14xf32>
      %s = tensor.extract_slice %u[2, 1] [14, 14] [1, 1] : tensor<16x16xf32> to tensor<14x14xf32>
      %w = tensor.extract_slice %u[1, 0] [14, 14] [1, 1] : tensor<16x16xf32> to tensor<14x14xf32>
      %e = tensor.extract_slice %u[1, 2] [14, 14] [1, 1] : tensor<16x16xf32> to tensor<14x14xf32>
      %o = tensor.empty() : tensor<14x14xf32>
      %y = linalg.generic {indexing_maps = [#map, #map, #map, #map, #map], iterator_types = ["parallel", "parallel"]}
          ins(%n, %s, %w, %e : tensor<14x14xf32>, tensor<14x14xf32>, tensor<14x14xf32>, tensor<14x14xf32>)
          outs(%o : tensor<14x14xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %z: f32):
        %p = arith.addf %a, %b : f32
        %q = arith.addf %c, %d : f32
        %t = arith.addf %p, %q : f32
        linalg.yield %t : f32
      } -> tensor<14x14xf32>
      %v = tensor.insert_slice %y into %u[1, 1] [14, 14] [1, 1] : tensor<14x14xf32> into tensor<16x16xf32>
      scf.yield %v : tensor<16x16xf32>
    }
    return %r : tensor<16x16xf32>
  }
}
