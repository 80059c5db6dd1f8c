// RUN: ipu-opt %s --ipu-fill-empties | filecheck %s

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @accumulator_that_nobody_filled
// CHECK: %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f32
// CHECK: %[[FILLED:.*]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK: linalg.matmul {{.*}} outs(%[[FILLED]]
func.func @accumulator_that_nobody_filled(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %e = tensor.empty() : tensor<2x2xf32>
  %y = linalg.matmul ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @loop_carries_an_empty_tensor
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: %[[FILLED:.*]] = linalg.fill ins(%[[ZERO]] : i32)
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[FILLED]])
func.func @loop_carries_an_empty_tensor(%v: i32) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %y = scf.for %i = %zero to %two step %one iter_args(%a = %e) -> tensor<4xi32> {
    %b = tensor.insert %v into %a[%i] : tensor<4xi32>
    scf.yield %b : tensor<4xi32>
  }
  return %y : tensor<4xi32>
}

// CHECK-LABEL: func.func @returned_empty_tensor
// CHECK: %[[FALSE:.*]] = arith.constant false
// CHECK: linalg.fill ins(%[[FALSE]] : i1)
func.func @returned_empty_tensor() -> tensor<4xi1> {
  %e = tensor.empty() : tensor<4xi1>
  return %e : tensor<4xi1>
}

// CHECK-LABEL: func.func @result_that_is_only_written_stays_empty
// CHECK-NOT: linalg.fill
// CHECK: return
func.func @result_that_is_only_written_stays_empty(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @one_empty_tensor_for_a_reader_and_a_writer
// CHECK: %[[FILLED:.*]] = linalg.fill
// CHECK: %[[EMPTY:.*]] = tensor.empty
// CHECK: linalg.exp {{.*}} outs(%[[EMPTY]]
// CHECK: linalg.matmul {{.*}} outs(%[[FILLED]]
func.func @one_empty_tensor_for_a_reader_and_a_writer(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %e = tensor.empty() : tensor<2x2xf32>
  %y = linalg.exp ins(%x : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %z = linalg.matmul ins(%x, %y : tensor<2x2xf32>, tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %z : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @input_that_nobody_filled
// CHECK: %[[FILLED:.*]] = linalg.fill
// CHECK: %[[EMPTY:.*]] = tensor.empty
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[FILLED]] : {{.*}}) outs(%[[EMPTY]] :
func.func @input_that_nobody_filled(%c: tensor<4xi1>) -> tensor<4xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%c, %e : tensor<4xi1>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: i1, %a: f32, %b: f32):
    %s = arith.select %p, %one, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @window_of_a_pooling_is_only_a_shape
// CHECK: %[[WINDOW:.*]] = tensor.empty() : tensor<2xf32>
// CHECK: linalg.pooling_nwc_sum {{.*}}ins(%{{.*}}, %[[WINDOW]] :
func.func @window_of_a_pooling_is_only_a_shape(%x: tensor<1x4x1xf32>, %e: tensor<1x3x1xf32>) -> tensor<1x3x1xf32> {
  %window = tensor.empty() : tensor<2xf32>
  %y = linalg.pooling_nwc_sum ins(%x, %window : tensor<1x4x1xf32>, tensor<2xf32>)
      outs(%e : tensor<1x3x1xf32>) -> tensor<1x3x1xf32>
  return %y : tensor<1x3x1xf32>
}

// CHECK-LABEL: func.func @slice_that_nobody_filled
// CHECK: %[[FILLED:.*]] = linalg.fill
// CHECK: tensor.insert_slice %[[FILLED]] into
func.func @slice_that_nobody_filled(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %y = tensor.insert_slice %e into %x[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @padding_that_wraps_around
// CHECK: %[[FILLED:.*]] = linalg.fill
// CHECK: tensor.insert_slice %{{.*}} into %[[FILLED]][1, 0]
func.func @padding_that_wraps_around(%x: tensor<2x2xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %a = tensor.insert_slice %x into %e[1, 0] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<4x3xf32>
  %b = tensor.extract_slice %a[0, 0] [4, 1] [1, 1] : tensor<4x3xf32> to tensor<4x1xf32>
  %c = tensor.insert_slice %b into %a[0, 2] [4, 1] [1, 1] : tensor<4x1xf32> into tensor<4x3xf32>
  %d = tensor.extract_slice %c[1, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<1x3xf32>
  %f = tensor.insert_slice %d into %c[3, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<4x3xf32>
  %g = tensor.extract_slice %c[2, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<1x3xf32>
  %h = tensor.insert_slice %g into %f[0, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<4x3xf32>
  return %h : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @slices_that_fill_all
// CHECK-NOT: linalg.fill
// CHECK: return
func.func @slices_that_fill_all(%x: tensor<2xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = tensor.insert_slice %x into %e[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %b = tensor.insert_slice %x into %a[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %b : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_read_through_a_view
// CHECK: %[[FILLED:.*]] = linalg.fill
// CHECK: tensor.extract_slice %[[FILLED]]
func.func @a_read_through_a_view(%x: tensor<2xf32>) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %s = tensor.extract_slice %e[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %r = linalg.add ins(%x, %x : tensor<2xf32>, tensor<2xf32>) outs(%s : tensor<2xf32>) -> tensor<2xf32>
  %y = linalg.add ins(%s, %r : tensor<2xf32>, tensor<2xf32>) outs(%r : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
