// RUN: ipu-opt %s --ipu-normalize-indices --split-input-file --verify-diagnostics

func.func @a_loop_that_the_result_lacks(%x: tensor<4x5xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{writes one element of result 0 in several iterations of loop 1, which is parallel; say that the loop is a reduction}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x5xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%e: f32, %old: f32):
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @loops_that_meet(%x: tensor<4x5xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{writes one element of result 0 in several iterations of loop 0, which is parallel}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i + j)>],
                       iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x5xf32>) outs(%b : tensor<8xf32>) {
  ^bb0(%e: f32, %old: f32):
    %s = arith.addf %e, %old : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @half_of_them(%x: tensor<4xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{writes one element of result 0 in several iterations of loop 0, which is parallel}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i floordiv 2)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%b : tensor<2xf32>) {
  ^bb0(%e: f32, %old: f32):
    linalg.yield %e : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

func.func @written_outside(%x: tensor<9xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @below {{writes element 3 of dimension 0 of result 0, which has 3; give it a larger size or change its index}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i mod 4)>],
                       iterator_types = ["reduction"]} ins(%x : tensor<9xf32>) outs(%b : tensor<3xf32>) {
  ^bb0(%e: f32, %old: f32):
    linalg.yield %e : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

func.func @read_outside(%x: tensor<3xf32>, %b: tensor<9xf32>) -> tensor<9xf32> {
  // expected-error @below {{reads element 3 of dimension 0 of operand 0, which has 3; give it a larger size or change its index}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i mod 4)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%b : tensor<9xf32>) {
  ^bb0(%e: f32, %old: f32):
    linalg.yield %e : f32
  } -> tensor<9xf32>
  return %r : tensor<9xf32>
}

// -----

func.func @too_many_points(%x: tensor<5000x5000xf32>, %b: tensor<9999xf32>) -> tensor<9999xf32> {
  // expected-error @below {{indexes result 0 by 25,000,000 points of 2 loops that meet there, at most 16,777,216; cut it into ops with fewer iterations}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i + j)>],
                       iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<5000x5000xf32>) outs(%b : tensor<9999xf32>) {
  ^bb0(%e: f32, %old: f32):
    %s = arith.addf %e, %old : f32
    linalg.yield %s : f32
  } -> tensor<9999xf32>
  return %r : tensor<9999xf32>
}
