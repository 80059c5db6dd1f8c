// RUN: ipu-opt %s --ipu-fold-gaps --canonicalize | filecheck %s

// The gradient of the weights of a convolution with strides of 2: its results lie 2 apart in zeros.
// CHECK-DAG:   #[[WINDOWS:.*]] = affine_map<(d0, d1, d2) -> (d0 + d1 * 2, d2)>
// CHECK-DAG:   #[[TAKEN:.*]] = affine_map<(d0, d1) -> (d0 + d1 * 3)>
// CHECK-DAG:   #[[BOTH:.*]] = affine_map<(d0, d1) -> (d0 * 2 + d1 * 2)>
// CHECK-DAG:   #[[SAME:.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @weights_of_strides
// CHECK-SAME:  (%[[X:.*]]: tensor<9x4xf32>, %[[D:.*]]: tensor<4xf32>, %[[INIT:.*]]: tensor<3x4xf32>)
// CHECK-NOT:   tensor.insert_slice
// CHECK:       linalg.generic {indexing_maps = [#[[WINDOWS]], {{.*}} ins(%[[X]], %[[D]] : tensor<9x4xf32>, tensor<4xf32>)
func.func @weights_of_strides(%x: tensor<9x4xf32>, %d: tensor<4xf32>, %init: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<7xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<7xf32>) -> tensor<7xf32>
  %apart = tensor.insert_slice %d into %zeros[0] [4] [2] : tensor<4xf32> into tensor<7xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(k, i, c) -> (k + i, c)>, affine_map<(k, i, c) -> (i)>, affine_map<(k, i, c) -> (k, c)>],
                       iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %apart : tensor<9x4xf32>, tensor<7xf32>) outs(%init : tensor<3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// Zeros before the first element: windows begin further on. Where elements lie side by side, only they are read.
// CHECK-LABEL: func.func @zeros_before
// CHECK:       %[[FROM:.*]] = tensor.extract_slice %{{.*}}[2] [10] [1] : tensor<12xf32> to tensor<10xf32>
// CHECK:       linalg.generic {indexing_maps = [#[[TAKEN]], {{.*}} ins(%[[FROM]], %{{.*}} : tensor<10xf32>, tensor<3xf32>)
func.func @zeros_before(%x: tensor<12xf32>, %d: tensor<3xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<9xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<9xf32>) -> tensor<9xf32>
  %apart = tensor.insert_slice %d into %zeros[2] [3] [3] : tensor<3xf32> into tensor<9xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(k, i) -> (k + i)>, affine_map<(k, i) -> (i)>, affine_map<(k, i) -> (k)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %apart : tensor<12xf32>, tensor<9xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @side_by_side
// CHECK:       %[[PART:.*]] = tensor.extract_slice %{{.*}}[1] [3] [1] : tensor<6xf32> to tensor<3xf32>
// CHECK:       linalg.generic {indexing_maps = [#[[SAME]], #[[SAME]], {{.*}} ins(%[[PART]], %{{.*}} : tensor<3xf32>, tensor<3xf32>)
func.func @side_by_side(%x: tensor<6xf32>, %d: tensor<3xf32>, %init: tensor<f32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<6xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<6xf32>) -> tensor<6xf32>
  %apart = tensor.insert_slice %d into %zeros[1] [3] [1] : tensor<3xf32> into tensor<6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x, %apart : tensor<6xf32>, tensor<6xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// Both loops of one index.
// CHECK-LABEL: func.func @two_loops_of_an_index
// CHECK:       tensor.extract_slice %{{.*}}[1] [12] [1] : tensor<13xf32> to tensor<12xf32>
// CHECK:       linalg.generic {indexing_maps = [#[[BOTH]], {{.*}} ins(%{{.*}}, %{{.*}} : tensor<12xf32>, tensor<3x4xf32>)
func.func @two_loops_of_an_index(%x: tensor<13xf32>, %d: tensor<3x4xf32>, %init: tensor<f32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x9xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x9xf32>) -> tensor<5x9xf32>
  %apart = tensor.insert_slice %d into %zeros[0, 1] [3, 4] [2, 2] : tensor<3x4xf32> into tensor<5x9xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
                       iterator_types = ["reduction", "reduction"]}
      ins(%x, %apart : tensor<13xf32>, tensor<5x9xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// Ones between elements are terms; and a loop over results is not shortened.
// CHECK-LABEL: func.func @no_zeros
// CHECK:       tensor.insert_slice
// CHECK-LABEL: func.func @results_stay
// CHECK:       tensor.insert_slice
func.func @no_zeros(%x: tensor<5xf32>, %d: tensor<3xf32>, %init: tensor<f32>) -> tensor<f32> {
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<5xf32>
  %ones = linalg.fill ins(%one : f32) outs(%empty : tensor<5xf32>) -> tensor<5xf32>
  %apart = tensor.insert_slice %d into %ones[0] [3] [2] : tensor<3xf32> into tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x, %apart : tensor<5xf32>, tensor<5xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
func.func @results_stay(%x: tensor<4xf32>, %d: tensor<3x4xf32>, %init: tensor<5xf32>) -> tensor<5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %apart = tensor.insert_slice %d into %zeros[0, 0] [3, 4] [2, 1] : tensor<3x4xf32> into tensor<5x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %apart : tensor<4xf32>, tensor<5x4xf32>) outs(%init : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
