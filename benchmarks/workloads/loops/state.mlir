// loop_state: exported from the JAX form in small_loops.py.

#map = affine_map<() -> ()>
#map1 = affine_map<(d0) -> ()>
#map2 = affine_map<(d0) -> (d0)>
module @jit__state_jax {
  func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xf32>) {
    %c1_i32 = arith.constant 1 : i32
    %c1000_i32 = arith.constant 1000 : i32
    %cst = arith.constant dense<0> : tensor<i32>
    %0:3 = scf.while (%arg1 = %cst, %arg2 = %cst, %arg3 = %arg0) : (tensor<i32>, tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<i32>, tensor<3xf32>) {
      %1 = tensor.empty() : tensor<i1>
      %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg1 : tensor<i32>) outs(%1 : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %3 = arith.cmpi slt, %in, %c1000_i32 : i32
        linalg.yield %3 : i1
      } -> tensor<i1>
      %extracted = tensor.extract %2[] : tensor<i1>
      scf.condition(%extracted) %arg1, %arg2, %arg3 : tensor<i32>, tensor<i32>, tensor<3xf32>
    } do {
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<3xf32>):
      %1:2 = func.call @closed_call(%arg2, %arg3) : (tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>)
      %2 = tensor.empty() : tensor<i32>
      %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg1 : tensor<i32>) outs(%2 : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %4 = arith.addi %in, %c1_i32 : i32
        linalg.yield %4 : i32
      } -> tensor<i32>
      scf.yield %3, %1#0, %1#1 : tensor<i32>, tensor<i32>, tensor<3xf32>
    }
    return %0#2 : tensor<3xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>) {
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %cst = arith.constant 2.66666675 : f32
    %cst_0 = arith.constant 2.800000e+01 : f32
    %cst_1 = arith.constant 1.000000e+01 : f32
    %c1_i32 = arith.constant 1 : i32
    %cst_2 = arith.constant dense<2.000000e-03> : tensor<f32>
    %0 = tensor.empty() : tensor<i32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg0 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %20 = arith.addi %in, %c1_i32 : i32
      linalg.yield %20 : i32
    } -> tensor<i32>
    %extracted_slice = tensor.extract_slice %arg1[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed = tensor.collapse_shape %extracted_slice [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_3 = tensor.extract_slice %arg1[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_4 = tensor.collapse_shape %extracted_slice_3 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_5 = tensor.extract_slice %arg1[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_6 = tensor.collapse_shape %extracted_slice_5 [] : tensor<1xf32> into tensor<f32>
    %2 = tensor.empty() : tensor<f32>
    %3 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%collapsed_4, %collapsed : tensor<f32>, tensor<f32>) outs(%2 : tensor<f32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %20 = arith.subf %in, %in_7 : f32
      linalg.yield %20 : f32
    } -> tensor<f32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%3 : tensor<f32>) outs(%2 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.mulf %in, %cst_1 : f32
      linalg.yield %20 : f32
    } -> tensor<f32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%collapsed_6 : tensor<f32>) outs(%2 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.subf %cst_0, %in : f32
      linalg.yield %20 : f32
    } -> tensor<f32>
    %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%collapsed, %5 : tensor<f32>, tensor<f32>) outs(%2 : tensor<f32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %20 = arith.mulf %in, %in_7 : f32
      linalg.yield %20 : f32
    } -> tensor<f32>
    %7 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%6, %collapsed_4 : tensor<f32>, tensor<f32>) outs(%2 : tensor<f32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %20 = arith.subf %in, %in_7 : f32
      linalg.yield %20 : f32
    } -> tensor<f32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%collapsed, %collapsed_4 : tensor<f32>, tensor<f32>) outs(%2 : tensor<f32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %20 = arith.mulf %in, %in_7 : f32
      linalg.yield %20 : f32
    } -> tensor<f32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%collapsed_6 : tensor<f32>) outs(%2 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.mulf %in, %cst : f32
      linalg.yield %20 : f32
    } -> tensor<f32>
    %10 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%8, %9 : tensor<f32>, tensor<f32>) outs(%2 : tensor<f32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %20 = arith.subf %in, %in_7 : f32
      linalg.yield %20 : f32
    } -> tensor<f32>
    %11 = tensor.empty() : tensor<1xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel"]} ins(%4 : tensor<f32>) outs(%11 : tensor<1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1xf32>
    %13 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel"]} ins(%7 : tensor<f32>) outs(%11 : tensor<1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel"]} ins(%10 : tensor<f32>) outs(%11 : tensor<1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1xf32>
    %15 = tensor.empty() : tensor<3xf32>
    %16 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%15 : tensor<3xf32>) {
    ^bb0(%out: f32):
      %20 = linalg.index 0 : index
      %21 = arith.cmpi ult, %20, %c1 : index
      %22 = scf.if %21 -> (f32) {
        %extracted = tensor.extract %12[%20] : tensor<1xf32>
        scf.yield %extracted : f32
      } else {
        %23 = arith.cmpi ult, %20, %c2 : index
        %24 = scf.if %23 -> (f32) {
          %25 = arith.subi %20, %c1 : index
          %extracted = tensor.extract %13[%25] : tensor<1xf32>
          scf.yield %extracted : f32
        } else {
          %25 = arith.subi %20, %c2 : index
          %extracted = tensor.extract %14[%25] : tensor<1xf32>
          scf.yield %extracted : f32
        }
        scf.yield %24 : f32
      }
      linalg.yield %22 : f32
    } -> tensor<3xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel"]} ins(%cst_2 : tensor<f32>) outs(%15 : tensor<3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3xf32>
    %18 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel"]} ins(%17, %16 : tensor<3xf32>, tensor<3xf32>) outs(%15 : tensor<3xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %20 = arith.mulf %in, %in_7 : f32
      linalg.yield %20 : f32
    } -> tensor<3xf32>
    %19 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel"]} ins(%arg1, %18 : tensor<3xf32>, tensor<3xf32>) outs(%15 : tensor<3xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %20 = arith.addf %in, %in_7 : f32
      linalg.yield %20 : f32
    } -> tensor<3xf32>
    return %1, %19 : tensor<i32>, tensor<3xf32>
  }
}
