// loop_sweeps: exported from the JAX form in small_loops.py.

#map = affine_map<(d0) -> ()>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<() -> ()>
module @jit__sweeps_jax {
  func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<16xf32>) -> (tensor<16xf32>) {
    %c1_i32 = arith.constant 1 : i32
    %c50_i32 = arith.constant 50 : i32
    %cst = arith.constant dense<0> : tensor<i32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<16xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%cst_0 : tensor<f32>) outs(%0 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16xf32>
    %2:3 = scf.while (%arg2 = %cst, %arg3 = %cst, %arg4 = %1) : (tensor<i32>, tensor<i32>, tensor<16xf32>) -> (tensor<i32>, tensor<i32>, tensor<16xf32>) {
      %3 = tensor.empty() : tensor<i1>
      %4 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%arg2 : tensor<i32>) outs(%3 : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %5 = arith.cmpi slt, %in, %c50_i32 : i32
        linalg.yield %5 : i1
      } -> tensor<i1>
      %extracted = tensor.extract %4[] : tensor<i1>
      scf.condition(%extracted) %arg2, %arg3, %arg4 : tensor<i32>, tensor<i32>, tensor<16xf32>
    } do {
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<16xf32>):
      %3:2 = func.call @closed_call(%arg1, %arg0, %arg3, %arg4) : (tensor<16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<16xf32>) -> (tensor<i32>, tensor<16xf32>)
      %4 = tensor.empty() : tensor<i32>
      %5 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%arg2 : tensor<i32>) outs(%4 : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %6 = arith.addi %in, %c1_i32 : i32
        linalg.yield %6 : i32
      } -> tensor<i32>
      scf.yield %5, %3#0, %3#1 : tensor<i32>, tensor<i32>, tensor<16xf32>
    }
    return %2#2 : tensor<16xf32>
  }
  func.func private @closed_call(%arg0: tensor<16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<i32>, %arg3: tensor<16xf32>) -> (tensor<i32>, tensor<16xf32>) {
    %c16_i32 = arith.constant 16 : i32
    %c1_i32 = arith.constant 1 : i32
    %cst = arith.constant dense<0> : tensor<i32>
    %0 = tensor.empty() : tensor<i32>
    %1 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%arg2 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %3 = arith.addi %in, %c1_i32 : i32
      linalg.yield %3 : i32
    } -> tensor<i32>
    %2:3 = scf.while (%arg4 = %cst, %arg5 = %cst, %arg6 = %arg3) : (tensor<i32>, tensor<i32>, tensor<16xf32>) -> (tensor<i32>, tensor<i32>, tensor<16xf32>) {
      %3 = tensor.empty() : tensor<i1>
      %4 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%arg4 : tensor<i32>) outs(%3 : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %5 = arith.cmpi slt, %in, %c16_i32 : i32
        linalg.yield %5 : i1
      } -> tensor<i1>
      %extracted = tensor.extract %4[] : tensor<i1>
      scf.condition(%extracted) %arg4, %arg5, %arg6 : tensor<i32>, tensor<i32>, tensor<16xf32>
    } do {
    ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>, %arg6: tensor<16xf32>):
      %3:2 = func.call @closed_call_0(%arg0, %arg1, %arg5, %arg6) : (tensor<16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<16xf32>) -> (tensor<i32>, tensor<16xf32>)
      %4 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%arg4 : tensor<i32>) outs(%0 : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %5 = arith.addi %in, %c1_i32 : i32
        linalg.yield %5 : i32
      } -> tensor<i32>
      scf.yield %4, %3#0, %3#1 : tensor<i32>, tensor<i32>, tensor<16xf32>
    }
    return %1, %2#2 : tensor<i32>, tensor<16xf32>
  }
  func.func private @closed_call_0(%arg0: tensor<16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<i32>, %arg3: tensor<16xf32>) -> (tensor<i32>, tensor<16xf32>) {
    %false = arith.constant false
    %cst = arith.constant 0.000000e+00 : f32
    %c15 = arith.constant 15 : index
    %c0 = arith.constant 0 : index
    %c16_i32 = arith.constant 16 : i32
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = tensor.empty() : tensor<i32>
    %1 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%arg2 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %25 = arith.addi %in, %c1_i32 : i32
      linalg.yield %25 : i32
    } -> tensor<i32>
    %2 = tensor.empty() : tensor<i1>
    %3 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%arg2 : tensor<i32>) outs(%2 : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %25 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %25 : i1
    } -> tensor<i1>
    %4 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%arg2 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %25 = arith.addi %in, %c16_i32 : i32
      linalg.yield %25 : i32
    } -> tensor<i32>
    %5 = linalg.generic {indexing_maps = [#map2, #map2, #map2, #map2], iterator_types = []} ins(%3, %4, %arg2 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_7: i32, %in_8: i32, %out: i32):
      %25 = arith.select %in, %in_7, %in_8 : i32
      linalg.yield %25 : i32
    } -> tensor<i32>
    %extracted = tensor.extract %5[] : tensor<i32>
    %6 = arith.index_cast %extracted : i32 to index
    %7 = arith.maxsi %6, %c0 : index
    %8 = arith.minsi %7, %c15 : index
    %extracted_slice = tensor.extract_slice %arg0[%8] [1] [1] : tensor<16xf32> to tensor<1xf32>
    %collapsed = tensor.collapse_shape %extracted_slice [] : tensor<1xf32> into tensor<f32>
    %9 = linalg.generic {indexing_maps = [#map2], iterator_types = []} outs(%2 : tensor<i1>) {
    ^bb0(%out: i1):
      linalg.yield %false : i1
    } -> tensor<i1>
    %10 = linalg.generic {indexing_maps = [#map2], iterator_types = []} outs(%0 : tensor<i32>) {
    ^bb0(%out: i32):
      linalg.yield %c16_i32 : i32
    } -> tensor<i32>
    %11 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = []} ins(%9, %10 : tensor<i1>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_7: i32, %out: i32):
      %25 = arith.select %in, %in_7, %c0_i32 : i32
      linalg.yield %25 : i32
    } -> tensor<i32>
    %extracted_0 = tensor.extract %11[] : tensor<i32>
    %12 = arith.index_cast %extracted_0 : i32 to index
    %13 = arith.maxsi %12, %c0 : index
    %14 = arith.minsi %13, %c0 : index
    %extracted_slice_1 = tensor.extract_slice %arg1[%8, %14] [1, 16] [1, 1] : tensor<16x16xf32> to tensor<1x16xf32>
    %collapsed_2 = tensor.collapse_shape %extracted_slice_1 [[0, 1]] : tensor<1x16xf32> into tensor<16xf32>
    %15 = tensor.empty() : tensor<f32>
    %16 = linalg.fill ins(%cst : f32) outs(%15 : tensor<f32>) -> tensor<f32>
    %17 = linalg.dot ins(%collapsed_2, %arg3 : tensor<16xf32>, tensor<16xf32>) outs(%16 : tensor<f32>) -> tensor<f32>
    %18 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = []} ins(%collapsed, %17 : tensor<f32>, tensor<f32>) outs(%15 : tensor<f32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %25 = arith.subf %in, %in_7 : f32
      linalg.yield %25 : f32
    } -> tensor<f32>
    %extracted_slice_3 = tensor.extract_slice %arg1[%8, %8] [1, 1] [1, 1] : tensor<16x16xf32> to tensor<1x1xf32>
    %collapsed_4 = tensor.collapse_shape %extracted_slice_3 [] : tensor<1x1xf32> into tensor<f32>
    %extracted_slice_5 = tensor.extract_slice %arg3[%8] [1] [1] : tensor<16xf32> to tensor<1xf32>
    %collapsed_6 = tensor.collapse_shape %extracted_slice_5 [] : tensor<1xf32> into tensor<f32>
    %19 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = []} ins(%collapsed_4, %collapsed_6 : tensor<f32>, tensor<f32>) outs(%15 : tensor<f32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %25 = arith.mulf %in, %in_7 : f32
      linalg.yield %25 : f32
    } -> tensor<f32>
    %20 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = []} ins(%18, %19 : tensor<f32>, tensor<f32>) outs(%15 : tensor<f32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %25 = arith.addf %in, %in_7 : f32
      linalg.yield %25 : f32
    } -> tensor<f32>
    %21 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = []} ins(%20, %collapsed_4 : tensor<f32>, tensor<f32>) outs(%15 : tensor<f32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %25 = arith.divf %in, %in_7 : f32
      linalg.yield %25 : f32
    } -> tensor<f32>
    %22 = tensor.empty() : tensor<1xi32>
    %23 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%5 : tensor<i32>) outs(%22 : tensor<1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1xi32>
    %24 = call @scatter_helper_7(%arg3, %23, %21) : (tensor<16xf32>, tensor<1xi32>, tensor<f32>) -> tensor<16xf32>
    return %1, %24 : tensor<i32>, tensor<16xf32>
  }
  func.func private @scatter_helper_7(%arg0: tensor<16xf32>, %arg1: tensor<1xi32>, %arg2: tensor<f32>) -> tensor<16xf32> {
    %c15 = arith.constant 15 : index
    %c0 = arith.constant 0 : index
    %extracted = tensor.extract %arg1[%c0] : tensor<1xi32>
    %0 = arith.index_cast %extracted : i32 to index
    %1 = arith.cmpi sge, %0, %c0 : index
    %2 = arith.cmpi sle, %0, %c15 : index
    %3 = arith.andi %1, %2 : i1
    %extracted_0 = tensor.extract %arg2[] : tensor<f32>
    %4 = scf.if %3 -> (tensor<16xf32>) {
      %inserted = tensor.insert %extracted_0 into %arg0[%0] : tensor<16xf32>
      scf.yield %inserted : tensor<16xf32>
    } else {
      scf.yield %arg0 : tensor<16xf32>
    }
    return %4 : tensor<16xf32>
  }
}
