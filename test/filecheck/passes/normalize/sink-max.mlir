// RUN: ipu-opt %s --ipu-sink-max | filecheck %s
// RUN: ipu-opt %s --ipu-sink-max=any-addend=false | filecheck %s --check-prefix=EXACT

#all = affine_map<(n, h, w, c) -> (n, h, w, c)>
#channel = affine_map<(n, h, w, c) -> (c)>
#row = affine_map<(n, h, w, c) -> (h)>

// CHECK-LABEL: func.func @bias_and_relu_follow_the_pooling
// CHECK-SAME: (%[[X:.*]]: tensor<2x4x4x6xf32>, %[[B:.*]]: tensor<6xf32>)
// CHECK-NOT: linalg.generic
// CHECK: %[[LOW:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<2x2x2x6xf32>)
// CHECK: %[[MAX:.*]] = linalg.pooling_nhwc_max {{.*}} ins(%[[X]], %{{.*}} : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%[[LOW]] : tensor<2x2x2x6xf32>)
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[MAX]], %[[B]] : tensor<2x2x2x6xf32>, tensor<6xf32>)
// CHECK: arith.addf
// CHECK-NEXT: arith.maximumf
// CHECK: return %[[Y]]
// The bias may be +inf where a window holds -inf: only finite constants are added then.
// EXACT-LABEL: func.func @bias_and_relu_follow_the_pooling
// EXACT: linalg.generic
// EXACT: linalg.pooling
func.func @bias_and_relu_follow_the_pooling(%x: tensor<2x4x4x6xf32>, %b: tensor<6xf32>) -> tensor<2x2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<6xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %s = arith.addf %a, %c : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  return %y : tensor<2x2x2x6xf32>
}

// CHECK-LABEL: func.func @constants_follow_in_exact_form_too
// CHECK-NOT: linalg.generic
// CHECK: linalg.pooling
// CHECK: linalg.generic
// EXACT-LABEL: func.func @constants_follow_in_exact_form_too
// EXACT-NOT: linalg.generic
// EXACT: linalg.pooling
// EXACT: linalg.generic
func.func @constants_follow_in_exact_form_too(%x: tensor<2x4x4x6xf32>, %b: tensor<6xf32>) -> tensor<2x2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<6xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %s = arith.addf %a, %half : f32
    %t = arith.mulf %half, %s : f32
    %u = arith.divf %t, %half : f32
    %v = arith.subf %u, %half : f32
    %r = arith.minimumf %c, %v : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  return %y : tensor<2x2x2x6xf32>
}

// CHECK-LABEL: func.func @min_pooling_too
// CHECK-NOT: linalg.generic
// CHECK: linalg.pooling
// CHECK: linalg.generic
func.func @min_pooling_too(%x: tensor<2x4x4x6xf32>, %b: tensor<6xf32>) -> tensor<2x2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0x7F800000 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<6xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %s = arith.addf %a, %c : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  %y = linalg.pooling_nhwc_min {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  return %y : tensor<2x2x2x6xf32>
}

// CHECK-LABEL: func.func @windows_that_overlap
// CHECK-NOT: linalg.generic
// CHECK: linalg.pooling
// CHECK: linalg.generic
func.func @windows_that_overlap(%x: tensor<2x4x4x6xf32>, %b: tensor<6xf32>) -> tensor<2x1x1x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<6xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %s = arith.addf %a, %c : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %p = tensor.empty() : tensor<2x1x1x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x1x1x6xf32>) -> tensor<2x1x1x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<3x3xf32>) outs(%filled : tensor<2x1x1x6xf32>) -> tensor<2x1x1x6xf32>
  return %y : tensor<2x1x1x6xf32>
}

// CHECK-LABEL: func.func @channels_first
// CHECK-NOT: linalg.generic
// CHECK: linalg.pooling
// CHECK: linalg.generic
func.func @channels_first(%x: tensor<2x6x4x4xf32>, %b: tensor<6xf32>) -> tensor<2x6x2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x6x4x4xf32>
  %f = linalg.generic {indexing_maps = [#all, affine_map<(n, c, h, w) -> (c)>, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x6x4x4xf32>, tensor<6xf32>) outs(%e : tensor<2x6x4x4xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %s = arith.addf %a, %c : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<2x6x4x4xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x6x2x2xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x6x2x2xf32>) -> tensor<2x6x2x2xf32>
  %y = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x6x4x4xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x6x2x2xf32>) -> tensor<2x6x2x2xf32>
  return %y : tensor<2x6x2x2xf32>
}

