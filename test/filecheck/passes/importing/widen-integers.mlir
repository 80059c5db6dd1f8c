// RUN: ipu-opt %s --ipu-widen-integers | filecheck %s

#row = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @signed
// CHECK-SAME: (%{{.*}}: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xf32>)
// CHECK: ^bb0(%[[X:.*]]: i8, %{{.*}}: i8, %{{.*}}: f32):
// CHECK-NEXT: %[[F:.*]] = arith.sitofp %[[X]] : i8 to f32
// CHECK-NEXT: linalg.yield %[[X]], %[[F]]
func.func @signed(%x: tensor<4xi4>) -> (tensor<4xi8>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xi8>
  %g = tensor.empty() : tensor<4xf32>
  %r:2 = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
      ins(%x : tensor<4xi4>) outs(%e, %g : tensor<4xi8>, tensor<4xf32>) {
  ^bb0(%in: i4, %out: i8, %f: f32):
    %0 = arith.extsi %in : i4 to i8
    %1 = arith.sitofp %in : i4 to f32
    linalg.yield %0, %1 : i8, f32
  } -> (tensor<4xi8>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<4xi8>, tensor<4xf32>
}

// CHECK-LABEL: func.func @unsigned
// CHECK: %[[C:.*]] = arith.constant 15 : i8
// CHECK-NEXT: %[[A:.*]] = arith.andi %{{.*}}, %[[C]] : i8
// CHECK-NEXT: arith.uitofp %[[A]] : i8 to f32
func.func @unsigned(%x: i4) -> f32 {
  %0 = arith.uitofp %x : i4 to f32
  return %0 : f32
}

// CHECK-LABEL: func.func @made
// CHECK: arith.fptosi %{{.*}} : f32 to i8
// CHECK: arith.constant -4 : i8
// CHECK: arith.maxsi
// CHECK: arith.constant 3 : i8
// CHECK: %[[R:.*]] = arith.minsi
// CHECK: return %[[R]] : i8
func.func @made(%x: f32) -> i3 {
  %0 = arith.fptosi %x : f32 to i3
  return %0 : i3
}

// CHECK-LABEL: func.func @constants
// CHECK: arith.constant dense<[-8, 7]> : tensor<2xi8>
// CHECK: arith.constant -1 : i8
func.func @constants() -> (tensor<2xi4>, i4) {
  %0 = arith.constant dense<[-8, 7]> : tensor<2xi4>
  %1 = arith.constant -1 : i4
  return %0, %1 : tensor<2xi4>, i4
}

// CHECK-LABEL: func.func @sums_lose_the_bits_above
// CHECK: %[[S:.*]] = arith.addi %{{.*}}, %{{.*}} : tensor<4xi8>
// CHECK: %[[H:.*]] = arith.shli %[[S]]
// CHECK: %[[R:.*]] = arith.shrsi %[[H]]
// CHECK: return %[[R]] : tensor<4xi8>
func.func @sums_lose_the_bits_above(%x: tensor<4xi4>) -> tensor<4xi4> {
  %0 = arith.addi %x, %x : tensor<4xi4>
  return %0 : tensor<4xi4>
}

// CHECK-LABEL: func.func @quotients_without_a_sign
// CHECK: %[[A:.*]] = arith.andi %{{.*}} : i8
// CHECK: %[[B:.*]] = arith.andi %{{.*}} : i8
// CHECK: arith.divui %[[A]], %[[B]] : i8
// CHECK: arith.shrsi
func.func @quotients_without_a_sign(%x: i4, %y: i4) -> i4 {
  %0 = arith.divui %x, %y : i4
  return %0 : i4
}

// CHECK-LABEL: func.func @larger
// CHECK: %[[R:.*]] = arith.maxui %{{.*}}, %{{.*}} : i8
// CHECK-NEXT: return %[[R]] : i8
func.func @larger(%x: i4, %y: i4) -> i4 {
  %0 = arith.maxui %x, %y : i4
  return %0 : i4
}
