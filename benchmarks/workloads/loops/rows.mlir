// loop_rows: exported from the JAX form in small_loops.py.

#map = affine_map<() -> ()>
#map1 = affine_map<(d0) -> ()>
#map2 = affine_map<(d0) -> (d0)>
module @jit__rows_jax {
  func.func public @main(%arg0: tensor<1001x64xf32>) -> (tensor<1001x64xf32>) {
    %c1_i32 = arith.constant 1 : i32
    %c1000_i32 = arith.constant 1000 : i32
    %cst = arith.constant dense<0> : tensor<i32>
    %0:3 = scf.while (%arg1 = %cst, %arg2 = %cst, %arg3 = %arg0) : (tensor<i32>, tensor<i32>, tensor<1001x64xf32>) -> (tensor<i32>, tensor<i32>, tensor<1001x64xf32>) {
      %1 = tensor.empty() : tensor<i1>
      %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg1 : tensor<i32>) outs(%1 : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %3 = arith.cmpi slt, %in, %c1000_i32 : i32
        linalg.yield %3 : i1
      } -> tensor<i1>
      %extracted = tensor.extract %2[] : tensor<i1>
      scf.condition(%extracted) %arg1, %arg2, %arg3 : tensor<i32>, tensor<i32>, tensor<1001x64xf32>
    } do {
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<1001x64xf32>):
      %1:2 = func.call @closed_call(%arg2, %arg3) : (tensor<i32>, tensor<1001x64xf32>) -> (tensor<i32>, tensor<1001x64xf32>)
      %2 = tensor.empty() : tensor<i32>
      %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg1 : tensor<i32>) outs(%2 : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %4 = arith.addi %in, %c1_i32 : i32
        linalg.yield %4 : i32
      } -> tensor<i32>
      scf.yield %3, %1#0, %1#1 : tensor<i32>, tensor<i32>, tensor<1001x64xf32>
    }
    return %0#2 : tensor<1001x64xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<1001x64xf32>) -> (tensor<i32>, tensor<1001x64xf32>) {
    %c64_i32 = arith.constant 64 : i32
    %false = arith.constant false
    %c1000 = arith.constant 1000 : index
    %c0 = arith.constant 0 : index
    %c1001_i32 = arith.constant 1001 : i32
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = tensor.empty() : tensor<i32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg0 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %21 = arith.addi %in, %c1_i32 : i32
      linalg.yield %21 : i32
    } -> tensor<i32>
    %2 = tensor.empty() : tensor<i1>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg0 : tensor<i32>) outs(%2 : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %21 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %21 : i1
    } -> tensor<i1>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg0 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %21 = arith.addi %in, %c1001_i32 : i32
      linalg.yield %21 : i32
    } -> tensor<i32>
    %5 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = []} ins(%3, %4, %arg0 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_1: i32, %in_2: i32, %out: i32):
      %21 = arith.select %in, %in_1, %in_2 : i32
      linalg.yield %21 : i32
    } -> tensor<i32>
    %6 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%2 : tensor<i1>) {
    ^bb0(%out: i1):
      linalg.yield %false : i1
    } -> tensor<i1>
    %7 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%0 : tensor<i32>) {
    ^bb0(%out: i32):
      linalg.yield %c64_i32 : i32
    } -> tensor<i32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%6, %7 : tensor<i1>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_1: i32, %out: i32):
      %21 = arith.select %in, %in_1, %c0_i32 : i32
      linalg.yield %21 : i32
    } -> tensor<i32>
    %extracted = tensor.extract %5[] : tensor<i32>
    %9 = arith.index_cast %extracted : i32 to index
    %10 = arith.maxsi %9, %c0 : index
    %11 = arith.minsi %10, %c1000 : index
    %extracted_0 = tensor.extract %8[] : tensor<i32>
    %12 = arith.index_cast %extracted_0 : i32 to index
    %13 = arith.maxsi %12, %c0 : index
    %14 = arith.minsi %13, %c0 : index
    %extracted_slice = tensor.extract_slice %arg1[%11, %14] [1, 64] [1, 1] : tensor<1001x64xf32> to tensor<1x64xf32>
    %collapsed = tensor.collapse_shape %extracted_slice [[0, 1]] : tensor<1x64xf32> into tensor<64xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%1 : tensor<i32>) outs(%2 : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %21 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %21 : i1
    } -> tensor<i1>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%1 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %21 = arith.addi %in, %c1001_i32 : i32
      linalg.yield %21 : i32
    } -> tensor<i32>
    %17 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = []} ins(%15, %16, %1 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_1: i32, %in_2: i32, %out: i32):
      %21 = arith.select %in, %in_1, %in_2 : i32
      linalg.yield %21 : i32
    } -> tensor<i32>
    %18 = tensor.empty() : tensor<1xi32>
    %19 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel"]} ins(%17 : tensor<i32>) outs(%18 : tensor<1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1xi32>
    %20 = call @scatter_helper_3(%arg1, %19, %collapsed) : (tensor<1001x64xf32>, tensor<1xi32>, tensor<64xf32>) -> tensor<1001x64xf32>
    return %1, %20 : tensor<i32>, tensor<1001x64xf32>
  }
  func.func private @scatter_helper_3(%arg0: tensor<1001x64xf32>, %arg1: tensor<1xi32>, %arg2: tensor<64xf32>) -> tensor<1001x64xf32> {
    %c1000 = arith.constant 1000 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %0 = scf.for %arg3 = %c0 to %c64 step %c1 iter_args(%arg4 = %arg0) -> (tensor<1001x64xf32>) {
      %extracted = tensor.extract %arg1[%c0] : tensor<1xi32>
      %1 = arith.index_cast %extracted : i32 to index
      %2 = arith.cmpi sge, %1, %c0 : index
      %3 = arith.cmpi sle, %1, %c1000 : index
      %4 = arith.andi %2, %3 : i1
      %extracted_0 = tensor.extract %arg2[%arg3] : tensor<64xf32>
      %5 = scf.if %4 -> (tensor<1001x64xf32>) {
        %extracted_1 = tensor.extract %arg4[%1, %arg3] : tensor<1001x64xf32>
        %6 = arith.addf %extracted_1, %extracted_0 : f32
        %inserted = tensor.insert %6 into %arg4[%1, %arg3] : tensor<1001x64xf32>
        scf.yield %inserted : tensor<1001x64xf32>
      } else {
        scf.yield %arg4 : tensor<1001x64xf32>
      }
      scf.yield %5 : tensor<1001x64xf32>
    }
    return %0 : tensor<1001x64xf32>
  }
}
