// RUN: ipu-opt %s --ipu-raise-loops | filecheck %s

#id = affine_map<(j) -> (j)>
#same = affine_map<(i, j) -> (i, j)>

// A row is added at a place that is data, as in the gradient of an embedding.
// CHECK-LABEL: func.func @rows_are_added
// CHECK-NOT: scf.for
// CHECK: library_call = "scatter_add"
// CHECK-NOT: tensor.insert_slice
func.func @rows_are_added(%x: tensor<8x3xf32>, %at: tensor<4xindex>, %v: tensor<4x3xf32>) -> tensor<8x3xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %r = scf.for %i = %zero to %four step %one iter_args(%t = %x) -> tensor<8x3xf32> {
    %row = tensor.extract %at[%i] : tensor<4xindex>
    %old = tensor.extract_slice %t[%row, 0] [1, 3] [1, 1] : tensor<8x3xf32> to tensor<3xf32>
    %new = tensor.extract_slice %v[%i, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<3xf32>
    %sum = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%new : tensor<3xf32>) outs(%old : tensor<3xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %b, %a : f32
      linalg.yield %s : f32
    } -> tensor<3xf32>
    %w = tensor.insert_slice %sum into %t[%row, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<8x3xf32>
    scf.yield %w : tensor<8x3xf32>
  }
  return %r : tensor<8x3xf32>
}

// The row that is read is another one than the row that is written.
// CHECK-LABEL: func.func @rows_that_depend_on_each_other_stay
// CHECK: scf.for
// CHECK-NOT: library_call
// CHECK: tensor.insert_slice
func.func @rows_that_depend_on_each_other_stay(%x: tensor<8x3xf32>, %v: tensor<4x3xf32>) -> tensor<8x3xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %r = scf.for %i = %zero to %four step %one iter_args(%t = %x) -> tensor<8x3xf32> {
    %next = arith.addi %i, %one : index
    %old = tensor.extract_slice %t[%i, 0] [1, 3] [1, 1] : tensor<8x3xf32> to tensor<3xf32>
    %new = tensor.extract_slice %v[%i, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<3xf32>
    %sum = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%new : tensor<3xf32>) outs(%old : tensor<3xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %b, %a : f32
      linalg.yield %s : f32
    } -> tensor<3xf32>
    %w = tensor.insert_slice %sum into %t[%next, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<8x3xf32>
    scf.yield %w : tensor<8x3xf32>
  }
  return %r : tensor<8x3xf32>
}

// CHECK-LABEL: func.func @rows_that_are_reduced_stay
// CHECK: scf.for
// CHECK-NOT: library_call
func.func @rows_that_are_reduced_stay(%x: tensor<8x3xf32>, %v: tensor<4x3x2xf32>) -> tensor<8x3xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %e = tensor.empty() : tensor<3xf32>
  %r = scf.for %i = %zero to %four step %one iter_args(%t = %x) -> tensor<8x3xf32> {
    %new = tensor.extract_slice %v[%i, 0, 0] [1, 3, 2] [1, 1, 1] : tensor<4x3x2xf32> to tensor<3x2xf32>
    %sum = linalg.reduce {arith.addf} ins(%new : tensor<3x2xf32>) outs(%e : tensor<3xf32>) dimensions = [1]
    %w = tensor.insert_slice %sum into %t[%i, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<8x3xf32>
    scf.yield %w : tensor<8x3xf32>
  }
  return %r : tensor<8x3xf32>
}

// Each iteration writes the same rows, as where the interior of a padded field is computed: that is one copy already.
// CHECK-LABEL: func.func @rows_at_one_place_stay
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK-NOT: library_call
// CHECK: tensor.insert_slice
func.func @rows_at_one_place_stay(%x: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %c = arith.constant 0.000000e+00 : f32
  %border = tensor.splat %c : tensor<8x3xf32>
  %r = scf.for %i = %zero to %four step %one iter_args(%t = %x) -> tensor<8x3xf32> {
    %up = tensor.extract_slice %t[0, 0] [6, 3] [1, 1] : tensor<8x3xf32> to tensor<6x3xf32>
    %down = tensor.extract_slice %t[2, 0] [6, 3] [1, 1] : tensor<8x3xf32> to tensor<6x3xf32>
    %sum = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
        ins(%up : tensor<6x3xf32>) outs(%down : tensor<6x3xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %b, %a : f32
      linalg.yield %s : f32
    } -> tensor<6x3xf32>
    %w = tensor.insert_slice %sum into %border[1, 0] [6, 3] [1, 1] : tensor<6x3xf32> into tensor<8x3xf32>
    scf.yield %w : tensor<8x3xf32>
  }
  return %r : tensor<8x3xf32>
}
