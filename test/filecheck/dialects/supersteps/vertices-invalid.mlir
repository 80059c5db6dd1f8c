// RUN: ipu-opt %s --split-input-file --verify-diagnostics

func.func @nothing_inside() {
  "ipu.compute_set"() ({
    // expected-error @below {{'ipu.vertices' op needs exactly one linalg op inside}}
    "ipu.vertices"() ({
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @two_ops_inside(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    // expected-error @below {{needs exactly one linalg op inside}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @another_op_inside(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    // expected-error @below {{needs exactly one linalg op inside}}
    "ipu.vertices"() ({
      memref.copy %x, %y : memref<4xf32, #a> to memref<4xf32, #a>
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @op_without_indexing_maps(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    // expected-error @below {{holds linalg.softmax, whose loops are not known; rewrite it as linalg.generic}}
    "ipu.vertices"() ({
      linalg.softmax dimension(0) ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "softmax_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @parts_are_missing(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    // expected-error @below {{attribute "parts" is expected but not provided}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32"} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @codelet_is_missing(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    // expected-error @below {{attribute "codelet" is expected but not provided}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @parts_of_too_many_loops(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    // expected-error @below {{has parts of 2 loops, but the op has 1}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1], [1, 1, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @last_part_is_dropped(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    // expected-error @below {{has parts for 2 iterations of loop d0, which has 4}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 2, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @part_beyond_the_loop(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    // expected-error @below {{has parts for 6 iterations of loop d0, which has 4}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 6, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @blocks_of_nothing(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    // expected-error @below {{cuts loop d0 into blocks of 0; a block has at least one iteration}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[0, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#rows = #ipu.mapping<8, [[2, 4, 2, 1], [2, 2, 1, 0]], 0, 0>
#both = #ipu.mapping<2, [[2, 2, 1, 0]], 0, 0>
func.func @reduction_is_cut(%x: memref<4x2xf32, #rows>, %y: memref<2xf32, #both>) {
  "ipu.compute_set"() ({
    // expected-error @below {{cuts the reduction loop d0 into blocks of 2; one vertex must run all 4}}
    "ipu.vertices"() ({
      linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
          iterator_types = ["reduction", "parallel"]} ins(%x : memref<4x2xf32, #rows>) outs(%y : memref<2xf32, #both>) {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        linalg.yield %s : f32
      }
    }) {codelet = "reduce_f32", parts = #ipu.parts<[[2, 4, 1], [2, 2, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @two_parts_on_one_tile(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    // expected-error @below {{puts two of its parts on one tile}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @operand_without_mapping(%x: memref<4xf32>, %y: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    // expected-error @below {{has operand 0 on no tile: memref<4xf32>; give it a #ipu.mapping as memory space}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @result_without_mapping(%x: memref<4xf32, #a>, %y: memref<4xf32>) {
  "ipu.compute_set"() ({
    // expected-error @below {{has result 0 on no tile: memref<4xf32>}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @vertex_reads_a_remote_tile(%x: memref<4xf32, #one>, %y: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    // expected-error @below {{reads element 2 of operand 0 on tile 1, where it does not lie (memref<4xf32, #ipu.mapping<4 : i64, [[4, 4, 1, 0]]}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #one>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @vertex_writes_a_remote_tile(%x: memref<4xf32, #a>, %y: memref<4xf32, #one>) {
  "ipu.compute_set"() ({
    // expected-error @below {{writes element 2 of result 0 on tile 1, where it does not lie}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #one>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#swapped = #ipu.mapping<4, [[2, 4, 1, -1]], 0, 1>
func.func @parts_are_swapped(%x: memref<4xf32, #swapped>, %y: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    // expected-error @below {{reads element 0 of operand 0 on tile 0, where it does not lie}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #swapped>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @parts_are_one_tile_off(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    // expected-error @below {{reads element 0 of operand 0 on tile 1, where it does not lie}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 1>} : () -> ()
  }) : () -> ()
  return
}

// -----

// Without its halo a tile lacks what the windows at its end read.
#halo = #ipu.mapping<6, [[2, 4, 1, 1]], 0, 0>
#kernel = #ipu.mapping<3, [[1, 2, 0, 1], [3, 3, 1, 0]], 0, 0>
#sums = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @halo_is_missing(%x: memref<6xf32, #halo>, %k: memref<3xf32, #kernel>, %y: memref<4xf32, #sums>) {
  "ipu.compute_set"() ({
    // expected-error @below {{reads element 2 of operand 0 on tile 0, where it does not lie}}
    "ipu.vertices"() ({
      linalg.conv_1d ins(%x, %k : memref<6xf32, #halo>, memref<3xf32, #kernel>) outs(%y : memref<4xf32, #sums>)
    }) {codelet = "conv_1d_f32", parts = #ipu.parts<[[2, 4, 1], [3, 3, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#both = #ipu.mapping<4, [[1, 2, 0, 1], [4, 4, 1, 0]], 0, 0>
func.func @result_lies_twice(%x: memref<4xf32, #a>, %y: memref<4xf32, #both>) {
  "ipu.compute_set"() ({
    // expected-error @below {{writes result 0, whose elements lie on several tiles each}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #both>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

// The parallel loop i does not index the result: both parts write all of it.
#rows = #ipu.mapping<8, [[2, 4, 2, 1], [2, 2, 1, 0]], 0, 0>
#both = #ipu.mapping<2, [[1, 2, 0, 1], [2, 2, 1, 0]], 0, 0>
func.func @two_writers_of_one_element(%x: memref<4x2xf32, #rows>, %y: memref<2xf32, #both>) {
  "ipu.compute_set"() ({
    // expected-error @below {{writes result 0, whose elements lie on several tiles each}}
    "ipu.vertices"() ({
      linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
          iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x2xf32, #rows>) outs(%y : memref<2xf32, #both>) {
      ^bb0(%a: f32, %b: f32):
        linalg.yield %a : f32
      }
    }) {codelet = "copy_f32", parts = #ipu.parts<[[2, 4, 1], [2, 2, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#twice = #ipu.mapping<4, [[2, 4, 1, 0]], 0, 0>
#halves = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @operand_with_two_parts_on_one_tile(%x: memref<4xf32, #twice>, %y: memref<4xf32, #halves>) {
  "ipu.compute_set"() ({
    // expected-error @below {{'ipu.vertices' op has operand 0 with a mapping that puts two parts on one tile: memref<4xf32}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #twice>) outs(%y : memref<4xf32, #halves>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#halves = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @parts_with_a_short_entry(%x: memref<4xf32, #halves>, %y: memref<4xf32, #halves>) {
  "ipu.compute_set"() ({
    // expected-error @below {{'ipu.vertices' op has #ipu.parts<[[2, 4]], 0> with the entry [2, 4]; each entry is [block, extent, tile_step]}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #halves>) outs(%y : memref<4xf32, #halves>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#whole = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @library_codelet_with_other_operands(%x: memref<4xf32, #whole>, %y: memref<4xf32, #whole>) {
  "ipu.compute_set"() ({
    // expected-error @below {{calls the library codelet 'scan_add' with memref<4xf32}}
    "ipu.vertices"() ({
      linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["reduction"], library_call = "scan_add"}
          ins(%x : memref<4xf32, #whole>) outs(%y : memref<4xf32, #whole>) {
      ^bb0(%a: f32, %b: f32):
        linalg.yield %a : f32
      }
    }) {codelet = "scan_add_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#whole = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @no_library_codelet(%x: memref<4xf32, #whole>, %y: memref<4xf32, #whole>) {
  "ipu.compute_set"() ({
    // expected-error @below {{calls 'shuffle', but no library codelet is called so; there are: cholesky}}
    "ipu.vertices"() ({
      linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["reduction"], library_call = "shuffle"}
          ins(%x : memref<4xf32, #whole>) outs(%y : memref<4xf32, #whole>) {
      ^bb0(%a: f32, %b: f32):
        linalg.yield %a : f32
      }
    }) {codelet = "shuffle_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#square = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#sums = #ipu.mapping<3, [[3, 3, 1, 0]], 0, 0>
func.func @sum_of_loops(%x: memref<2x2xf32, #square>, %y: memref<3xf32, #sums>) {
  "ipu.compute_set"() ({
    // expected-error @below {{has an index of result 0 that is not one loop; run ipu-normalize-indices while it is on tensors}}
    "ipu.vertices"() ({
      linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i + j)>],
          iterator_types = ["reduction", "reduction"]}
          ins(%x : memref<2x2xf32, #square>) outs(%y : memref<3xf32, #sums>) {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        linalg.yield %s : f32
      }
    }) {codelet = "reduce_f32", parts = #ipu.parts<[[2, 2, 0], [2, 2, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#square = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#row = #ipu.mapping<2, [[2, 2, 1, 0]], 0, 0>
func.func @results_over_different_loops(%x: memref<2x2xf32, #square>, %y: memref<2x2xf32, #square>, %z: memref<2xf32, #row>) {
  "ipu.compute_set"() ({
    // expected-error @below {{has results over different loops; run ipu-normalize-indices while it is on tensors}}
    "ipu.vertices"() ({
      linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]}
          ins(%x : memref<2x2xf32, #square>) outs(%y, %z : memref<2x2xf32, #square>, memref<2xf32, #row>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %s = arith.addf %a, %c : f32
        linalg.yield %a, %s : f32, f32
      }
    }) {codelet = "reduce_f32", parts = #ipu.parts<[[2, 2, 0], [2, 2, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}
