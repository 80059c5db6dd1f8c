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
