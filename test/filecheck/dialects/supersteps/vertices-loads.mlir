// RUN: ipu-opt %s | ipu-opt | filecheck %s

#table = #ipu.mapping<8, [[1, 2, 0, 1], [8, 8, 1, 0]], 0, 0>
#rows = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#i = affine_map<(i) -> (i)>

// The index is known only at run time: every tile holds the whole table.
// CHECK-LABEL: func.func @gather
// CHECK: memref.load
func.func @gather(%table: memref<8xf32, #table>, %indices: memref<4xindex, #rows>, %y: memref<4xf32, #rows>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
          ins(%indices : memref<4xindex, #rows>) outs(%y : memref<4xf32, #rows>) {
      ^bb0(%at: index, %b: f32):
        %v = memref.load %table[%at] : memref<8xf32, #table>
        linalg.yield %v : f32
      }
    }) {codelet = "gather_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// The index is that of the loop: every tile needs its own rows only.
// CHECK-LABEL: func.func @load_of_the_own_row
// CHECK: memref.load
func.func @load_of_the_own_row(%x: memref<4xf32, #rows>, %y: memref<4xf32, #rows>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.generic {indexing_maps = [#i], iterator_types = ["parallel"]} outs(%y : memref<4xf32, #rows>) {
      ^bb0(%b: f32):
        %at = linalg.index 0 : index
        %v = memref.load %x[%at] : memref<4xf32, #rows>
        linalg.yield %v : f32
      }
    }) {codelet = "gather_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}
