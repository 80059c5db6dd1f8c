// RUN: ipu-opt %s | ipu-opt | filecheck %s

// Each attribute is written once, with an alias, and without the types of its numbers.

// CHECK: #t0 = #ipu.target<{tiles_per_ipu = 4}>
// CHECK-DAG: #[[BLOCKS:m[0-9]+]] = #ipu.mapping<32768, {{\[}}[8, 128, 256, 22], [12, 256, 1, 1]], 0, 0>
// CHECK-DAG: #[[HALO:m[0-9]+]] = #ipu.mapping<10, {{\[}}[4, 8, 1, 1], [3, 3, 1, 0]], 0, 2>
// CHECK-DAG: #[[POINT:m[0-9]+]] = #ipu.mapping<1, [], 0, 7>
// CHECK-DAG: #[[PARTS:p[0-9]+]] = #ipu.parts<{{\[}}[8, 128, 22], [12, 256, 1]], 5>
// CHECK-DAG: #[[NO_LOOPS:p[0-9]+]] = #ipu.parts<[], 3>
// CHECK: module attributes {ipu.target = #t0}
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {

// CHECK-LABEL: func.func private @mapping_as_memory_space_and_as_encoding
// CHECK-SAME: (memref<128x256xf32, #[[BLOCKS]]>, tensor<128x256xf32, #[[BLOCKS]]>)
func.func private @mapping_as_memory_space_and_as_encoding(
  memref<128x256xf32, #ipu.mapping<32768, [[8, 128, 256, 22], [12, 256, 1, 1]], 0, 0>>,
  tensor<128x256xf32, #ipu.mapping<32768, [[8 : i64, 128, 256, 22], [12, 256, 1, 1]], 0, 0 : i64>>)

// CHECK-LABEL: func.func private @overlapping_parts
// CHECK-SAME: (memref<10xf32, #[[HALO]]>)
func.func private @overlapping_parts(memref<10xf32, #ipu.mapping<10, [[4, 8, 1, 1], [3, 3, 1, 0]], 0, 2>>)

// CHECK-LABEL: func.func private @rank_zero
// CHECK-SAME: (memref<f32, #[[POINT]]>)
func.func private @rank_zero(memref<f32, #ipu.mapping<1, [], 0, 7>>)

// CHECK-LABEL: func.func private @parts()
// CHECK-SAME: ipu.parts = [#[[PARTS]], #[[NO_LOOPS]]]
func.func private @parts() attributes {
  ipu.parts = [#ipu.parts<[[8, 128, 22], [12, 256, 1]], 5>, #ipu.parts<[], 3>]
}

}
