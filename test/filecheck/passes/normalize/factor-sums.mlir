// RUN: ipu-opt %s --ipu-set-target=tiles=4 --ipu-factor-sums --canonicalize | filecheck %s
// RUN: ipu-opt %s --ipu-set-target=tiles=4 --ipu-factor-sums=always --canonicalize | filecheck %s --check-prefix=ALWAYS

#a = affine_map<(i, u, k, n) -> (i, u, k)>
#b = affine_map<(i, u, k, n) -> (k, n)>
#y = affine_map<(i, u, k, n) -> (i, n)>

// CHECK: #[[ALL:.*]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK: #[[KEPT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @one_factor_is_added_up_first
// CHECK: %[[S:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[KEPT]]], {{.*}}"parallel", "parallel", "reduction"
// CHECK-SAME: ins(%arg0 : tensor<64x8x64xf32>)
// CHECK: linalg.generic {{.*}}"parallel", "reduction", "parallel"{{.*}} ins(%[[S]], %arg1
// CHECK: arith.mulf
func.func @one_factor_is_added_up_first(%a: tensor<64x8x64xf32>, %b: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %y = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
      ins(%a, %b : tensor<64x8x64xf32>, tensor<64x128xf32>) outs(%f : tensor<64x128xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x128xf32>
  return %y : tensor<64x128xf32>
}

// Few products are done before their factors are added up.
// CHECK-LABEL: func.func @few_products_stay
// CHECK-COUNT-1: linalg.generic
// CHECK: return
// ALWAYS-LABEL: func.func @few_products_stay
// ALWAYS-COUNT-2: linalg.generic
func.func @few_products_stay(%a: tensor<4x2x4xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
      ins(%a, %b : tensor<4x2x4xf32>, tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Windows overlap: a sum is made once, and read at steps of two.
// ALWAYS-LABEL: func.func @windows
// ALWAYS: linalg.generic {{.*}}"parallel", "reduction"{{.*}} ins(%arg0
// ALWAYS: -> tensor<9xi32>
// ALWAYS: linalg.generic {{.*}} ins(%{{.*}}, %arg1 : tensor<9xi32>, tensor<3xi32>)
func.func @windows(%a: tensor<10xi32>, %b: tensor<3xi32>) -> tensor<4xi32> {
  %zero = arith.constant 0 : i32
  %pair = tensor.empty() : tensor<2xi32>
  %e = tensor.empty() : tensor<4xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, u, w) -> (i * 2 + u + w)>, affine_map<(i, u, w) -> (w)>,
                                        affine_map<(i, u, w) -> (u)>, affine_map<(i, u, w) -> (i)>],
                       iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%a, %b, %pair : tensor<10xi32>, tensor<3xi32>, tensor<2xi32>) outs(%f : tensor<4xi32>) {
  ^bb0(%p: i32, %q: i32, %unused: i32, %acc: i32):
    %m = arith.muli %p, %q : i32
    %s = arith.addi %acc, %m : i32
    linalg.yield %s : i32
  } -> tensor<4xi32>
  return %y : tensor<4xi32>
}

// A sum that is rounded to 16 bits before it is multiplied would be another one; what is added up is no product.
// ALWAYS-LABEL: func.func @narrow_floats_and_other_bodies_stay
// ALWAYS-COUNT-2: linalg.generic
// ALWAYS: return
func.func @narrow_floats_and_other_bodies_stay(%a: tensor<4x2x4xf16>, %b: tensor<4x8xf16>, %c: tensor<4x2xf32>,
                                               %d: tensor<4xf32>) -> (tensor<4x8xf16>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<4x8xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<4x8xf16>) -> tensor<4x8xf16>
  %y = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
      ins(%a, %b : tensor<4x2x4xf16>, tensor<4x8xf16>) outs(%f : tensor<4x8xf16>) {
  ^bb0(%p: f16, %q: f16, %acc: f16):
    %m = arith.mulf %p, %q : f16
    %s = arith.addf %acc, %m : f16
    linalg.yield %s : f16
  } -> tensor<4x8xf16>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                                        affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%c, %d : tensor<4x2xf32>, tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.divf %p, %q : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y, %z : tensor<4x8xf16>, tensor<4xf32>
}
