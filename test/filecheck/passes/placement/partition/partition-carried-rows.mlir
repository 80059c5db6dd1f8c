// RUN: ipu-opt %s --ipu-set-target="tiles=4" --ipu-normalize --ipu-place | filecheck %s

// A tensor that a loop carries and writes row by row is cut inside its rows, so that each row lies on all tiles.
// CHECK-DAG: #[[RING:.*]] = #ipu.mapping<96, [[8, 8, 12, 0], [{{[0-9]+}}, 12, 1, 1]], 0, 0>
// CHECK-LABEL: func.func @ring
// CHECK: linalg.fill {{.*}} -> tensor<8x12xf32, #[[RING]]>
// CHECK: library_call = "update_slice"
func.func @ring(%x: tensor<12xf32>) -> tensor<8x12xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x12xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x12xf32>) -> tensor<8x12xf32>
  %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%ring = %f, %v = %x) -> (tensor<8x12xf32>, tensor<12xf32>) {
    %t = math.tanh %v : tensor<12xf32>
    %j = arith.muli %i, %c2 : index
    %k = arith.remui %j, %c8 : index
    %n = tensor.insert_slice %t into %ring[%k, 0] [1, 12] [1, 1] : tensor<12xf32> into tensor<8x12xf32>
    scf.yield %n, %t : tensor<8x12xf32>, tensor<12xf32>
  }
  return %r#0 : tensor<8x12xf32>
}
