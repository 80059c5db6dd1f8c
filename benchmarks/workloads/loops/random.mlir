// loop_random: exported from the JAX form in small_loops.py.

#map = affine_map<() -> ()>
module @jit__random_jax {
  func.func public @main(%arg0: tensor<i32>) -> (tensor<i32>) {
    %c1_i32 = arith.constant 1 : i32
    %c1000_i32 = arith.constant 1000 : i32
    %cst = arith.constant dense<0> : tensor<i32>
    %0:4 = scf.while (%arg1 = %cst, %arg2 = %cst, %arg3 = %arg0, %arg4 = %cst) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) {
      %1 = tensor.empty() : tensor<i1>
      %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg1 : tensor<i32>) outs(%1 : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %3 = arith.cmpi slt, %in, %c1000_i32 : i32
        linalg.yield %3 : i1
      } -> tensor<i1>
      %extracted = tensor.extract %2[] : tensor<i1>
      scf.condition(%extracted) %arg1, %arg2, %arg3, %arg4 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
    } do {
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %1:3 = func.call @closed_call(%arg2, %arg3, %arg4) : (tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>)
      %2 = tensor.empty() : tensor<i32>
      %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg1 : tensor<i32>) outs(%2 : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %4 = arith.addi %in, %c1_i32 : i32
        linalg.yield %4 : i32
      } -> tensor<i32>
      scf.yield %3, %1#0, %1#1, %1#2 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
    }
    return %0#3 : tensor<i32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>) {
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 0x4B800000 : f32
    %c8_i32 = arith.constant 8 : i32
    %c1013904223_i32 = arith.constant 1013904223 : i32
    %c1664525_i32 = arith.constant 1664525 : i32
    %c1_i32 = arith.constant 1 : i32
    %cst_1 = arith.constant dense<1> : tensor<i32>
    %cst_2 = arith.constant dense<0> : tensor<i32>
    %0 = tensor.empty() : tensor<i32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg0 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %20 = arith.addi %in, %c1_i32 : i32
      linalg.yield %20 : i32
    } -> tensor<i32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg1 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %20 = arith.muli %in, %c1664525_i32 : i32
      linalg.yield %20 : i32
    } -> tensor<i32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%2 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %20 = arith.addi %in, %c1013904223_i32 : i32
      linalg.yield %20 : i32
    } -> tensor<i32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%3 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %20 = arith.shrui %in, %c8_i32 : i32
      linalg.yield %20 : i32
    } -> tensor<i32>
    %5 = tensor.empty() : tensor<f32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%4 : tensor<i32>) outs(%5 : tensor<f32>) {
    ^bb0(%in: i32, %out: f32):
      %20 = arith.uitofp %in : i32 to f32
      linalg.yield %20 : f32
    } -> tensor<f32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%6 : tensor<f32>) outs(%5 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.divf %in, %cst_0 : f32
      linalg.yield %20 : f32
    } -> tensor<f32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%3 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %20 = arith.muli %in, %c1664525_i32 : i32
      linalg.yield %20 : i32
    } -> tensor<i32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%8 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %20 = arith.addi %in, %c1013904223_i32 : i32
      linalg.yield %20 : i32
    } -> tensor<i32>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%9 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %20 = arith.shrui %in, %c8_i32 : i32
      linalg.yield %20 : i32
    } -> tensor<i32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%10 : tensor<i32>) outs(%5 : tensor<f32>) {
    ^bb0(%in: i32, %out: f32):
      %20 = arith.uitofp %in : i32 to f32
      linalg.yield %20 : f32
    } -> tensor<f32>
    %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%11 : tensor<f32>) outs(%5 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.divf %in, %cst_0 : f32
      linalg.yield %20 : f32
    } -> tensor<f32>
    %13 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%7, %7 : tensor<f32>, tensor<f32>) outs(%5 : tensor<f32>) {
    ^bb0(%in: f32, %in_3: f32, %out: f32):
      %20 = arith.mulf %in, %in_3 : f32
      linalg.yield %20 : f32
    } -> tensor<f32>
    %14 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%12, %12 : tensor<f32>, tensor<f32>) outs(%5 : tensor<f32>) {
    ^bb0(%in: f32, %in_3: f32, %out: f32):
      %20 = arith.mulf %in, %in_3 : f32
      linalg.yield %20 : f32
    } -> tensor<f32>
    %15 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%13, %14 : tensor<f32>, tensor<f32>) outs(%5 : tensor<f32>) {
    ^bb0(%in: f32, %in_3: f32, %out: f32):
      %20 = arith.addf %in, %in_3 : f32
      linalg.yield %20 : f32
    } -> tensor<f32>
    %16 = tensor.empty() : tensor<i1>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%15 : tensor<f32>) outs(%16 : tensor<i1>) {
    ^bb0(%in: f32, %out: i1):
      %20 = arith.cmpf olt, %in, %cst : f32
      linalg.yield %20 : i1
    } -> tensor<i1>
    %18 = call @_where(%17, %cst_1, %cst_2) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %19 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%arg2, %18 : tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %in_3: i32, %out: i32):
      %20 = arith.addi %in, %in_3 : i32
      linalg.yield %20 : i32
    } -> tensor<i32>
    return %1, %9, %19 : tensor<i32>, tensor<i32>, tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = tensor.empty() : tensor<i32>
    %1 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = []} ins(%arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_0: i32, %in_1: i32, %out: i32):
      %2 = arith.select %in, %in_0, %in_1 : i32
      linalg.yield %2 : i32
    } -> tensor<i32>
    return %1 : tensor<i32>
  }
}
