// RUN: ipu-opt %s --ipu-widen-sums | filecheck %s
// RUN: ipu-opt %s --ipu-widen-sums=partials=native | filecheck %s --check-prefix=NATIVE
// RUN: ipu-opt %s --ipu-widen-sums=matmuls=native | filecheck %s --check-prefix=MATMULS

#all = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
#elements = affine_map<(i, j) -> (i, j)>
#swapped = affine_map<(i, j) -> (j, i)>
#first = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @product_is_exact_and_rounded_once
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[START:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<4x5xf32>)
// CHECK: %[[SUMS:.*]] = linalg.matmul ins(%{{.*}} : tensor<4x8xf16>, tensor<8x5xf16>) outs(%[[START]] : tensor<4x5xf32>) -> tensor<4x5xf32>
// CHECK: %[[ROUNDED:.*]] = linalg.generic {{.*}} ins(%[[SUMS]] : tensor<4x5xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: return %[[ROUNDED]] : tensor<4x5xf16>
// NATIVE-LABEL: func.func @product_is_exact_and_rounded_once
// NATIVE-NOT: f32
// NATIVE: return
func.func @product_is_exact_and_rounded_once(%a: tensor<4x8xf16>, %b: tensor<8x5xf16>) -> tensor<4x5xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<4x5xf16>
  %start = linalg.fill ins(%zero : f16) outs(%e : tensor<4x5xf16>) -> tensor<4x5xf16>
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x5xf16>) outs(%start : tensor<4x5xf16>) -> tensor<4x5xf16>
  return %r : tensor<4x5xf16>
}

// CHECK-LABEL: func.func @convolutions_and_poolings_keep_their_names
// MATMULS-LABEL: func.func @product_is_exact_and_rounded_once
// MATMULS: linalg.matmul {{.*}} -> tensor<4x5xf16>
// MATMULS-LABEL: func.func @convolutions_and_poolings_keep_their_names
// MATMULS: linalg.conv_2d_nhwc_hwcf {{.*}} outs(%{{.*}} : tensor<1x3x3x4xf32>)
// CHECK: linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} {{.*}} outs(%{{.*}} : tensor<1x3x3x4xf32>)
// CHECK: linalg.pooling_nhwc_sum ins(%{{.*}} : tensor<1x3x3x4xbf16>, tensor<2x2xbf16>) outs(%{{.*}} : tensor<1x2x2x4xf32>)
func.func @convolutions_and_poolings_keep_their_names(
    %x: tensor<1x8x8x3xbf16>, %k: tensor<3x3x3x4xbf16>, %window: tensor<2x2xbf16>,
    %y0: tensor<1x3x3x4xbf16>, %z0: tensor<1x2x2x4xbf16>) -> tensor<1x2x2x4xbf16> {
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%x, %k : tensor<1x8x8x3xbf16>, tensor<3x3x3x4xbf16>) outs(%y0 : tensor<1x3x3x4xbf16>) -> tensor<1x3x3x4xbf16>
  %z = linalg.pooling_nhwc_sum ins(%y, %window : tensor<1x3x3x4xbf16>, tensor<2x2xbf16>)
      outs(%z0 : tensor<1x2x2x4xbf16>) -> tensor<1x2x2x4xbf16>
  return %z : tensor<1x2x2x4xbf16>
}

// CHECK-LABEL: func.func @initial_values_are_widened
// CHECK-SAME: %[[INIT:[a-z0-9]*]]: tensor<4xbf16>)
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[INIT]] : tensor<4xbf16>) outs(%{{.*}} : tensor<4xf32>)
// CHECK: arith.extf
// CHECK: linalg.generic {{.*}} outs(%[[WIDE]] : tensor<4xf32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: bf16, %[[SUM:.*]]: f32):
// CHECK-NEXT: %[[TERM:.*]] = arith.extf %[[X]] : bf16 to f32
// CHECK-NEXT: arith.addf %[[TERM]], %[[SUM]] : f32
func.func @initial_values_are_widened(%x: tensor<4x8xbf16>, %init: tensor<4xbf16>) -> tensor<4xbf16> {
  %r = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xbf16>) outs(%init : tensor<4xbf16>) {
  ^bb0(%a: bf16, %sum: bf16):
    %s = arith.addf %a, %sum : bf16
    linalg.yield %s : bf16
  } -> tensor<4xbf16>
  return %r : tensor<4xbf16>
}

