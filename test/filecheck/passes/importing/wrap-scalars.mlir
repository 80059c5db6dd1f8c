// RUN: ipu-opt %s --ipu-wrap-scalars | filecheck %s

// CHECK-LABEL: func.func @both
// CHECK-SAME: (%[[X:.*]]: tensor<f16>, %[[A:.*]]: tensor<4xf32>, %{{.*}}: tensor<index>) -> (tensor<f16>, tensor<4xf32>, tensor<f16>)
// CHECK: %[[V:.*]] = tensor.extract %[[X]][] : tensor<f16>
// CHECK: %[[Y:.*]] = arith.addf %[[V]], %[[V]] : f16
// CHECK: %[[R:.*]] = tensor.from_elements %[[Y]] : tensor<f16>
// CHECK: %[[S:.*]] = tensor.from_elements %[[V]] : tensor<f16>
// CHECK: return %[[R]], %[[A]], %[[S]]
func.func @both(%x: f16, %a: tensor<4xf32>, %i: index) -> (f16, tensor<4xf32>, f16) {
  %y = arith.addf %x, %x : f16
  return %y, %a, %x : f16, tensor<4xf32>, f16
}

// What is called has callers that pass scalars.
// CHECK-LABEL: func.func @called(%{{.*}}: i1) -> i1
func.func @called(%c: i1) -> i1 {
  return %c : i1
}

// CHECK-LABEL: func.func @caller(%{{.*}}: tensor<i1>) -> tensor<i1>
// CHECK: call @called(%{{.*}}) : (i1) -> i1
func.func @caller(%c: i1) -> i1 {
  %d = call @called(%c) : (i1) -> i1
  return %d : i1
}

// CHECK-LABEL: func.func private @declared(f32)
func.func private @declared(%x: f32)
