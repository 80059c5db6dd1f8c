// RUN: ipu-opt %s --ipu-split-fills | filecheck %s

// CHECK-LABEL: func.func @each_user_fills_its_own
// CHECK-DAG: %[[A:.*]] = linalg.fill
// CHECK: linalg.matmul {{.*}} outs(%[[A]]
// CHECK: %[[B:.*]] = linalg.fill
// CHECK: linalg.matmul {{.*}} outs(%[[B]]
func.func @each_user_fills_its_own(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %zero = linalg.fill ins(%c : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.matmul ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  %z = linalg.matmul ins(%y, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y, %z : tensor<2x2xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @fills_do_not_share_an_empty_tensor
// CHECK-DAG: %[[E:.*]] = tensor.empty
// CHECK-DAG: linalg.fill {{.*}} outs(%[[E]]
// CHECK: %[[F:.*]] = tensor.empty
// CHECK: linalg.fill {{.*}} outs(%[[F]]
// CHECK-NOT: tensor.empty
func.func @fills_do_not_share_an_empty_tensor(%c: f32, %d: f32) -> (tensor<2xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<2xf32>
  %y = linalg.fill ins(%c : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %z = linalg.fill ins(%d : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %y, %z : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @one_user_that_takes_it_twice
// CHECK-COUNT-2: linalg.fill
// CHECK-NOT: linalg.fill
// CHECK: linalg.add
func.func @one_user_that_takes_it_twice(%c: f32) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %f = tensor.empty() : tensor<2xf32>
  %y = linalg.fill ins(%c : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %z = linalg.add ins(%y, %y : tensor<2xf32>, tensor<2xf32>) outs(%f : tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}

// CHECK-LABEL: func.func @fill_with_one_user_stays
// CHECK-COUNT-1: linalg.fill
// CHECK-NOT: linalg.fill
func.func @fill_with_one_user_stays(%c: f32) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %y = linalg.fill ins(%c : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