// What follows stays as it is.

// CHECK-LABEL: func.func @a_negative_factor_turns_the_order_round
// CHECK: linalg.generic
// CHECK: linalg.pooling
func.func @a_negative_factor_turns_the_order_round(%x: tensor<2x4x4x6xf32>, %b: tensor<6xf32>) -> tensor<2x2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<6xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %r = arith.mulf %a, %minus : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  return %y : tensor<2x2x2x6xf32>
}

// CHECK-LABEL: func.func @a_factor_that_is_not_known_may_be_negative
// CHECK: linalg.generic
// CHECK: linalg.pooling
func.func @a_factor_that_is_not_known_may_be_negative(%x: tensor<2x4x4x6xf32>, %b: tensor<6xf32>) -> tensor<2x2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<6xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %r = arith.mulf %a, %c : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  return %y : tensor<2x2x2x6xf32>
}

// CHECK-LABEL: func.func @what_is_subtracted_falls
// CHECK: linalg.generic
// CHECK: linalg.pooling
func.func @what_is_subtracted_falls(%x: tensor<2x4x4x6xf32>, %b: tensor<6xf32>) -> tensor<2x2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<6xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %r = arith.subf %c, %a : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  return %y : tensor<2x2x2x6xf32>
}

// CHECK-LABEL: func.func @a_constant_divided_by_the_value_falls
// CHECK: linalg.generic
// CHECK: linalg.pooling
func.func @a_constant_divided_by_the_value_falls(%x: tensor<2x4x4x6xf32>, %b: tensor<6xf32>) -> tensor<2x2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<6xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %r = arith.divf %half, %a : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  return %y : tensor<2x2x2x6xf32>
}

// With a window of NaN and 5 and c = 0, the larger of 0 and 5 is 5; of the pooled NaN, it would be 0.
// CHECK-LABEL: func.func @maxnumf_loses_a_nan
// CHECK: linalg.generic
// CHECK: linalg.pooling
func.func @maxnumf_loses_a_nan(%x: tensor<2x4x4x6xf32>, %b: tensor<6xf32>) -> tensor<2x2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<6xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %r = arith.maxnumf %a, %c : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  return %y : tensor<2x2x2x6xf32>
}

// CHECK-LABEL: func.func @exp_may_fall_in_the_last_bit
// CHECK: linalg.generic
// CHECK: linalg.pooling
func.func @exp_may_fall_in_the_last_bit(%x: tensor<2x4x4x6xf32>, %b: tensor<6xf32>) -> tensor<2x2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<6xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  return %y : tensor<2x2x2x6xf32>
}

// CHECK-LABEL: func.func @a_square_is_no_chain
// CHECK: linalg.generic
// CHECK: linalg.pooling
func.func @a_square_is_no_chain(%x: tensor<2x4x4x6xf32>, %b: tensor<6xf32>) -> tensor<2x2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<6xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %r = arith.mulf %a, %a : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  return %y : tensor<2x2x2x6xf32>
}

// CHECK-LABEL: func.func @an_operand_that_differs_within_a_window
// CHECK: linalg.generic
// CHECK: linalg.pooling
func.func @an_operand_that_differs_within_a_window(%x: tensor<2x4x4x6xf32>, %b: tensor<4xf32>) -> tensor<2x2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<4xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %s = arith.addf %a, %c : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  return %y : tensor<2x2x2x6xf32>
}

// CHECK-LABEL: func.func @a_residual_differs_at_every_point
// CHECK: linalg.generic
// CHECK: linalg.pooling
func.func @a_residual_differs_at_every_point(%x: tensor<2x4x4x6xf32>, %b: tensor<2x4x4x6xf32>) -> tensor<2x2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<2x4x4x6xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %s = arith.addf %a, %c : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  return %y : tensor<2x2x2x6xf32>
}

// CHECK-LABEL: func.func @a_start_that_may_win_would_be_biased
// CHECK: linalg.generic
// CHECK: linalg.pooling
func.func @a_start_that_may_win_would_be_biased(%x: tensor<2x4x4x6xf32>, %b: tensor<6xf32>) -> tensor<2x2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<6xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %s = arith.addf %a, %c : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  return %y : tensor<2x2x2x6xf32>
}

