// loop_table: exported from the JAX form in small_loops.py.

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> ()>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0) -> ()>
#map4 = affine_map<() -> ()>
module @jit__table_jax {
  func.func public @main(%arg0: tensor<60xi32>, %arg1: tensor<60xi32>) -> (tensor<61x61xi32>) {
    %c1_i32 = arith.constant 1 : i32
    %c60_i32 = arith.constant 60 : i32
    %cst = arith.constant dense<1> : tensor<i32>
    %cst_0 = arith.constant dense<0> : tensor<i32>
    %0 = tensor.empty() : tensor<61xi32>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<61xi32>) {
    ^bb0(%out: i32):
      %9 = linalg.index 0 : index
      %10 = arith.index_cast %9 : index to i32
      linalg.yield %10 : i32
    } -> tensor<61xi32>
    %2 = tensor.empty() : tensor<61x61xi32>
    %3 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<i32>) outs(%2 : tensor<61x61xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<61x61xi32>
    %4 = tensor.empty() : tensor<1xi32>
    %5 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel"]} ins(%cst_0 : tensor<i32>) outs(%4 : tensor<1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1xi32>
    %6 = call @scatter_helper_4(%3, %5, %1) : (tensor<61x61xi32>, tensor<1xi32>, tensor<61xi32>) -> tensor<61x61xi32>
    %7 = call @scatter_helper_5(%6, %5, %1) : (tensor<61x61xi32>, tensor<1xi32>, tensor<61xi32>) -> tensor<61x61xi32>
    %8:3 = scf.while (%arg2 = %cst_0, %arg3 = %cst, %arg4 = %7) : (tensor<i32>, tensor<i32>, tensor<61x61xi32>) -> (tensor<i32>, tensor<i32>, tensor<61x61xi32>) {
      %9 = tensor.empty() : tensor<i1>
      %10 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%arg2 : tensor<i32>) outs(%9 : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %11 = arith.cmpi slt, %in, %c60_i32 : i32
        linalg.yield %11 : i1
      } -> tensor<i1>
      %extracted = tensor.extract %10[] : tensor<i1>
      scf.condition(%extracted) %arg2, %arg3, %arg4 : tensor<i32>, tensor<i32>, tensor<61x61xi32>
    } do {
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<61x61xi32>):
      %9:2 = func.call @closed_call(%arg0, %arg1, %arg3, %arg4) : (tensor<60xi32>, tensor<60xi32>, tensor<i32>, tensor<61x61xi32>) -> (tensor<i32>, tensor<61x61xi32>)
      %10 = tensor.empty() : tensor<i32>
      %11 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%arg2 : tensor<i32>) outs(%10 : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %12 = arith.addi %in, %c1_i32 : i32
        linalg.yield %12 : i32
      } -> tensor<i32>
      scf.yield %11, %9#0, %9#1 : tensor<i32>, tensor<i32>, tensor<61x61xi32>
    }
    return %8#2 : tensor<61x61xi32>
  }
  func.func private @closed_call(%arg0: tensor<60xi32>, %arg1: tensor<60xi32>, %arg2: tensor<i32>, %arg3: tensor<61x61xi32>) -> (tensor<i32>, tensor<61x61xi32>) {
    %c60_i32 = arith.constant 60 : i32
    %c1_i32 = arith.constant 1 : i32
    %cst = arith.constant dense<0> : tensor<i32>
    %cst_0 = arith.constant dense<1> : tensor<i32>
    %0 = tensor.empty() : tensor<i32>
    %1 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%arg2 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %3 = arith.addi %in, %c1_i32 : i32
      linalg.yield %3 : i32
    } -> tensor<i32>
    %2:3 = scf.while (%arg4 = %cst, %arg5 = %cst_0, %arg6 = %arg3) : (tensor<i32>, tensor<i32>, tensor<61x61xi32>) -> (tensor<i32>, tensor<i32>, tensor<61x61xi32>) {
      %3 = tensor.empty() : tensor<i1>
      %4 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%arg4 : tensor<i32>) outs(%3 : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %5 = arith.cmpi slt, %in, %c60_i32 : i32
        linalg.yield %5 : i1
      } -> tensor<i1>
      %extracted = tensor.extract %4[] : tensor<i1>
      scf.condition(%extracted) %arg4, %arg5, %arg6 : tensor<i32>, tensor<i32>, tensor<61x61xi32>
    } do {
    ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>, %arg6: tensor<61x61xi32>):
      %3:2 = func.call @closed_call_0(%arg2, %arg0, %arg1, %arg5, %arg6) : (tensor<i32>, tensor<60xi32>, tensor<60xi32>, tensor<i32>, tensor<61x61xi32>) -> (tensor<i32>, tensor<61x61xi32>)
      %4 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%arg4 : tensor<i32>) outs(%0 : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %5 = arith.addi %in, %c1_i32 : i32
        linalg.yield %5 : i32
      } -> tensor<i32>
      scf.yield %4, %3#0, %3#1 : tensor<i32>, tensor<i32>, tensor<61x61xi32>
    }
    return %1, %2#2 : tensor<i32>, tensor<61x61xi32>
  }
  func.func private @closed_call_0(%arg0: tensor<i32>, %arg1: tensor<60xi32>, %arg2: tensor<60xi32>, %arg3: tensor<i32>, %arg4: tensor<61x61xi32>) -> (tensor<i32>, tensor<61x61xi32>) {
    %c1 = arith.constant 1 : index
    %c61_i32 = arith.constant 61 : i32
    %c59 = arith.constant 59 : index
    %c60 = arith.constant 60 : index
    %c0 = arith.constant 0 : index
    %c60_i32 = arith.constant 60 : i32
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %cst = arith.constant dense<0> : tensor<i32>
    %cst_0 = arith.constant dense<1> : tensor<i32>
    %0 = tensor.empty() : tensor<i32>
    %1 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%arg3 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %52 = arith.addi %in, %c1_i32 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %2 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%arg0 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %52 = arith.subi %in, %c1_i32 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %3 = tensor.empty() : tensor<i1>
    %4 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%2 : tensor<i32>) outs(%3 : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %52 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %52 : i1
    } -> tensor<i1>
    %5 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%2 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %52 = arith.addi %in, %c60_i32 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %6 = linalg.generic {indexing_maps = [#map4, #map4, #map4, #map4], iterator_types = []} ins(%4, %5, %2 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_14: i32, %in_15: i32, %out: i32):
      %52 = arith.select %in, %in_14, %in_15 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %extracted = tensor.extract %6[] : tensor<i32>
    %7 = arith.index_cast %extracted : i32 to index
    %8 = arith.maxsi %7, %c0 : index
    %9 = arith.minsi %8, %c59 : index
    %extracted_slice = tensor.extract_slice %arg1[%9] [1] [1] : tensor<60xi32> to tensor<1xi32>
    %collapsed = tensor.collapse_shape %extracted_slice [] : tensor<1xi32> into tensor<i32>
    %10 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%arg3 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %52 = arith.subi %in, %c1_i32 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %11 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%10 : tensor<i32>) outs(%3 : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %52 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %52 : i1
    } -> tensor<i1>
    %12 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%10 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %52 = arith.addi %in, %c60_i32 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %13 = linalg.generic {indexing_maps = [#map4, #map4, #map4, #map4], iterator_types = []} ins(%11, %12, %10 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_14: i32, %in_15: i32, %out: i32):
      %52 = arith.select %in, %in_14, %in_15 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %extracted_1 = tensor.extract %13[] : tensor<i32>
    %14 = arith.index_cast %extracted_1 : i32 to index
    %15 = arith.maxsi %14, %c0 : index
    %16 = arith.minsi %15, %c59 : index
    %extracted_slice_2 = tensor.extract_slice %arg2[%16] [1] [1] : tensor<60xi32> to tensor<1xi32>
    %collapsed_3 = tensor.collapse_shape %extracted_slice_2 [] : tensor<1xi32> into tensor<i32>
    %17 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = []} ins(%collapsed, %collapsed_3 : tensor<i32>, tensor<i32>) outs(%3 : tensor<i1>) {
    ^bb0(%in: i32, %in_14: i32, %out: i1):
      %52 = arith.cmpi eq, %in, %in_14 : i32
      linalg.yield %52 : i1
    } -> tensor<i1>
    %18 = call @_where(%17, %cst, %cst_0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %19 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%2 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %52 = arith.addi %in, %c61_i32 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %20 = linalg.generic {indexing_maps = [#map4, #map4, #map4, #map4], iterator_types = []} ins(%4, %19, %2 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_14: i32, %in_15: i32, %out: i32):
      %52 = arith.select %in, %in_14, %in_15 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %21 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%arg3 : tensor<i32>) outs(%3 : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %52 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %52 : i1
    } -> tensor<i1>
    %22 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%arg3 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %52 = arith.addi %in, %c61_i32 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %23 = linalg.generic {indexing_maps = [#map4, #map4, #map4, #map4], iterator_types = []} ins(%21, %22, %arg3 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_14: i32, %in_15: i32, %out: i32):
      %52 = arith.select %in, %in_14, %in_15 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %extracted_4 = tensor.extract %20[] : tensor<i32>
    %24 = arith.index_cast %extracted_4 : i32 to index
    %25 = arith.maxsi %24, %c0 : index
    %26 = arith.minsi %25, %c60 : index
    %extracted_5 = tensor.extract %23[] : tensor<i32>
    %27 = arith.index_cast %extracted_5 : i32 to index
    %28 = arith.maxsi %27, %c0 : index
    %29 = arith.minsi %28, %c60 : index
    %extracted_slice_6 = tensor.extract_slice %arg4[%26, %29] [1, 1] [1, 1] : tensor<61x61xi32> to tensor<1x1xi32>
    %collapsed_7 = tensor.collapse_shape %extracted_slice_6 [] : tensor<1x1xi32> into tensor<i32>
    %30 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%collapsed_7 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %52 = arith.addi %in, %c1_i32 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %31 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%arg0 : tensor<i32>) outs(%3 : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %52 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %52 : i1
    } -> tensor<i1>
    %32 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%arg0 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %52 = arith.addi %in, %c61_i32 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %33 = linalg.generic {indexing_maps = [#map4, #map4, #map4, #map4], iterator_types = []} ins(%31, %32, %arg0 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_14: i32, %in_15: i32, %out: i32):
      %52 = arith.select %in, %in_14, %in_15 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %34 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%10 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %52 = arith.addi %in, %c61_i32 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %35 = linalg.generic {indexing_maps = [#map4, #map4, #map4, #map4], iterator_types = []} ins(%11, %34, %10 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_14: i32, %in_15: i32, %out: i32):
      %52 = arith.select %in, %in_14, %in_15 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %extracted_8 = tensor.extract %33[] : tensor<i32>
    %36 = arith.index_cast %extracted_8 : i32 to index
    %37 = arith.maxsi %36, %c0 : index
    %38 = arith.minsi %37, %c60 : index
    %extracted_9 = tensor.extract %35[] : tensor<i32>
    %39 = arith.index_cast %extracted_9 : i32 to index
    %40 = arith.maxsi %39, %c0 : index
    %41 = arith.minsi %40, %c60 : index
    %extracted_slice_10 = tensor.extract_slice %arg4[%38, %41] [1, 1] [1, 1] : tensor<61x61xi32> to tensor<1x1xi32>
    %collapsed_11 = tensor.collapse_shape %extracted_slice_10 [] : tensor<1x1xi32> into tensor<i32>
    %42 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%collapsed_11 : tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %52 = arith.addi %in, %c1_i32 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %43 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = []} ins(%30, %42 : tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %in_14: i32, %out: i32):
      %52 = arith.minsi %in, %in_14 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %extracted_slice_12 = tensor.extract_slice %arg4[%26, %41] [1, 1] [1, 1] : tensor<61x61xi32> to tensor<1x1xi32>
    %collapsed_13 = tensor.collapse_shape %extracted_slice_12 [] : tensor<1x1xi32> into tensor<i32>
    %44 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = []} ins(%collapsed_13, %18 : tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %in_14: i32, %out: i32):
      %52 = arith.addi %in, %in_14 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %45 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = []} ins(%43, %44 : tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i32, %in_14: i32, %out: i32):
      %52 = arith.minsi %in, %in_14 : i32
      linalg.yield %52 : i32
    } -> tensor<i32>
    %46 = tensor.empty() : tensor<1xi32>
    %47 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel"]} ins(%33 : tensor<i32>) outs(%46 : tensor<1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1xi32>
    %48 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel"]} ins(%23 : tensor<i32>) outs(%46 : tensor<1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1xi32>
    %49 = tensor.empty() : tensor<2xi32>
    %50 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%49 : tensor<2xi32>) {
    ^bb0(%out: i32):
      %52 = linalg.index 0 : index
      %53 = arith.cmpi ult, %52, %c1 : index
      %54 = scf.if %53 -> (i32) {
        %extracted_14 = tensor.extract %47[%52] : tensor<1xi32>
        scf.yield %extracted_14 : i32
      } else {
        %55 = arith.subi %52, %c1 : index
        %extracted_14 = tensor.extract %48[%55] : tensor<1xi32>
        scf.yield %extracted_14 : i32
      }
      linalg.yield %54 : i32
    } -> tensor<2xi32>
    %51 = call @scatter_helper_6(%arg4, %50, %45) : (tensor<61x61xi32>, tensor<2xi32>, tensor<i32>) -> tensor<61x61xi32>
    return %1, %51 : tensor<i32>, tensor<61x61xi32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = tensor.empty() : tensor<i32>
    %1 = linalg.generic {indexing_maps = [#map4, #map4, #map4, #map4], iterator_types = []} ins(%arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%0 : tensor<i32>) {
    ^bb0(%in: i1, %in_0: i32, %in_1: i32, %out: i32):
      %2 = arith.select %in, %in_0, %in_1 : i32
      linalg.yield %2 : i32
    } -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @scatter_helper_4(%arg0: tensor<61x61xi32>, %arg1: tensor<1xi32>, %arg2: tensor<61xi32>) -> tensor<61x61xi32> {
    %c60 = arith.constant 60 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c61 = arith.constant 61 : index
    %0 = scf.for %arg3 = %c0 to %c61 step %c1 iter_args(%arg4 = %arg0) -> (tensor<61x61xi32>) {
      %extracted = tensor.extract %arg1[%c0] : tensor<1xi32>
      %1 = arith.index_cast %extracted : i32 to index
      %2 = arith.cmpi sge, %1, %c0 : index
      %3 = arith.cmpi sle, %1, %c60 : index
      %4 = arith.andi %2, %3 : i1
      %extracted_0 = tensor.extract %arg2[%arg3] : tensor<61xi32>
      %5 = scf.if %4 -> (tensor<61x61xi32>) {
        %inserted = tensor.insert %extracted_0 into %arg4[%arg3, %1] : tensor<61x61xi32>
        scf.yield %inserted : tensor<61x61xi32>
      } else {
        scf.yield %arg4 : tensor<61x61xi32>
      }
      scf.yield %5 : tensor<61x61xi32>
    }
    return %0 : tensor<61x61xi32>
  }
  func.func private @scatter_helper_5(%arg0: tensor<61x61xi32>, %arg1: tensor<1xi32>, %arg2: tensor<61xi32>) -> tensor<61x61xi32> {
    %c60 = arith.constant 60 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c61 = arith.constant 61 : index
    %0 = scf.for %arg3 = %c0 to %c61 step %c1 iter_args(%arg4 = %arg0) -> (tensor<61x61xi32>) {
      %extracted = tensor.extract %arg1[%c0] : tensor<1xi32>
      %1 = arith.index_cast %extracted : i32 to index
      %2 = arith.cmpi sge, %1, %c0 : index
      %3 = arith.cmpi sle, %1, %c60 : index
      %4 = arith.andi %2, %3 : i1
      %extracted_0 = tensor.extract %arg2[%arg3] : tensor<61xi32>
      %5 = scf.if %4 -> (tensor<61x61xi32>) {
        %inserted = tensor.insert %extracted_0 into %arg4[%1, %arg3] : tensor<61x61xi32>
        scf.yield %inserted : tensor<61x61xi32>
      } else {
        scf.yield %arg4 : tensor<61x61xi32>
      }
      scf.yield %5 : tensor<61x61xi32>
    }
    return %0 : tensor<61x61xi32>
  }
  func.func private @scatter_helper_6(%arg0: tensor<61x61xi32>, %arg1: tensor<2xi32>, %arg2: tensor<i32>) -> tensor<61x61xi32> {
    %c60 = arith.constant 60 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %extracted = tensor.extract %arg1[%c0] : tensor<2xi32>
    %0 = arith.index_cast %extracted : i32 to index
    %extracted_0 = tensor.extract %arg1[%c1] : tensor<2xi32>
    %1 = arith.index_cast %extracted_0 : i32 to index
    %2 = arith.cmpi sge, %0, %c0 : index
    %3 = arith.cmpi sle, %0, %c60 : index
    %4 = arith.andi %2, %3 : i1
    %5 = arith.cmpi sge, %1, %c0 : index
    %6 = arith.cmpi sle, %1, %c60 : index
    %7 = arith.andi %5, %6 : i1
    %8 = arith.andi %4, %7 : i1
    %extracted_1 = tensor.extract %arg2[] : tensor<i32>
    %9 = scf.if %8 -> (tensor<61x61xi32>) {
      %inserted = tensor.insert %extracted_1 into %arg0[%0, %1] : tensor<61x61xi32>
      scf.yield %inserted : tensor<61x61xi32>
    } else {
      scf.yield %arg0 : tensor<61x61xi32>
    }
    return %9 : tensor<61x61xi32>
  }
}
