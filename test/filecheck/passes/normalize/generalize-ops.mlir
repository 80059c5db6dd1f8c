// RUN: ipu-opt %s --ipu-generalize-ops | filecheck %s

// CHECK-DAG: #[[ID:map[0-9]*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[COLUMN:map[0-9]*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[ROW:map[0-9]*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[TURNED:map[0-9]*]] = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: func.func @element_wise
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<2x3xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]], #[[ID]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%[[X]], %[[Y]]
// CHECK: arith.subf
func.func @element_wise(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.sub ins(%x, %y : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @broadcast
// CHECK: linalg.generic {indexing_maps = [#[[COLUMN]], #[[ID]]], iterator_types = ["parallel", "parallel"]}
func.func @broadcast(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.broadcast ins(%x : tensor<3xf32>) outs(%e : tensor<2x3xf32>) dimensions = [0]
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @transpose
// CHECK: linalg.generic {indexing_maps = [#[[TURNED]], #[[ID]]], iterator_types = ["parallel", "parallel"]}
func.func @transpose(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<3x2xf32>
  %r = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  return %r : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @reduction
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<2xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ROW]]], iterator_types = ["parallel", "reduction"]}
// CHECK-SAME: outs(%[[Y]]
// CHECK: arith.addf
func.func @reduction(%x: tensor<2x3xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %r = linalg.reduce {arith.addf} ins(%x : tensor<2x3xf32>) outs(%y : tensor<2xf32>) dimensions = [1]
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @map
// CHECK: linalg.generic
// CHECK: ^bb0(%[[A:.*]]: f32, %{{.*}}: f32):
// CHECK: math.absf %[[A]]
func.func @map(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.map {math.absf} ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>)
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @rank_zero
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = []
func.func @rank_zero(%x: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<f32>
  %r = linalg.exp ins(%x : tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: func.func @ops_that_codelets_know_by_name_stay
// CHECK-NOT: linalg.generic
// CHECK: linalg.fill
// CHECK: linalg.copy
// CHECK: linalg.matmul
// CHECK: linalg.conv_1d
func.func @ops_that_codelets_know_by_name_stay(%x: tensor<3x3xf32>, %v: tensor<8xf32>, %k: tensor<3xf32>, %y: tensor<6xf32>)
    -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %c = linalg.copy ins(%x : tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %m = linalg.matmul ins(%x, %x : tensor<3x3xf32>, tensor<3x3xf32>) outs(%f : tensor<3x3xf32>) -> tensor<3x3xf32>
  %w = linalg.conv_1d ins(%v, %k : tensor<8xf32>, tensor<3xf32>) outs(%y : tensor<6xf32>) -> tensor<6xf32>
  return %c, %m, %w : tensor<3x3xf32>, tensor<3x3xf32>, tensor<6xf32>
}
