// RUN: ipu-opt %s --ipu-simplify-stablehlo | filecheck %s

// CHECK-LABEL: @marks_go
// CHECK-NEXT: return %arg0
func.func @marks_go(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "mhlo.copy"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @Sharding(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "sdy.sharding_constraint"(%2) : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// Behind a barrier, floats of known sizes are computed with anew.
// CHECK-LABEL: @barriers(
// CHECK-NEXT:  %[[Y:.*]] = "ipu.barrier"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:  return %[[Y]], %arg1, %arg2
func.func @barriers(%x: tensor<4xf32>, %n: tensor<4xi32>, %z: tensor<?xf32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<?xf32>) {
  %0:3 = stablehlo.optimization_barrier %x, %n, %z : tensor<4xf32>, tensor<4xi32>, tensor<?xf32>
  return %0#0, %0#1, %0#2 : tensor<4xf32>, tensor<4xi32>, tensor<?xf32>
}

// In a loop nothing has computed it before.
// CHECK-LABEL: @barriers_in_loops(
// CHECK-NOT:   ipu.barrier
func.func @barriers_in_loops(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.while(%y = %x) : tensor<f32>
    cond {
      %1 = stablehlo.compare LT, %y, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.optimization_barrier %y : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }
  return %0 : tensor<f32>
}

// CHECK-LABEL: @functions_get_the_names_of_math
// CHECK: math.erf %arg0 : tensor<4xf32>
// CHECK: math.asin
// CHECK: math.erf
func.func @functions_get_the_names_of_math(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.asin %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = "mhlo.erf"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: @a_size_that_is_set_anyway
// CHECK: return %arg0
func.func @a_size_that_is_set_anyway(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<4> : tensor<i32>
  %0 = stablehlo.set_dimension_size %x, %c, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @a_reduction_over_nothing_has_a_dimension_of_one
// CHECK: stablehlo.reshape %arg0 : (tensor<4xf32>) -> tensor<4x1xf32>
// CHECK: stablehlo.reduce{{.*}} across dimensions = [1]
func.func @a_reduction_over_nothing_has_a_dimension_of_one(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @a_reduction_of_no_elements_is_its_initial_value
// CHECK: stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4xf32>
// CHECK-NOT: stablehlo.reduce
func.func @a_reduction_of_no_elements_is_its_initial_value(%x: tensor<4x0xf32>, %z: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x0xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @a_concatenation_is_one_of_tensors
// CHECK: tensor.concat dim(1) %arg0, %arg1 : (tensor<4x2xui32>, tensor<4x3xui32>) -> tensor<4x5xui32>
func.func @a_concatenation_is_one_of_tensors(%x: tensor<4x2xui32>, %y: tensor<4x3xui32>) -> tensor<4x5xui32> {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<4x2xui32>, tensor<4x3xui32>) -> tensor<4x5xui32>
  return %0 : tensor<4x5xui32>
}

// CHECK-LABEL: @program_calls_stay_where_they_are
// CHECK: @ipu.enqueue(%arg0) {has_side_effect = true
// CHECK: @ipu.place(%arg0) {mhlo
func.func @program_calls_stay_where_they_are(%x: tensor<4xf32>) {
  stablehlo.custom_call @ipu.enqueue(%x) {mhlo.backend_config = {queue = "q"}} : (tensor<4xf32>) -> ()
  %0 = stablehlo.custom_call @ipu.place(%x) {mhlo.backend_config = {mapping = ""}} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @a_slice_of_no_elements_begins_nowhere
// CHECK: %[[NONE:.*]] = tensor.empty() : tensor<0xui32>
// CHECK: return %[[NONE]]
func.func @a_slice_of_no_elements_begins_nowhere(%x: tensor<2xui32>) -> tensor<0xui32> {
  %0 = stablehlo.slice %x [2:2:2] : (tensor<2xui32>) -> tensor<0xui32>
  return %0 : tensor<0xui32>
}

// CHECK-LABEL: @a_padding_of_no_elements_is_all_there_is
// CHECK: stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2xf32>
// CHECK-NOT: stablehlo.pad
func.func @a_padding_of_no_elements_is_all_there_is(%x: tensor<0xf32>, %z: tensor<f32>) -> tensor<2xf32> {
  %0 = stablehlo.pad %x, %z, low = [2], high = [0], interior = [1] : (tensor<0xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @the_top_k_are_those_of_a_sort
// CHECK: %[[SORTED:.*]]:2 = "stablehlo.sort"(%arg0, %arg1)
// CHECK-SAME: dimension = 1
// CHECK: stablehlo.compare GT
// CHECK: stablehlo.slice %[[SORTED]]#0 [0:3, 0:2]
// CHECK: stablehlo.slice %[[SORTED]]#1 [0:3, 0:2]
func.func @the_top_k_are_those_of_a_sort(%x: tensor<3x4xf32>, %i: tensor<3x4xi32>, %z: tensor<f32>, %n: tensor<i32>) -> (tensor<3x2xf32>, tensor<3x2xi32>) {
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %z, %n) {called_computations = [@is_greater], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<3x4xf32>, tensor<3x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x2xi32>
}
// CHECK-NOT: @is_greater
func.func private @is_greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @a_copy_as_tensorflow_writes_it
// CHECK-NEXT: return %arg0
func.func @a_copy_as_tensorflow_writes_it(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mhlo.copy %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @a_reshape_to_its_own_shape_is_nothing
// CHECK-NEXT: return %arg0
func.func @a_reshape_to_its_own_shape_is_nothing(%x: tensor<ui8>) -> tensor<ui8> {
  %0 = stablehlo.reshape %x : (tensor<ui8>) -> tensor<ui8>
  return %0 : tensor<ui8>
}

// Exponents without a sign are halved, so that math.ipowi does not take them for negative ones.
// CHECK-LABEL: @powers_of_integers
// CHECK: %[[SIGNED:.*]] = math.ipowi %arg0, %arg0 : tensor<3xi32>
// CHECK: %[[SQUARES:.*]] = stablehlo.multiply %arg1, %arg1
// CHECK: %[[HALF:.*]] = stablehlo.shift_right_logical %arg1
// CHECK: math.ipowi {{.*}} : tensor<3xi8>
// CHECK-NOT: stablehlo.power
func.func @powers_of_integers(%a: tensor<3xi32>, %b: tensor<3xui8>) -> (tensor<3xi32>, tensor<3xui8>) {
  %0 = stablehlo.power %a, %a : tensor<3xi32>
  %1 = stablehlo.power %b, %b : tensor<3xui8>
  return %0, %1 : tensor<3xi32>, tensor<3xui8>
}

// Sums and products of 5,000 elements are those of 64 parts of 79, the last of which has initial values behind it.
// CHECK-LABEL: @two_results_of_parts
// CHECK: %[[PADDED:.*]] = stablehlo.pad %arg0, %[[ZERO:.*]], low = [0, 0], high = [0, 56], interior = [0, 0]
// CHECK: %[[PARTS:.*]] = stablehlo.reshape %[[PADDED]] : (tensor<3x5056xf32>) -> tensor<3x64x79xf32>
// CHECK: %[[FIRST:.*]]:2 = stablehlo.reduce(%[[PARTS]] init: %[[ZERO]]), ({{.*}}) across dimensions = [2] {{.*}} -> (tensor<3x64xf32>, tensor<3x64xf32>)
// CHECK: %[[ALL:.*]]:2 = stablehlo.reduce(%[[FIRST]]#0 init: %[[ZERO]]), (%[[FIRST]]#1 {{.*}}) across dimensions = [1] {{.*}} -> (tensor<3xf32>, tensor<3xf32>)
// CHECK: return %[[ALL]]#0, %[[ALL]]#1
func.func @two_results_of_parts(%x: tensor<3x5000xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %r:2 = stablehlo.reduce(%x init: %zero), (%x init: %one) across dimensions = [1]
      : (tensor<3x5000xf32>, tensor<3x5000xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>) {
    %sum = stablehlo.add %a, %b : tensor<f32>
    %product = stablehlo.multiply %c, %d : tensor<f32>
    stablehlo.return %sum, %product : tensor<f32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<3xf32>, tensor<3xf32>
}
