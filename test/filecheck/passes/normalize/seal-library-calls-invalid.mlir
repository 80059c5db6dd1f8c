// RUN: ipu-opt %s --ipu-seal-library-calls --split-input-file --verify-diagnostics

#map = affine_map<(i) -> (i)>

func.func @no_such_codelet(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'linalg.generic' op calls 'srot', but no library codelet is called so; is 'sort' meant? there are: }}
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["reduction"], library_call = "srot"}
      ins(%x : tensor<4xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

#map = affine_map<(i) -> (i)>

func.func @other_operands_than_it_takes(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{calls the library codelet 'sort' with tensor<4xf32>, tensor<4xf32>, tensor<4xf32>; it needs one operand and a result of its shape}}
  %y = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["reduction"], library_call = "sort"}
      ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

#map = affine_map<(i) -> (i)>

func.func @sizes_are_not_known(%x: tensor<?xf32>, %init: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{calls a library codelet with tensors of unknown sizes; give the program fixed sizes}}
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["reduction"], library_call = "sort"}
      ins(%x : tensor<?xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

#row = affine_map<(o, p, i, n) -> (o, n, i)>

func.func @too_many_operands(%k: tensor<1x4x1xf32>, %p: tensor<4xindex>, %init: tensor<1x4x1xindex>) -> tensor<1x4x1xindex> {
  // expected-error @below {{has more than 12 operands or 4 results; call it with fewer}}
  %y = linalg.generic {indexing_maps = [#row, #row, #row, #row, #row, #row, #row, #row, #row, #row, #row, affine_map<(o, p, i, n) -> (p)>, affine_map<(o, p, i, n) -> (o, p, i)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"], library_call = "rank"}
      ins(%k, %k, %k, %k, %k, %k, %k, %k, %k, %k, %k, %p : tensor<1x4x1xf32>, tensor<1x4x1xf32>, tensor<1x4x1xf32>, tensor<1x4x1xf32>, tensor<1x4x1xf32>, tensor<1x4x1xf32>, tensor<1x4x1xf32>, tensor<1x4x1xf32>, tensor<1x4x1xf32>, tensor<1x4x1xf32>, tensor<1x4x1xf32>, tensor<4xindex>)
      outs(%init : tensor<1x4x1xindex>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %a4: f32, %a5: f32, %a6: f32, %a7: f32, %a8: f32, %a9: f32, %a10: f32, %b: index, %old: index):
    linalg.yield %old : index
  } -> tensor<1x4x1xindex>
  return %y : tensor<1x4x1xindex>
}
