// RUN: ipu-opt %s --ipu-partition=available-memory-proportion=0.02 | filecheck %s

// A long product runs in steps, each of which leaves partial results: the next one adds to those, and the last ones are
// combined. Nothing is combined in between.
// CHECK-LABEL: func.func @partial_results_are_combined_once
// CHECK: %[[Y:.*]] = linalg.fill {{.*}} -> tensor<64x64xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<[[N:[0-9]+]]x64x64xf32>
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}} outs(%[[ZEROS]] : {{.*}}ipu.partials{{.*}}ipu.step = array<i64: 2, 0>}
// CHECK-NOT: linalg.fill
// CHECK-NOT: ipu.combines
// CHECK: linalg.generic {{.*}} outs(%[[FIRST]] : {{.*}}ipu.partials
// CHECK-COUNT-1: linalg.generic {{.*}} outs(%[[Y]] : tensor<64x64xf32>) {{.*}}ipu.combines
// CHECK-NOT: linalg.generic
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 64}>} {
  func.func @partial_results_are_combined_once(%x: tensor<64x4096xf32>, %w: tensor<4096x64xf32>) -> tensor<64x64xf32> {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %z = linalg.fill ins(%c : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %y = linalg.matmul ins(%x, %w : tensor<64x4096xf32>, tensor<4096x64xf32>) outs(%z : tensor<64x64xf32>)
      -> tensor<64x64xf32>
    return %y : tensor<64x64xf32>
  }
}
