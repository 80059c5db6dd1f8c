// RUN: ipu-opt %s --ipu-specialize-shapes=sizes=4,4 | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf16>, %[[Y:.*]]: tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>)
// CHECK-NOT: ?
// CHECK: %[[W:.*]] = arith.extf %[[X]] : tensor<4x5xf16> to tensor<4x5xf32>
// CHECK: %[[C:.*]] = arith.cmpf olt, %[[W]], %[[Y]] : tensor<4x5xf32>
// CHECK: %[[S:.*]] = arith.select %[[C]], %[[W]], %[[Y]] : tensor<4x5xi1>, tensor<4x5xf32>
// CHECK: %[[T:.*]] = math.tanh %[[S]] fastmath<nnan> : tensor<4x5xf32>
// CHECK: return %[[S]], %[[T]]
func.func @main(%x: tensor<?x5xf16>, %y: tensor<?x5xf32>) -> (tensor<?x5xf32>, tensor<?x5xf32>) {
  %w = arith.extf %x : tensor<?x5xf16> to tensor<?x5xf32>
  %c = arith.cmpf olt, %w, %y : tensor<?x5xf32>
  %s = arith.select %c, %w, %y : tensor<?x5xi1>, tensor<?x5xf32>
  %t = math.tanh %s fastmath<nnan> : tensor<?x5xf32>
  return %s, %t : tensor<?x5xf32>, tensor<?x5xf32>
}
