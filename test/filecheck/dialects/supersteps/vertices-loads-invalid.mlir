// RUN: ipu-opt %s --split-input-file --verify-diagnostics

#rows = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#i = affine_map<(i) -> (i)>
func.func @table_lies_only_in_pieces(%table: memref<4xf32, #rows>, %indices: memref<4xindex, #rows>, %y: memref<4xf32, #rows>) {
  "ipu.compute_set"() ({
    // expected-error @below {{'ipu.vertices' op reads element 2 of load 0 of the body on tile 0, where it does not lie}}
    "ipu.vertices"() ({
      linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
          ins(%indices : memref<4xindex, #rows>) outs(%y : memref<4xf32, #rows>) {
      ^bb0(%at: index, %b: f32):
        %v = memref.load %table[%at] : memref<4xf32, #rows>
        linalg.yield %v : f32
      }
    }) {codelet = "gather_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#rows = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#ys = #ipu.mapping<3, [[2, 3, 1, 1]], 0, 0>
func.func @row_of_the_next_tile(%x: memref<4xf32, #rows>, %y: memref<3xf32, #ys>) {
  "ipu.compute_set"() ({
    // expected-error @below {{reads element 2 of load 0 of the body on tile 0, where it does not lie}}
    "ipu.vertices"() ({
      linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          outs(%y : memref<3xf32, #ys>) {
      ^bb0(%b: f32):
        %i = linalg.index 0 : index
        %one = arith.constant 1 : index
        %at = arith.addi %i, %one : index
        %v = memref.load %x[%at] : memref<4xf32, #rows>
        linalg.yield %v : f32
      }
    }) {codelet = "gather_f32", parts = #ipu.parts<[[2, 3, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#rows = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @table_without_mapping(%x: memref<4xf32>, %y: memref<4xf32, #rows>) {
  "ipu.compute_set"() ({
    // expected-error @below {{has load 0 of the body on no tile: memref<4xf32>}}
    "ipu.vertices"() ({
      linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          outs(%y : memref<4xf32, #rows>) {
      ^bb0(%b: f32):
        %at = linalg.index 0 : index
        %v = memref.load %x[%at] : memref<4xf32>
        linalg.yield %v : f32
      }
    }) {codelet = "gather_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}
