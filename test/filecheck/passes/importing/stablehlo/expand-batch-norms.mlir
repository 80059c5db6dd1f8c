// RUN: ipu-opt %s --ipu-expand-batch-norms | filecheck %s

// CHECK-LABEL: @training
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[X]] init: %{{.*}}) applies stablehlo.add across dimensions = [0]
// CHECK: %[[MEAN:.*]] = stablehlo.divide %[[SUM]]
// CHECK: %[[SPREAD:.*]] = stablehlo.broadcast_in_dim %[[MEAN]], dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK: %[[APART:.*]] = stablehlo.subtract %[[X]], %[[SPREAD]]
// CHECK: stablehlo.multiply %[[APART]], %[[APART]]
// CHECK: %[[VARIANCE:.*]] = stablehlo.divide
// CHECK: stablehlo.constant dense<1.000000e-03>
// CHECK: stablehlo.rsqrt
// CHECK-NOT: batch_norm
// CHECK: return %{{.*}}, %[[MEAN]], %[[VARIANCE]]
func.func @training(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %o: tensor<3xf32>)
    -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}>
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %0#0, %0#1, %0#2 : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: @inference_of_the_first_dimension
// CHECK: stablehlo.rsqrt
// CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [0] : (tensor<2xf16>) -> tensor<2x3xf16>
// CHECK-NOT: stablehlo.reduce
func.func @inference_of_the_first_dimension(%x: tensor<2x3xf16>, %s: tensor<2xf16>) -> tensor<2x3xf16> {
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %s, %s, %s) <{epsilon = 1.0e-3 : f32, feature_index = 0 : i64}>
      : (tensor<2x3xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>) -> tensor<2x3xf16>
  return %0 : tensor<2x3xf16>
}

// CHECK-LABEL: @grad
// CHECK: %[[SCALE:.*]] = stablehlo.reduce
// CHECK: %[[OFFSET:.*]] = stablehlo.reduce(%arg1 init
// CHECK: return %{{.*}}, %[[SCALE]], %[[OFFSET]]
func.func @grad(%x: tensor<2x3xf32>, %g: tensor<2x3xf32>, %s: tensor<3xf32>)
    -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0:3 = "stablehlo.batch_norm_grad"(%x, %s, %s, %s, %g) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}>
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>)
      -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %0#0, %0#1, %0#2 : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
}
