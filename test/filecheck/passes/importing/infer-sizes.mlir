// RUN: ipu-opt %s --ipu-infer-sizes | filecheck %s

// CHECK-LABEL: func.func @concatenation_of_sizes_that_are_cast_away
// CHECK: %[[A:.*]] = tensor.extract_slice %{{.*}}[0, 4] [4, 2] [1, 1]
// CHECK: %[[B:.*]] = tensor.extract_slice %{{.*}}[0, 0] [4, 4] [1, 1]
// CHECK: tensor.concat dim(1) %[[A]], %[[B]] : (tensor<4x2xf32>, tensor<4x4xf32>) -> tensor<4x6xf32>
func.func @concatenation_of_sizes_that_are_cast_away(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %a = tensor.extract_slice %x[0, 4] [4, 2] [1, 1] : tensor<4x6xf32> to tensor<4x2xf32>
  %b = tensor.cast %a : tensor<4x2xf32> to tensor<4x?xf32>
  %c = tensor.extract_slice %x[0, 0] [4, 4] [1, 1] : tensor<4x6xf32> to tensor<4x4xf32>
  %d = tensor.cast %c : tensor<4x4xf32> to tensor<4x?xf32>
  %y = tensor.concat dim(1) %b, %d : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @sizes_go_through_what_follows
// CHECK: tensor.concat {{.*}} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
// CHECK: linalg.exp {{.*}} -> tensor<5xf32>
// CHECK: tensor.concat {{.*}} : (tensor<5xf32>, tensor<2xf32>) -> tensor<7xf32>
// CHECK-NOT: ?
// CHECK: return
func.func @sizes_go_through_what_follows(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<7xf32> {
  %zero = arith.constant 0 : index
  %a = tensor.cast %x : tensor<2xf32> to tensor<?xf32>
  %b = tensor.cast %y : tensor<3xf32> to tensor<?xf32>
  %c = tensor.concat dim(0) %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %n = tensor.dim %c, %zero : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %d = linalg.exp ins(%c : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %z = tensor.concat dim(0) %d, %a : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %r = tensor.cast %z : tensor<?xf32> to tensor<7xf32>
  return %r : tensor<7xf32>
}

// CHECK-LABEL: func.func @reshape_to_a_computed_shape
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1]] : tensor<4x6xf32> into tensor<24xf32>
// CHECK: tensor.expand_shape %[[FLAT]] {{\[\[}}0, 1, 2]] output_shape [3, 2, 4] : tensor<24xf32> into tensor<3x2x4xf32>
// CHECK-NOT: tensor.reshape
func.func @reshape_to_a_computed_shape(%x: tensor<4x6xf32>) -> tensor<3x2x4xf32> {
  %two = arith.constant 2 : i64
  %four = arith.constant 4 : i64
  %all = arith.constant 24 : i64
  %eight = arith.muli %two, %four : i64
  %three = arith.divsi %all, %eight : i64
  %shape = tensor.from_elements %three, %two, %four : tensor<3xi64>
  %y = tensor.reshape %x(%shape) : (tensor<4x6xf32>, tensor<3xi64>) -> tensor<?x2x4xf32>
  %r = tensor.cast %y : tensor<?x2x4xf32> to tensor<3x2x4xf32>
  return %r : tensor<3x2x4xf32>
}

// CHECK-LABEL: func.func @reshapes_from_and_to_rank_0
// CHECK: tensor.expand_shape %{{.*}} [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
// CHECK: tensor.collapse_shape %{{.*}} [] : tensor<1xf32> into tensor<f32>
func.func @reshapes_from_and_to_rank_0(%x: tensor<f32>, %y: tensor<1xf32>) -> (tensor<1x1xf32>, tensor<f32>) {
  %two = arith.constant dense<1> : tensor<2xindex>
  %none = arith.constant dense<> : tensor<0xindex>
  %a = tensor.reshape %x(%two) : (tensor<f32>, tensor<2xindex>) -> tensor<1x1xf32>
  %b = tensor.reshape %y(%none) : (tensor<1xf32>, tensor<0xindex>) -> tensor<f32>
  return %a, %b : tensor<1x1xf32>, tensor<f32>
}

// CHECK-LABEL: func.func @reshape_to_a_shape_from_outside_stays
// CHECK: tensor.reshape
func.func @reshape_to_a_shape_from_outside_stays(%x: tensor<4xf32>, %shape: tensor<2xi64>) -> tensor<2x2xf32> {
  %y = tensor.reshape %x(%shape) : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @loop_that_updates_what_it_carries
// CHECK: scf.for {{.*}} -> (tensor<4xf32>)
// CHECK: scf.if {{.*}} -> (tensor<4xf32>)
// CHECK-NOT: ?
// CHECK: return
func.func @loop_that_updates_what_it_carries(%x: tensor<4xf32>, %v: f32, %c: i1) -> (tensor<4xf32>, f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %a = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  %b = scf.for %i = %zero to %four step %one iter_args(%t = %a) -> tensor<?xf32> {
    %w = scf.if %c -> tensor<?xf32> {
      %u = scf.for %j = %zero to %four step %one iter_args(%s = %t) -> tensor<?xf32> {
        %n = tensor.insert %v into %s[%j] : tensor<?xf32>
        scf.yield %n : tensor<?xf32>
      }
      scf.yield %u : tensor<?xf32>
    } else {
      scf.yield %t : tensor<?xf32>
    }
    scf.yield %w : tensor<?xf32>
  }
  %d = tensor.extract %b[%one] : tensor<?xf32>
  %r = tensor.cast %b : tensor<?xf32> to tensor<4xf32>
  return %r, %d : tensor<4xf32>, f32
}

// ONNX puts shapes together of parts, and takes them apart again.
// CHECK-LABEL: func.func @shape_of_parts
// CHECK-NOT: ?
// CHECK: return
func.func @shape_of_parts(%x: tensor<2x4xf32>) -> tensor<6x4xf32> {
  %zero = arith.constant 0 : index
  %yes = arith.constant dense<true> : tensor<1xi1>
  %two = arith.constant dense<2> : tensor<1xi64>
  %three = arith.constant dense<3> : tensor<1xi64>
  %number = tensor.empty() : tensor<1xi64>
  %middle = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%yes, %three, %two : tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) outs(%number : tensor<1xi64>) {
  ^bb0(%c: i1, %a: i64, %b: i64, %out: i64):
    %s = arith.select %c, %a, %b : i64
    linalg.yield %s : i64
  } -> tensor<1xi64>
  %parts = tensor.concat dim(0) %two, %middle, %two : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %part = tensor.extract_slice %parts[1] [1] [1] : tensor<3xi64> to tensor<1xi64>
  %alone = tensor.collapse_shape %part [] : tensor<1xi64> into tensor<i64>
  %n = tensor.extract %alone[] : tensor<i64>
  %size = arith.index_cast %n : i64 to index
  %e = tensor.empty(%size) : tensor<2x?x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x4xf32>) outs(%e : tensor<2x?x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x?x4xf32>
  %rows = tensor.collapse_shape %r [[0, 1], [2]] : tensor<2x?x4xf32> into tensor<?x4xf32>
  %cast = tensor.cast %rows : tensor<?x4xf32> to tensor<6x4xf32>
  return %cast : tensor<6x4xf32>
}