// What is done to factors before stays in their type; only the product is exact. The scalar of a fill may be any.
// CHECK-LABEL: func.func @factors_are_computed_in_their_type
// CHECK: %[[SCALAR:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK: linalg.fill ins(%[[SCALAR]] : f32)
// CHECK: %[[D:.*]] = arith.subf %{{.*}} : f16
// CHECK-NEXT: %[[E:.*]] = arith.extf %[[D]] : f16 to f32
// CHECK-NEXT: %[[SQUARE:.*]] = arith.mulf %[[E]], %[[E]] : f32
// CHECK-NEXT: arith.addf %{{.*}}, %[[SQUARE]] : f32
func.func @factors_are_computed_in_their_type(%x: tensor<4x8xf16>, %y: tensor<4xf16>, %start: f16) -> tensor<4xf16> {
  %e = tensor.empty() : tensor<4xf16>
  %init = linalg.fill ins(%start : f16) outs(%e : tensor<4xf16>) -> tensor<4xf16>
  %r = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<4x8xf16>, tensor<4xf16>) outs(%init : tensor<4xf16>) {
  ^bb0(%a: f16, %b: f16, %sum: f16):
    %d = arith.subf %a, %b : f16
    %p = arith.mulf %d, %d : f16
    %s = arith.addf %sum, %p : f16
    linalg.yield %s : f16
  } -> tensor<4xf16>
  return %r : tensor<4xf16>
}

// One element-wise reader rounds itself, also where it reads transposed.
// CHECK-LABEL: func.func @reader_rounds
// CHECK: %[[SUMS:.*]] = linalg.matmul {{.*}} -> tensor<4x5xf32>
// CHECK-NEXT: tensor.empty() : tensor<5x4xf16>
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[SUMS]] : tensor<4x5xf32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: f16):
// CHECK-NEXT: %[[Y:.*]] = arith.truncf %[[X]] : f32 to f16
// CHECK-NEXT: math.exp %[[Y]] : f16
func.func @reader_rounds(%a: tensor<4x8xf16>, %b: tensor<8x5xf16>, %init: tensor<4x5xf16>) -> tensor<5x4xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x5xf16>) outs(%init : tensor<4x5xf16>) -> tensor<4x5xf16>
  %e = tensor.empty() : tensor<5x4xf16>
  %y = linalg.generic {indexing_maps = [#swapped, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<4x5xf16>) outs(%e : tensor<5x4xf16>) {
  ^bb0(%x: f16, %old: f16):
    %v = math.exp %x : f16
    linalg.yield %v : f16
  } -> tensor<5x4xf16>
  return %y : tensor<5x4xf16>
}

// A reader that needs elements on many tiles gets them rounded.
// CHECK-LABEL: func.func @reader_of_rows_gets_rounded_sums
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<4x8xf16>) outs(%{{.*}} : tensor<4xf32>)
// CHECK: %[[ROUNDED:.*]] = linalg.generic {{.*}} ins(%[[SUMS]] : tensor<4xf32>) outs(%{{.*}} : tensor<4xf16>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[ROUNDED]] : tensor<4x8xf16>, tensor<4xf16>)
func.func @reader_of_rows_gets_rounded_sums(%x: tensor<4x8xf16>, %init: tensor<4xf16>) -> tensor<4x8xf16> {
  %r = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf16>) outs(%init : tensor<4xf16>) {
  ^bb0(%a: f16, %sum: f16):
    %s = arith.addf %sum, %a : f16
    linalg.yield %s : f16
  } -> tensor<4xf16>
  %e = tensor.empty() : tensor<4x8xf16>
  %y = linalg.generic {indexing_maps = [#elements, #first, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<4x8xf16>, tensor<4xf16>) outs(%e : tensor<4x8xf16>) {
  ^bb0(%a: f16, %total: f16, %old: f16):
    %v = arith.divf %a, %total : f16
    linalg.yield %v : f16
  } -> tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// A hint holds for the op that adds up as for the rounding behind it.
// CHECK-LABEL: func.func @placed
// CHECK: linalg.matmul
// CHECK-NEXT: "ipu.place"(%{{.*}}) {{.*}} : (tensor<4x5xf32>) -> tensor<4x5xf32>
// CHECK: linalg.generic
// CHECK: "ipu.place"(%{{.*}}) {{.*}} : (tensor<4x5xf16>) -> tensor<4x5xf16>
func.func @placed(%a: tensor<4x8xf16>, %b: tensor<8x5xf16>, %init: tensor<4x5xf16>) -> tensor<4x5xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x5xf16>) outs(%init : tensor<4x5xf16>) -> tensor<4x5xf16>
  %p = "ipu.place"(%r) {mapping = #ipu.mapping<20, [[10, 20, 1, 1]], 0, 0>} : (tensor<4x5xf16>) -> tensor<4x5xf16>
  return %p : tensor<4x5xf16>
}

// Of two results, the one that is a sum.
// CHECK-LABEL: func.func @sum_beside_a_maximum
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<4xf16>, tensor<4xf32>)
func.func @sum_beside_a_maximum(%x: tensor<4x8xf16>, %m: tensor<4xf16>, %s: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf16>) {
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf16>) outs(%m, %s : tensor<4xf16>, tensor<4xf16>) {
  ^bb0(%a: f16, %max: f16, %sum: f16):
    %0 = arith.maximumf %max, %a : f16
    %1 = arith.addf %sum, %a : f16
    linalg.yield %0, %1 : f16, f16
  } -> (tensor<4xf16>, tensor<4xf16>)
  return %r#0, %r#1 : tensor<4xf16>, tensor<4xf16>
}

