// loop_elements: exported from the JAX form in small_loops.py.

#map = affine_map<() -> ()>
#map1 = affine_map<(d0) -> ()>
#map2 = affine_map<(d0) -> (d0)>
module @jit__elements_jax {
  func.func public @main(%arg0: tensor<64x64xf32>, %arg1: tensor<1000x2xi32>, %arg2: tensor<1000xf32>) -> (tensor<64x64xf32>) {
    %c1_i32 = arith.constant 1 : i32
    %c1000_i32 = arith.constant 1000 : i32
    %cst = arith.constant dense<0> : tensor<i32>
    %0:3 = scf.while (%arg3 = %cst, %arg4 = %cst, %arg5 = %arg0) : (tensor<i32>, tensor<i32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<i32>, tensor<64x64xf32>) {
      %1 = tensor.empty() : tensor<i1>
      %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg3 : tensor<i32>) outs(%1 : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %3 = arith.cmpi slt, %in, %c1000_i32 : i32
        linalg.yield %3 : i1
      } -> tensor<i1>
      %extracted = tensor.extract %2[] : tensor<i1>
      scf.condition(%extracted) %arg3, %arg4, %arg5 : tensor<i32>, tensor<i32>, tensor<64x64xf32>
    } do {
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>, %arg5: tensor<64x64xf32>):
      %1:2 = func.call @closed_call(%arg1, %arg2, %arg4, %arg5) : (tensor<1000x2xi32>, tensor<1000xf32>, tensor<i32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<64x64xf32>)
      %2 = tensor.empty() : tensor<i32>
      %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg3 : tensor<i32>) outs(%2 : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %4 = arith.addi %in, %c1_i32 : i32
        linalg.yield %4 : i32
      } -> tensor<i32>
      scf.yield %3, %1#0, %1#1 : tensor<i32>, tensor<i32>, tensor<64x64xf32>
    }
    return %0#2 : tensor<64x64xf32>
  }
  func.func private @closed_call(%arg0: tensor<1000x2xi32>, %arg1: tensor<1000xf32>, %arg2: tensor<i32>, %arg3: tensor<64x64xf32>) -> (tensor<i32>, tensor<64x64xf32>) {
    %c3_i32 = arith.constant 3 : i32
    %c2_i32 = arith.constant 2 : i32
    %false = arith.constant false
    %c64_i32 = arith.constant 64 : i32
    %c999 = arith.constant 999 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c1000_i32 = arith.constant 1000 : i32
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = tensor.empty() : tensor<i32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg2 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %32 = arith.addi %in, %c1_i32 : i32
      linalg.yield %32 : i32
    } -> tensor<i32>
    %2 = tensor.empty() : tensor<i1>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg2 : tensor<i32>) outs(%2 : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %32 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %32 : i1
    } -> tensor<i1>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg2 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %32 = arith.addi %in, %c1000_i32 : i32
      linalg.yield %32 : i32
    } -> tensor<i32>
    %5 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = []} ins(%3, %4, %arg2 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_6: i32, %in_7: i32, %out: i32):
      %32 = arith.select %in, %in_6, %in_7 : i32
      linalg.yield %32 : i32
    } -> tensor<i32>
    %6 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%2 : tensor<i1>) {
    ^bb0(%out: i1):
      linalg.yield %false : i1
    } -> tensor<i1>
    %7 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%0 : tensor<i32>) {
    ^bb0(%out: i32):
      linalg.yield %c2_i32 : i32
    } -> tensor<i32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%6, %7 : tensor<i1>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_6: i32, %out: i32):
      %32 = arith.select %in, %in_6, %c0_i32 : i32
      linalg.yield %32 : i32
    } -> tensor<i32>
    %extracted = tensor.extract %5[] : tensor<i32>
    %9 = arith.index_cast %extracted : i32 to index
    %10 = arith.maxsi %9, %c0 : index
    %11 = arith.minsi %10, %c999 : index
    %extracted_0 = tensor.extract %8[] : tensor<i32>
    %12 = arith.index_cast %extracted_0 : i32 to index
    %13 = arith.maxsi %12, %c0 : index
    %14 = arith.minsi %13, %c1 : index
    %extracted_slice = tensor.extract_slice %arg0[%11, %14] [1, 1] [1, 1] : tensor<1000x2xi32> to tensor<1x1xi32>
    %collapsed = tensor.collapse_shape %extracted_slice [] : tensor<1x1xi32> into tensor<i32>
    %15 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%0 : tensor<i32>) {
    ^bb0(%out: i32):
      linalg.yield %c3_i32 : i32
    } -> tensor<i32>
    %16 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%6, %15 : tensor<i1>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_6: i32, %out: i32):
      %32 = arith.select %in, %in_6, %c1_i32 : i32
      linalg.yield %32 : i32
    } -> tensor<i32>
    %extracted_1 = tensor.extract %16[] : tensor<i32>
    %17 = arith.index_cast %extracted_1 : i32 to index
    %18 = arith.maxsi %17, %c0 : index
    %19 = arith.minsi %18, %c1 : index
    %extracted_slice_2 = tensor.extract_slice %arg0[%11, %19] [1, 1] [1, 1] : tensor<1000x2xi32> to tensor<1x1xi32>
    %collapsed_3 = tensor.collapse_shape %extracted_slice_2 [] : tensor<1x1xi32> into tensor<i32>
    %extracted_slice_4 = tensor.extract_slice %arg1[%11] [1] [1] : tensor<1000xf32> to tensor<1xf32>
    %collapsed_5 = tensor.collapse_shape %extracted_slice_4 [] : tensor<1xf32> into tensor<f32>
    %20 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%collapsed : tensor<i32>) outs(%2 : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %32 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %32 : i1
    } -> tensor<i1>
    %21 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%collapsed : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %32 = arith.addi %in, %c64_i32 : i32
      linalg.yield %32 : i32
    } -> tensor<i32>
    %22 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = []} ins(%20, %21, %collapsed : tensor<i1>, tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_6: i32, %in_7: i32, %out: i32):
      %32 = arith.select %in, %in_6, %in_7 : i32
      linalg.yield %32 : i32
    } -> tensor<i32>
    %23 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%collapsed_3 : tensor<i32>) outs(%2 : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %32 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %32 : i1
    } -> tensor<i1>
    %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%collapsed_3 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %32 = arith.addi %in, %c64_i32 : i32
      linalg.yield %32 : i32
    } -> tensor<i32>
    %25 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = []} ins(%23, %24, %collapsed_3 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_6: i32, %in_7: i32, %out: i32):
      %32 = arith.select %in, %in_6, %in_7 : i32
      linalg.yield %32 : i32
    } -> tensor<i32>
    %26 = tensor.empty() : tensor<1xi32>
    %27 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel"]} ins(%22 : tensor<i32>) outs(%26 : tensor<1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1xi32>
    %28 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel"]} ins(%25 : tensor<i32>) outs(%26 : tensor<1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1xi32>
    %29 = tensor.empty() : tensor<2xi32>
    %30 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%29 : tensor<2xi32>) {
    ^bb0(%out: i32):
      %32 = linalg.index 0 : index
      %33 = arith.cmpi ult, %32, %c1 : index
      %34 = scf.if %33 -> (i32) {
        %extracted_6 = tensor.extract %27[%32] : tensor<1xi32>
        scf.yield %extracted_6 : i32
      } else {
        %35 = arith.subi %32, %c1 : index
        %extracted_6 = tensor.extract %28[%35] : tensor<1xi32>
        scf.yield %extracted_6 : i32
      }
      linalg.yield %34 : i32
    } -> tensor<2xi32>
    %31 = call @scatter_helper_2(%arg3, %30, %collapsed_5) : (tensor<64x64xf32>, tensor<2xi32>, tensor<f32>) -> tensor<64x64xf32>
    return %1, %31 : tensor<i32>, tensor<64x64xf32>
  }
  func.func private @scatter_helper_2(%arg0: tensor<64x64xf32>, %arg1: tensor<2xi32>, %arg2: tensor<f32>) -> tensor<64x64xf32> {
    %c63 = arith.constant 63 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %extracted = tensor.extract %arg1[%c0] : tensor<2xi32>
    %0 = arith.index_cast %extracted : i32 to index
    %extracted_0 = tensor.extract %arg1[%c1] : tensor<2xi32>
    %1 = arith.index_cast %extracted_0 : i32 to index
    %2 = arith.cmpi sge, %0, %c0 : index
    %3 = arith.cmpi sle, %0, %c63 : index
    %4 = arith.andi %2, %3 : i1
    %5 = arith.cmpi sge, %1, %c0 : index
    %6 = arith.cmpi sle, %1, %c63 : index
    %7 = arith.andi %5, %6 : i1
    %8 = arith.andi %4, %7 : i1
    %extracted_1 = tensor.extract %arg2[] : tensor<f32>
    %9 = scf.if %8 -> (tensor<64x64xf32>) {
      %extracted_2 = tensor.extract %arg0[%0, %1] : tensor<64x64xf32>
      %10 = arith.addf %extracted_2, %extracted_1 : f32
      %inserted = tensor.insert %10 into %arg0[%0, %1] : tensor<64x64xf32>
      scf.yield %inserted : tensor<64x64xf32>
    } else {
      scf.yield %arg0 : tensor<64x64xf32>
    }
    return %9 : tensor<64x64xf32>
  }
}
