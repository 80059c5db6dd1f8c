// RUN: ipu-opt %s --ipu-merge-reductions --split-input-file --verify-diagnostics

#x = affine_map<(m, k) -> (m, k)>
#y = affine_map<(m, k) -> (m)>
#blocks = affine_map<(m, k) -> (k floordiv 3, m)>
func.func @other_blocks(%x: memref<2x7xf32>, %p: memref<3x2xf32>) {
  // expected-error @below {{has ipu.partials = array<i64: 1, 4>, but dimension 0 of its result does not count blocks of 4 iterations of loop 1; remove the mark}}
  linalg.generic {indexing_maps = [#x, #blocks], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<2x7xf32>) outs(%p : memref<3x2xf32>) attrs = {ipu.partials = array<i64: 1, 4>} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#x = affine_map<(m, k) -> (m, k)>
#blocks = affine_map<(m, k) -> (k floordiv 3, m)>
func.func @no_pairs(%x: memref<2x7xf32>, %p: memref<3x2xf32>) {
  // expected-error @below {{has ipu.partials = array<i64: 1>, which is no loop and block for each dimension; remove the mark}}
  linalg.generic {indexing_maps = [#x, #blocks], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<2x7xf32>) outs(%p : memref<3x2xf32>) attrs = {ipu.partials = array<i64: 1>} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#x = affine_map<(m, k) -> (m, k)>
#blocks = affine_map<(m, k) -> (k floordiv 3, m)>
func.func @not_added(%x: memref<2x7xf32>, %p: memref<3x2xf32>) {
  // expected-error @below {{has ipu.partials, but its result is no reduction over these loops alone; remove the mark}}
  linalg.generic {indexing_maps = [#x, #blocks], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<2x7xf32>) outs(%p : memref<3x2xf32>) attrs = {ipu.partials = array<i64: 1, 3>} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.divf %c, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#p = affine_map<(m, s) -> (s, m)>
#y = affine_map<(m, s) -> (m)>
func.func @more_than_a_sum(%p: memref<3x2xf32>, %y: memref<2xf32>) {
  // expected-error @below {{has ipu.combines, but does more than combine the first dimensions of its operand; remove the mark}}
  linalg.generic {indexing_maps = [#p, #y], iterator_types = ["parallel", "reduction"]}
    ins(%p : memref<3x2xf32>) outs(%y : memref<2xf32>) attrs = {ipu.combines = array<i64: 1, 3>} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#p = affine_map<(m, s) -> (m, s)>
#y = affine_map<(m, s) -> (m)>
func.func @other_dimensions(%p: memref<2x3xf32>, %y: memref<2xf32>) {
  // expected-error @below {{has ipu.combines, but does more than combine the first dimensions of its operand; remove the mark}}
  linalg.generic {indexing_maps = [#p, #y], iterator_types = ["parallel", "reduction"]}
    ins(%p : memref<2x3xf32>) outs(%y : memref<2xf32>) attrs = {ipu.combines = array<i64: 1, 3>} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#x = affine_map<(m, k) -> (m, k)>
#y = affine_map<(m, k) -> (m)>
func.func @a_step_over_a_parallel_loop(%x: memref<2x7xf32>, %y: memref<2xf32>) {
  // expected-error @below {{has ipu.step = array<i64: 0, 0>, which is no reduced loop and where it begins; remove the mark}}
  linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<2x7xf32>) outs(%y : memref<2xf32>) attrs = {ipu.step = array<i64: 0, 0>} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#x = affine_map<(k) -> (k)>
#y = affine_map<(k) -> ()>
func.func @two_results(%x: memref<7xf32>, %y: memref<f32>, %z: memref<f32>) {
  // expected-error @below {{is marked with ipu.step, but is no reduction with one result; remove the mark}}
  linalg.generic {indexing_maps = [#x, #y, #y], iterator_types = ["reduction"]}
    ins(%x : memref<7xf32>) outs(%y, %z : memref<f32>, memref<f32>) attrs = {ipu.step = array<i64: 0, 0>} {
  ^bb0(%a: f32, %c: f32, %d: f32):
    %0 = arith.addf %c, %a : f32
    %1 = arith.mulf %d, %a : f32
    linalg.yield %0, %1 : f32, f32
  }
  return
}

// -----

#p = affine_map<(m, s) -> (s, m)>
#m = affine_map<(m, s) -> (m)>
func.func @subtracted(%p: memref<3x2xf32>, %o: memref<2xf32>) {
  // expected-error @below {{has ipu.combines, but does more than combine the first dimensions of its operand; remove the mark}}
  linalg.generic {indexing_maps = [#p, #m], iterator_types = ["parallel", "reduction"]}
    ins(%p : memref<3x2xf32>) outs(%o : memref<2xf32>) attrs = {ipu.combines = array<i64: 1, 3>} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.subf %c, %a : f32
    linalg.yield %0 : f32
  }
  return
}
