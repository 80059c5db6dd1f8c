// RUN: ipu-opt %s --ipu-select-places | filecheck %s

#id = affine_map<(i) -> (i)>
#ranked = affine_map<(a, b, c, d) -> (a, d, c)>
#own = affine_map<(a, b, c, d) -> (b)>
#result = affine_map<(a, b, c, d) -> (a, b, c)>
#row = affine_map<(i, j) -> (i)>
#first = affine_map<(i, j) -> (0)>
#column = affine_map<(i, j) -> (j)>

module attributes {ipu.target = #ipu.target<{name = "ipu2"}>} {
// CHECK-LABEL: func.func @two_elements_are_searched_in_sorted_parts
// CHECK-NOT: library_call = "rank"
// CHECK: library_call = "sort_tuples"{{.*}}tensor<8192x1x1x1x1x128xi32>
// CHECK: scf.for
// CHECK: arith.shli
// CHECK: scf.yield
// CHECK-NOT: library_call = "scatter_set"
// CHECK: return
func.func @two_elements_are_searched_in_sorted_parts(%key: tensor<1x1048576x1xi32>, %x: tensor<1048576xf32>) -> (tensor<f32>, tensor<1xf32>) {
  %c7 = arith.constant 7 : index
  %true = arith.constant true
  %zero = arith.constant 0.0 : f32
  %i0 = tensor.empty() : tensor<1048576xindex>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%i0 : tensor<1048576xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  } -> tensor<1048576xindex>
  %r0 = tensor.empty() : tensor<1x1048576x1xindex>
  %ranks = linalg.generic {indexing_maps = [#ranked, #own, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"], library_call = "rank"}
      ins(%key, %places : tensor<1x1048576x1xi32>, tensor<1048576xindex>) outs(%r0 : tensor<1x1048576x1xindex>) {
  ^bb0(%k: i32, %p: index, %o: index):
    linalg.yield %p : index
  } -> tensor<1x1048576x1xindex>
  %rank = tensor.collapse_shape %ranks [[0, 1, 2]] : tensor<1x1048576x1xindex> into tensor<1048576xindex>
  %g0 = tensor.empty() : tensor<1xi1>
  %guard = linalg.fill ins(%true : i1) outs(%g0 : tensor<1xi1>) -> tensor<1xi1>
  %e = tensor.empty() : tensor<1048576xf32>
  %sorted = linalg.generic {indexing_maps = [#row, #first, #row, #column, #column],
      iterator_types = ["reduction", "parallel"], library_call = "scatter_set"}
      ins(%rank, %guard, %x, %places : tensor<1048576xindex>, tensor<1xi1>, tensor<1048576xf32>, tensor<1048576xindex>)
      outs(%e : tensor<1048576xf32>) {
  ^bb0(%r: index, %g: i1, %v: f32, %p: index, %o: f32):
    linalg.yield %o : f32
  } -> tensor<1048576xf32>
  %f0 = tensor.empty() : tensor<f32>
  %first = linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%f0 : tensor<f32>) {
  ^bb0(%o: f32):
    %a = tensor.extract %sorted[%c7] : tensor<1048576xf32>
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<f32>
  %last = tensor.extract_slice %sorted[1048575] [1] [1] : tensor<1048576xf32> to tensor<1xf32>
  return %first, %last : tensor<f32>, tensor<1xf32>
}

// CHECK-LABEL: func.func @whole_order_is_sorted
// CHECK: library_call = "rank"
// CHECK: library_call = "scatter_set"
func.func @whole_order_is_sorted(%key: tensor<1x1048576x1xi32>, %x: tensor<1048576xf32>) -> tensor<1048576xf32> {
  %c7 = arith.constant 7 : index
  %true = arith.constant true
  %zero = arith.constant 0.0 : f32
  %i0 = tensor.empty() : tensor<1048576xindex>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%i0 : tensor<1048576xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  } -> tensor<1048576xindex>
  %r0 = tensor.empty() : tensor<1x1048576x1xindex>
  %ranks = linalg.generic {indexing_maps = [#ranked, #own, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"], library_call = "rank"}
      ins(%key, %places : tensor<1x1048576x1xi32>, tensor<1048576xindex>) outs(%r0 : tensor<1x1048576x1xindex>) {
  ^bb0(%k: i32, %p: index, %o: index):
    linalg.yield %p : index
  } -> tensor<1x1048576x1xindex>
  %rank = tensor.collapse_shape %ranks [[0, 1, 2]] : tensor<1x1048576x1xindex> into tensor<1048576xindex>
  %g0 = tensor.empty() : tensor<1xi1>
  %guard = linalg.fill ins(%true : i1) outs(%g0 : tensor<1xi1>) -> tensor<1xi1>
  %e = tensor.empty() : tensor<1048576xf32>
  %sorted = linalg.generic {indexing_maps = [#row, #first, #row, #column, #column],
      iterator_types = ["reduction", "parallel"], library_call = "scatter_set"}
      ins(%rank, %guard, %x, %places : tensor<1048576xindex>, tensor<1xi1>, tensor<1048576xf32>, tensor<1048576xindex>)
      outs(%e : tensor<1048576xf32>) {
  ^bb0(%r: index, %g: i1, %v: f32, %p: index, %o: f32):
    linalg.yield %o : f32
  } -> tensor<1048576xf32>
  return %sorted : tensor<1048576xf32>
}
}