// CHECK-LABEL: func.func @the_value_is_used_elsewhere
// CHECK: linalg.generic
// CHECK: linalg.pooling
func.func @the_value_is_used_elsewhere(%x: tensor<2x4x4x6xf32>, %b: tensor<6xf32>) -> (tensor<2x2x2x6xf32>, tensor<2x4x4x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<6xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %s = arith.addf %a, %c : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  return %y, %f : tensor<2x2x2x6xf32>, tensor<2x4x4x6xf32>
}

// CHECK-LABEL: func.func @windows_of_stride_one_do_not_shrink
// CHECK: linalg.generic
// CHECK: linalg.pooling
func.func @windows_of_stride_one_do_not_shrink(%x: tensor<2x4x4x6xf32>, %b: tensor<6xf32>) -> tensor<2x4x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<6xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %s = arith.addf %a, %c : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<1x1xf32>
  %p = tensor.empty() : tensor<2x4x4x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x4x4x6xf32>) -> tensor<2x4x4x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<1> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<1x1xf32>) outs(%filled : tensor<2x4x4x6xf32>) -> tensor<2x4x4x6xf32>
  return %y : tensor<2x4x4x6xf32>
}

// Only what is fixed may be the other operand.
// CHECK-LABEL: func.func @the_running_value_is_computed_in_two_steps
// CHECK: linalg.generic
// CHECK: linalg.pooling
func.func @the_running_value_is_computed_in_two_steps(%x: tensor<2x4x4x6xf32>, %b: tensor<6xf32>) -> tensor<2x2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -2.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %f = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<2x4x4x6xf32>, tensor<6xf32>) outs(%e : tensor<2x4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %d = arith.mulf %c, %c : f32
    %r = arith.addf %a, %d : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%f, %window : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  return %y : tensor<2x2x2x6xf32>
}

// A batch of one image: the element-wise op has lost its loop over images.
// CHECK-LABEL: func.func @unit_dimensions_are_seen_through
// CHECK-SAME: (%[[X:.*]]: tensor<4x4x6xf32>, %[[B:.*]]: tensor<6xf32>)
// CHECK: %[[IMAGE:.*]] = tensor.expand_shape %[[X]]
// CHECK: %[[MAX:.*]] = linalg.pooling_nhwc_max {{.*}} ins(%[[IMAGE]],
// CHECK: linalg.generic {indexing_maps = [#[[ALL:.*]], #[[CHANNEL:.*]], #[[ALL]]]
// CHECK-SAME: ins(%[[MAX]], %[[B]] : tensor<1x2x2x6xf32>, tensor<6xf32>)
func.func @unit_dimensions_are_seen_through(%x: tensor<4x4x6xf32>, %b: tensor<6xf32>) -> tensor<1x2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4x4x6xf32>
  %f = linalg.generic {
      indexing_maps = [affine_map<(h, w, c) -> (h, w, c)>, affine_map<(h, w, c) -> (c)>, affine_map<(h, w, c) -> (h, w, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<4x4x6xf32>, tensor<6xf32>) outs(%e : tensor<4x4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %s = arith.addf %a, %c : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4x4x6xf32>
  %image = tensor.expand_shape %f [[0, 1], [2], [3]] output_shape [1, 4, 4, 6] : tensor<4x4x6xf32> into tensor<1x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<1x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<1x2x2x6xf32>) -> tensor<1x2x2x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%image, %window : tensor<1x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<1x2x2x6xf32>) -> tensor<1x2x2x6xf32>
  return %y : tensor<1x2x2x6xf32>
}

// An expansion that cuts a dimension in two, here 24 elements into 4 x 6, is none of unit dimensions.
// CHECK-LABEL: func.func @other_expansions_stay
// CHECK: linalg.generic
// CHECK: tensor.expand_shape
// CHECK: linalg.pooling
func.func @other_expansions_stay(%x: tensor<2x4x24xf32>) -> tensor<2x2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x24xf32>
  %f = linalg.generic {
      indexing_maps = [affine_map<(n, h, k) -> (n, h, k)>, affine_map<(n, h, k) -> (n, h, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x4x24xf32>) outs(%e : tensor<2x4x24xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<2x4x24xf32>
  %image = tensor.expand_shape %f [[0], [1], [2, 3]] output_shape [2, 4, 4, 6] : tensor<2x4x24xf32> into tensor<2x4x4x6xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2x2x2x6xf32>
  %filled = linalg.fill ins(%start : f32) outs(%p : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%image, %window : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%filled : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
  return %y : tensor<2x2x2x6xf32>
}
