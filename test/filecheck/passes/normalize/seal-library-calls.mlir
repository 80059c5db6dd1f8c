// RUN: ipu-opt %s --ipu-seal-library-calls | filecheck %s
// RUN: ipu-opt %s --ipu-normalize | filecheck %s --check-prefix=NORMAL
// RUN: ipu-opt %s --ipu-set-target=tiles=4 --ipu-compile --ipu-to-host | filecheck %s --check-prefix=HOST

#map = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>

// The body says that elements are passed on, and dimensions of size 1 could go: the codelet sorts, whatever they say.
// CHECK-LABEL: func.func @a_call_is_kept_as_it_is
// CHECK: %[[Y:.*]] = "ipu.library_call"(%{{.*}}, %{{.*}}) {codelet = "sort"
// CHECK-SAME: updated = [false]} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: return %[[Y]]
// NORMAL-LABEL: func.func @a_call_is_kept_as_it_is
// NORMAL: "ipu.library_call"
// NORMAL-SAME: (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
// HOST-LABEL: func.func @a_call_is_kept_as_it_is
// HOST: library_call = "sort"
func.func @a_call_is_kept_as_it_is(%x: tensor<4x1xf32>) -> tensor<1x4xf32> {
  %init = tensor.empty() : tensor<1x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x1xf32>) outs(%init : tensor<1x4xf32>) permutation = [1, 0]
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "reduction"], library_call = "sort"}
      ins(%t : tensor<1x4xf32>) outs(%init : tensor<1x4xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  } -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}

// CHECK-LABEL: func.func @what_is_updated_is_known
// CHECK: "ipu.library_call"
// CHECK-SAME: codelet = "scatter_add"
// CHECK-SAME: inputs = 4 : i64
// CHECK-SAME: updated = [true]
func.func @what_is_updated_is_known(%i: tensor<3xi32>, %g: tensor<3xi1>, %u: tensor<3xf32>, %p: tensor<4xindex>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>,
                                        affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>],
                       iterator_types = ["reduction", "parallel"], library_call = "scatter_add"}
      ins(%i, %g, %u, %p : tensor<3xi32>, tensor<3xi1>, tensor<3xf32>, tensor<4xindex>) outs(%x : tensor<4xf32>) {
  ^bb0(%a: i32, %b: i1, %c: f32, %d: index, %old: f32):
    linalg.yield %old : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
