// loop_scan: exported from the JAX form in small_loops.py.

#map = affine_map<(d0) -> ()>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<() -> ()>
module @jit__scan_jax {
  func.func public @main(%arg0: tensor<1000xf32>) -> (tensor<1000xf32>) {
    %c1_i32 = arith.constant 1 : i32
    %c1000_i32 = arith.constant 1000 : i32
    %cst = arith.constant dense<0> : tensor<i32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<1000xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%cst_0 : tensor<f32>) outs(%0 : tensor<1000xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1000xf32>
    %2:3 = scf.while (%arg1 = %cst, %arg2 = %cst_0, %arg3 = %1) : (tensor<i32>, tensor<f32>, tensor<1000xf32>) -> (tensor<i32>, tensor<f32>, tensor<1000xf32>) {
      %3 = tensor.empty() : tensor<i1>
      %4 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%arg1 : tensor<i32>) outs(%3 : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %5 = arith.cmpi slt, %in, %c1000_i32 : i32
        linalg.yield %5 : i1
      } -> tensor<i1>
      %extracted = tensor.extract %4[] : tensor<i1>
      scf.condition(%extracted) %arg1, %arg2, %arg3 : tensor<i32>, tensor<f32>, tensor<1000xf32>
    } do {
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<f32>, %arg3: tensor<1000xf32>):
      %3 = tensor.empty() : tensor<i32>
      %4 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%arg1 : tensor<i32>) outs(%3 : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %10 = arith.subi %c1000_i32, %in : i32
        linalg.yield %10 : i32
      } -> tensor<i32>
      %5 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%4 : tensor<i32>) outs(%3 : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %10 = arith.subi %in, %c1_i32 : i32
        linalg.yield %10 : i32
      } -> tensor<i32>
      %6 = func.call @dynamic_index_in_dim(%arg0, %5) : (tensor<1000xf32>, tensor<i32>) -> tensor<f32>
      %7:2 = func.call @closed_call(%arg2, %6) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
      %8 = func.call @dynamic_update_index_in_dim(%arg3, %7#1, %5) : (tensor<1000xf32>, tensor<f32>, tensor<i32>) -> tensor<1000xf32>
      %9 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%arg1 : tensor<i32>) outs(%3 : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %10 = arith.addi %in, %c1_i32 : i32
        linalg.yield %10 : i32
      } -> tensor<i32>
      scf.yield %9, %7#0, %8 : tensor<i32>, tensor<f32>, tensor<1000xf32>
    }
    return %2#2 : tensor<1000xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<1000xf32>, %arg1: tensor<i32>) -> tensor<f32> {
    %c999 = arith.constant 999 : index
    %c0 = arith.constant 0 : index
    %extracted = tensor.extract %arg1[] : tensor<i32>
    %0 = arith.index_cast %extracted : i32 to index
    %1 = arith.maxsi %0, %c0 : index
    %2 = arith.minsi %1, %c999 : index
    %extracted_slice = tensor.extract_slice %arg0[%2] [1] [1] : tensor<1000xf32> to tensor<1xf32>
    %collapsed = tensor.collapse_shape %extracted_slice [] : tensor<1xf32> into tensor<f32>
    return %collapsed : tensor<f32>
  }
  func.func private @closed_call(%arg0: tensor<f32>, %arg1: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %cst = arith.constant 0.899999976 : f32
    %0 = tensor.empty() : tensor<f32>
    %1 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%arg0 : tensor<f32>) outs(%0 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %3 = arith.mulf %in, %cst : f32
      linalg.yield %3 : f32
    } -> tensor<f32>
    %2 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = []} ins(%1, %arg1 : tensor<f32>, tensor<f32>) outs(%0 : tensor<f32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %3 = arith.addf %in, %in_0 : f32
      linalg.yield %3 : f32
    } -> tensor<f32>
    return %2, %2 : tensor<f32>, tensor<f32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<1000xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<1000xf32> {
    %c999 = arith.constant 999 : index
    %c0 = arith.constant 0 : index
    %0 = tensor.empty() : tensor<1xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%arg1 : tensor<f32>) outs(%0 : tensor<1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1xf32>
    %extracted = tensor.extract %arg2[] : tensor<i32>
    %2 = arith.index_cast %extracted : i32 to index
    %3 = arith.maxsi %2, %c0 : index
    %4 = arith.minsi %3, %c999 : index
    %inserted_slice = tensor.insert_slice %1 into %arg0[%4] [1] [1] : tensor<1xf32> into tensor<1000xf32>
    return %inserted_slice : tensor<1000xf32>
  }
}
