// loop_scatters: exported from the JAX form in small_loops.py.

#map = affine_map<() -> ()>
#map1 = affine_map<(d0) -> ()>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1) -> (d0)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
module @jit__scatters_jax {
  func.func public @main(%arg0: tensor<64xf32>, %arg1: tensor<1000x8xi32>, %arg2: tensor<1000x8xf32>) -> (tensor<64xf32>) {
    %c1_i32 = arith.constant 1 : i32
    %c1000_i32 = arith.constant 1000 : i32
    %cst = arith.constant dense<0> : tensor<i32>
    %0:3 = scf.while (%arg3 = %cst, %arg4 = %cst, %arg5 = %arg0) : (tensor<i32>, tensor<i32>, tensor<64xf32>) -> (tensor<i32>, tensor<i32>, tensor<64xf32>) {
      %1 = tensor.empty() : tensor<i1>
      %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg3 : tensor<i32>) outs(%1 : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %3 = arith.cmpi slt, %in, %c1000_i32 : i32
        linalg.yield %3 : i1
      } -> tensor<i1>
      %extracted = tensor.extract %2[] : tensor<i1>
      scf.condition(%extracted) %arg3, %arg4, %arg5 : tensor<i32>, tensor<i32>, tensor<64xf32>
    } do {
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>, %arg5: tensor<64xf32>):
      %1:2 = func.call @closed_call(%arg1, %arg2, %arg4, %arg5) : (tensor<1000x8xi32>, tensor<1000x8xf32>, tensor<i32>, tensor<64xf32>) -> (tensor<i32>, tensor<64xf32>)
      %2 = tensor.empty() : tensor<i32>
      %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg3 : tensor<i32>) outs(%2 : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %4 = arith.addi %in, %c1_i32 : i32
        linalg.yield %4 : i32
      } -> tensor<i32>
      scf.yield %3, %1#0, %1#1 : tensor<i32>, tensor<i32>, tensor<64xf32>
    }
    return %0#2 : tensor<64xf32>
  }
  func.func private @closed_call(%arg0: tensor<1000x8xi32>, %arg1: tensor<1000x8xf32>, %arg2: tensor<i32>, %arg3: tensor<64xf32>) -> (tensor<i32>, tensor<64xf32>) {
    %c8_i32 = arith.constant 8 : i32
    %false = arith.constant false
    %c999 = arith.constant 999 : index
    %c0 = arith.constant 0 : index
    %c1000_i32 = arith.constant 1000 : i32
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %cst = arith.constant dense<64> : tensor<i32>
    %cst_0 = arith.constant dense<0> : tensor<i32>
    %0 = tensor.empty() : tensor<i32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg2 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %25 = arith.addi %in, %c1_i32 : i32
      linalg.yield %25 : i32
    } -> tensor<i32>
    %2 = tensor.empty() : tensor<i1>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg2 : tensor<i32>) outs(%2 : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %25 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %25 : i1
    } -> tensor<i1>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg2 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %25 = arith.addi %in, %c1000_i32 : i32
      linalg.yield %25 : i32
    } -> tensor<i32>
    %5 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = []} ins(%3, %4, %arg2 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_4: i32, %in_5: i32, %out: i32):
      %25 = arith.select %in, %in_4, %in_5 : i32
      linalg.yield %25 : i32
    } -> tensor<i32>
    %6 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%2 : tensor<i1>) {
    ^bb0(%out: i1):
      linalg.yield %false : i1
    } -> tensor<i1>
    %7 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%0 : tensor<i32>) {
    ^bb0(%out: i32):
      linalg.yield %c8_i32 : i32
    } -> tensor<i32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%6, %7 : tensor<i1>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_4: i32, %out: i32):
      %25 = arith.select %in, %in_4, %c0_i32 : i32
      linalg.yield %25 : i32
    } -> tensor<i32>
    %extracted = tensor.extract %5[] : tensor<i32>
    %9 = arith.index_cast %extracted : i32 to index
    %10 = arith.maxsi %9, %c0 : index
    %11 = arith.minsi %10, %c999 : index
    %extracted_1 = tensor.extract %8[] : tensor<i32>
    %12 = arith.index_cast %extracted_1 : i32 to index
    %13 = arith.maxsi %12, %c0 : index
    %14 = arith.minsi %13, %c0 : index
    %extracted_slice = tensor.extract_slice %arg0[%11, %14] [1, 8] [1, 1] : tensor<1000x8xi32> to tensor<1x8xi32>
    %collapsed = tensor.collapse_shape %extracted_slice [[0, 1]] : tensor<1x8xi32> into tensor<8xi32>
    %extracted_slice_2 = tensor.extract_slice %arg1[%11, %14] [1, 8] [1, 1] : tensor<1000x8xf32> to tensor<1x8xf32>
    %collapsed_3 = tensor.collapse_shape %extracted_slice_2 [[0, 1]] : tensor<1x8xf32> into tensor<8xf32>
    %15 = tensor.empty() : tensor<8xi32>
    %16 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel"]} ins(%cst_0 : tensor<i32>) outs(%15 : tensor<8xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8xi32>
    %17 = tensor.empty() : tensor<8xi1>
    %18 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel"]} ins(%collapsed, %16 : tensor<8xi32>, tensor<8xi32>) outs(%17 : tensor<8xi1>) {
    ^bb0(%in: i32, %in_4: i32, %out: i1):
      %25 = arith.cmpi slt, %in, %in_4 : i32
      linalg.yield %25 : i1
    } -> tensor<8xi1>
    %19 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel"]} ins(%cst : tensor<i32>) outs(%15 : tensor<8xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8xi32>
    %20 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel"]} ins(%collapsed, %19 : tensor<8xi32>, tensor<8xi32>) outs(%15 : tensor<8xi32>) {
    ^bb0(%in: i32, %in_4: i32, %out: i32):
      %25 = arith.addi %in, %in_4 : i32
      linalg.yield %25 : i32
    } -> tensor<8xi32>
    %21 = linalg.generic {indexing_maps = [#map2, #map2, #map2, #map2], iterator_types = ["parallel"]} ins(%18, %20, %collapsed : tensor<8xi1>, tensor<8xi32>, tensor<8xi32>) outs(%15 : tensor<8xi32>) {
    ^bb0(%in: i1, %in_4: i32, %in_5: i32, %out: i32):
      %25 = arith.select %in, %in_4, %in_5 : i32
      linalg.yield %25 : i32
    } -> tensor<8xi32>
    %22 = tensor.empty() : tensor<8x1xi32>
    %23 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%21 : tensor<8xi32>) outs(%22 : tensor<8x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x1xi32>
    %24 = call @scatter_helper_1(%arg3, %23, %collapsed_3) : (tensor<64xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<64xf32>
    return %1, %24 : tensor<i32>, tensor<64xf32>
  }
  func.func private @scatter_helper_1(%arg0: tensor<64xf32>, %arg1: tensor<8x1xi32>, %arg2: tensor<8xf32>) -> tensor<64xf32> {
    %c63 = arith.constant 63 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %0 = scf.for %arg3 = %c0 to %c8 step %c1 iter_args(%arg4 = %arg0) -> (tensor<64xf32>) {
      %extracted = tensor.extract %arg1[%arg3, %c0] : tensor<8x1xi32>
      %1 = arith.index_cast %extracted : i32 to index
      %2 = arith.cmpi sge, %1, %c0 : index
      %3 = arith.cmpi sle, %1, %c63 : index
      %4 = arith.andi %2, %3 : i1
      %extracted_0 = tensor.extract %arg2[%arg3] : tensor<8xf32>
      %5 = scf.if %4 -> (tensor<64xf32>) {
        %extracted_1 = tensor.extract %arg4[%1] : tensor<64xf32>
        %6 = arith.addf %extracted_1, %extracted_0 : f32
        %inserted = tensor.insert %6 into %arg4[%1] : tensor<64xf32>
        scf.yield %inserted : tensor<64xf32>
      } else {
        scf.yield %arg4 : tensor<64xf32>
      }
      scf.yield %5 : tensor<64xf32>
    }
    return %0 : tensor<64xf32>
  }
}