// CHECK-LABEL: func.func @maxima_products_and_element_wise_sums_stay
// CHECK-NOT: f32
// CHECK: return
func.func @maxima_products_and_element_wise_sums_stay(
    %x: tensor<4x8xf16>, %y: tensor<4x8xf16>, %m: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf16>, tensor<4x8xf16>) {
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf16>) outs(%m : tensor<4xf16>) {
  ^bb0(%a: f16, %old: f16):
    %v = arith.maximumf %old, %a : f16
    linalg.yield %v : f16
  } -> tensor<4xf16>
  %product = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf16>) outs(%m : tensor<4xf16>) {
  ^bb0(%a: f16, %old: f16):
    %v = arith.mulf %old, %a : f16
    linalg.yield %v : f16
  } -> tensor<4xf16>
  %sum = linalg.generic {indexing_maps = [#elements, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf16>) outs(%y : tensor<4x8xf16>) {
  ^bb0(%a: f16, %old: f16):
    %v = arith.addf %old, %a : f16
    linalg.yield %v : f16
  } -> tensor<4x8xf16>
  return %max, %product, %sum : tensor<4xf16>, tensor<4xf16>, tensor<4x8xf16>
}

// CHECK-LABEL: func.func @sums_in_f32_stay
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[P:.*]] = arith.mulf %{{.*}} : f16
// CHECK-NEXT: arith.extf %[[P]]
func.func @sums_in_f32_stay(%x: tensor<4x8xf16>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf16>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f16, %sum: f32):
    %p = arith.mulf %a, %a : f16
    %w = arith.extf %p : f16 to f32
    %s = arith.addf %sum, %w : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// Sums of 8 bits as well; a maximum needs no other type.
// CHECK-LABEL: func.func @sums_in_8_bits
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[START:.*]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK: %[[SUMS:.*]] = linalg.matmul ins(%{{.*}} : tensor<4x8xf8E4M3FN>, tensor<8x5xf8E4M3FN>) outs(%[[START]] : tensor<4x5xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SUMS]] : tensor<4x5xf32>) outs(%{{.*}} : tensor<4x5xf8E4M3FN>)
// CHECK: arith.truncf %{{.*}} : f32 to f8E4M3FN
// CHECK: linalg.reduce { arith.maximumf } ins(%{{.*}} : tensor<4x8xf8E4M3FN>) outs(%{{.*}} : tensor<4xf8E4M3FN>)
func.func @sums_in_8_bits(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x5xf8E4M3FN>, %init: tensor<4xf8E4M3FN>)
    -> (tensor<4x5xf8E4M3FN>, tensor<4xf8E4M3FN>) {
  %zero = arith.constant 0.0 : f8E4M3FN
  %e = tensor.empty() : tensor<4x5xf8E4M3FN>
  %start = linalg.fill ins(%zero : f8E4M3FN) outs(%e : tensor<4x5xf8E4M3FN>) -> tensor<4x5xf8E4M3FN>
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf8E4M3FN>, tensor<8x5xf8E4M3FN>) outs(%start : tensor<4x5xf8E4M3FN>)
      -> tensor<4x5xf8E4M3FN>
  %max = linalg.reduce {arith.maximumf} ins(%a : tensor<4x8xf8E4M3FN>) outs(%init : tensor<4xf8E4M3FN>) dimensions = [1]
  return %r, %max : tensor<4x5xf8E4M3FN>, tensor<4xf8E4M3FN>
}

// The innermost scope holds.
// CHECK-LABEL: func.func @scope_says_the_type
// CHECK: linalg.matmul {{.*}} outs(%{{.*}} : tensor<4x5xf16>)
// CHECK: linalg.matmul {{.*}} outs(%{{.*}} : tensor<4x5xf32>)
// CHECK: linalg.matmul {{.*}} outs(%{{.*}} : tensor<4x5xf32>)
func.func @scope_says_the_type(%a: tensor<4x8xf16>, %b: tensor<8x5xf16>, %start: tensor<4x5xf16>) -> tensor<4x5xf16> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x5xf16>) outs(%start : tensor<4x5xf16>) -> tensor<4x5xf16> loc(fused["gradient_tape/ipu.partials.native_2/MatMul", "m.py":1:1])
  %1 = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x5xf16>) outs(%0 : tensor<4x5xf16>) -> tensor<4x5xf16> loc("ipu.partials.native/ipu.partials.f32/MatMul")
  %2 = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x5xf16>) outs(%1 : tensor<4x5xf16>) -> tensor<4x5xf16> loc("no.ipu.partials.native/MatMul")
  return %2 : tensor<4x5xf16>
}
