// RUN: ipu-opt %s --ipu-trim-windows | filecheck %s
// RUN: ipu-opt %s --ipu-trim-windows --linalg-fold-unit-extent-dims --canonicalize | filecheck %s --check-prefix=FOLDED

// One window over three of four elements: upstream makes the index plain, so that it would run over all four.
// CHECK-LABEL: func.func @one_window
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<3xf32>
// CHECK: %[[READ:.*]] = tensor.extract_slice %[[X]][0] [3] [1] : tensor<4xf32> to tensor<3xf32>
// CHECK: linalg.generic {{.*}} ins(%[[READ]], %[[W]]
// FOLDED-LABEL: func.func @one_window
// FOLDED: linalg.generic {{.*}} ins(%{{.*}} : tensor<3xf32>)
func.func @one_window(%x: tensor<4xf32>, %w: tensor<3xf32>, %init: tensor<1xf32>) -> tensor<1xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<4xf32>, tensor<3xf32>) outs(%init : tensor<1xf32>) {
  ^bb0(%in: f32, %shape: f32, %acc: f32):
    %sum = arith.addf %acc, %in : f32
    linalg.yield %sum : f32
  } -> tensor<1xf32>
  return %r : tensor<1xf32>
}

// Two windows of two dimensions, one of them with one row.
// CHECK-LABEL: func.func @only_the_folded_dimension
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [3, 9] [1, 1] : tensor<5x9xf32> to tensor<3x9xf32>
func.func @only_the_folded_dimension(%x: tensor<5x9xf32>, %w: tensor<3x3xf32>, %init: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i * 2 + k, j * 2 + l)>, affine_map<(i, j, k, l) -> (k, l)>,
                                        affine_map<(i, j, k, l) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<5x9xf32>, tensor<3x3xf32>) outs(%init : tensor<1x3xf32>) {
  ^bb0(%in: f32, %weight: f32, %acc: f32):
    %product = arith.mulf %in, %weight : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  } -> tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}

// CHECK-LABEL: func.func @windows_that_read_everything_stay
// CHECK-NOT: tensor.extract_slice
// CHECK: return
func.func @windows_that_read_everything_stay(%x: tensor<3xf32>, %w: tensor<3xf32>, %init: tensor<1xf32>) -> tensor<1xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<3xf32>, tensor<3xf32>) outs(%init : tensor<1xf32>) {
  ^bb0(%in: f32, %weight: f32, %acc: f32):
    %product = arith.mulf %in, %weight : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  } -> tensor<1xf32>
  return %r : tensor<1xf32>
}
