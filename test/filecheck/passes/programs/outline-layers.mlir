// RUN: ipu-opt %s --ipu-outline-layers=least=2 | filecheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>

// Three layers are one function. What is made anywhere is made in it.
// CHECK-LABEL: func.func private @layer_0
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x8xf32>, %[[B:.*]]: tensor<8xf32>) -> tensor<4x8xf32>
// CHECK: %[[Z:.*]] = arith.constant 0.0
// CHECK: %[[F:.*]] = linalg.fill ins(%[[Z]] : f32)
// CHECK: %[[M:.*]] = linalg.matmul ins(%[[X]], %[[W]] : {{.*}}) outs(%[[F]] : tensor<4x8xf32>)
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[M]], %[[B]] :
// CHECK: return %[[R]] : tensor<4x8xf32>
// CHECK-LABEL: func.func @layers
// CHECK-SAME: (%[[X0:.*]]: tensor<4x8xf32>, %[[W0:.*]]: tensor<8x8xf32>, %[[W1:.*]]: tensor<8x8xf32>, %[[W2:.*]]: tensor<8x8xf32>, %[[B0:.*]]: tensor<8xf32>)
// CHECK: %[[X1:.*]] = call @layer_0(%[[X0]], %[[W0]], %[[B0]]) {ipu.outlined, no_inline}
// CHECK-NEXT: %[[X2:.*]] = call @layer_0(%[[X1]], %[[W1]], %[[B0]]) {ipu.outlined, no_inline}
// CHECK-NEXT: %[[X3:.*]] = call @layer_0(%[[X2]], %[[W2]], %[[B0]]) {ipu.outlined, no_inline}
// CHECK-NEXT: return %[[X3]]
func.func @layers(%x0: tensor<4x8xf32>, %w0: tensor<8x8xf32>, %w1: tensor<8x8xf32>, %w2: tensor<8x8xf32>,
                  %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %m1 = linalg.matmul ins(%x0, %w0 : tensor<4x8xf32>, tensor<8x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %x1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m1, %b : tensor<4x8xf32>, tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %m2 = linalg.matmul ins(%x1, %w1 : tensor<4x8xf32>, tensor<8x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %x2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m2, %b : tensor<4x8xf32>, tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %m3 = linalg.matmul ins(%x2, %w2 : tensor<4x8xf32>, tensor<8x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %x3 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m3, %b : tensor<4x8xf32>, tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %x3 : tensor<4x8xf32>
}

// All layers but the last give what is stored beside the others: they stay, so that nothing is copied.
// CHECK-LABEL: func.func @all_are_returned
// CHECK-COUNT-3: linalg.matmul
// CHECK-NOT: call
func.func @all_are_returned(%x0: tensor<4x4xf32>, %w0: tensor<4x4xf32>, %w1: tensor<4x4xf32>, %w2: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %x1 = linalg.matmul ins(%x0, %w0 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %x2 = linalg.matmul ins(%x1, %w1 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %x3 = linalg.matmul ins(%x2, %w2 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %x1, %x2, %x3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// What is added up in one tensor would be copied by every call.
// CHECK-LABEL: func.func @into_what_is_given
// CHECK-COUNT-3: linalg.matmul
// CHECK-NOT: call
func.func @into_what_is_given(%x: tensor<4x4xf32>, %w0: tensor<4x4xf32>, %w1: tensor<4x4xf32>, %w2: tensor<4x4xf32>,
                              %y0: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y1 = linalg.matmul ins(%x, %w0 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y2 = linalg.matmul ins(%x, %w1 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y1 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y3 = linalg.matmul ins(%x, %w2 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y2 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y3 : tensor<4x4xf32>
}

// The first copy takes one tensor as two arguments, which the others tell apart.
// CHECK-LABEL: func.func private @layer_1
// CHECK-SAME: (%[[A:.*]]: tensor<4x4xf32>, %[[B:.*]]: tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: linalg.matmul ins(%[[A]], %[[B]] :
// CHECK-LABEL: func.func @powers
// CHECK-SAME: (%[[X:.*]]: tensor<4x4xf32>)
// CHECK: %[[P2:.*]] = call @layer_1(%[[X]], %[[X]])
// CHECK-NEXT: %[[P3:.*]] = call @layer_1(%[[P2]], %[[X]])
// CHECK-NEXT: call @layer_1(%[[P3]], %[[X]])
func.func @powers(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = linalg.matmul ins(%2, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = linalg.matmul ins(%3, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}
