// Rows of a table for 4096 numbers, and the table after a step against their gradients: each row added to in turn.
// sizes: rows = 50000

func.func @main(%table: tensor<50000x128xf32>, %ids: tensor<4096xi32>, %gradients: tensor<4096x128xf32>) -> (tensor<4096x128xf32>, tensor<50000x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4096 : index
  %minus_rate = arith.constant -0.01 : f32
  %e = tensor.empty() : tensor<4096x128xf32>
  %taken = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<4096xi32>) outs(%e : tensor<4096x128xf32>) {
  ^bb0(%id: i32, %out: f32):
    %row = arith.index_cast %id : i32 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %table[%row, %column] : tensor<50000x128xf32>
    linalg.yield %element : f32
  } -> tensor<4096x128xf32>
  %updated = scf.for %k = %c0 to %n step %c1 iter_args(%t = %table) -> (tensor<50000x128xf32>) {
    %id = tensor.extract %ids[%k] : tensor<4096xi32>
    %row = arith.index_cast %id : i32 to index
    %old = tensor.extract_slice %t[%row, 0] [1, 128] [1, 1] : tensor<50000x128xf32> to tensor<128xf32>
    %g = tensor.extract_slice %gradients[%k, 0] [1, 128] [1, 1] : tensor<4096x128xf32> to tensor<128xf32>
    %new = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]} ins(%g : tensor<128xf32>) outs(%old : tensor<128xf32>) {
    ^bb0(%p: f32, %q: f32):
      %step = arith.mulf %p, %minus_rate : f32
      %s = arith.addf %q, %step : f32
      linalg.yield %s : f32
    } -> tensor<128xf32>
    %next = tensor.insert_slice %new into %t[%row, 0] [1, 128] [1, 1] : tensor<128xf32> into tensor<50000x128xf32>
    scf.yield %next : tensor<50000x128xf32>
  }
  return %taken, %updated : tensor<4096x128xf32>, tensor<50000x128xf32>
}
