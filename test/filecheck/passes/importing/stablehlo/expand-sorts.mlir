// RUN: ipu-opt %s --ipu-expand-sorts | filecheck %s

// CHECK-LABEL: @what_comes_before_is_counted
// CHECK: %[[RANKS:.*]] = scf.for %[[OWN:[a-z0-9_]+]] =
// CHECK: %[[RANK:.*]] = scf.for %[[OTHER:[a-z0-9_]+]] = {{.*}} -> (index)
// CHECK: stablehlo.compare LT
// CHECK: stablehlo.compare LT
// CHECK: arith.cmpi ult, %[[OTHER]], %[[OWN]]
// CHECK: tensor.insert %[[RANK]]
// CHECK: scf.for
// CHECK: %[[PLACE:.*]] = tensor.extract %[[RANKS]]
// CHECK: tensor.insert %{{.*}} into %{{.*}}[%[[PLACE]]] : tensor<8xf32>
// CHECK: tensor.insert %{{.*}} into %{{.*}}[%{{.*}}] : tensor<8xi32>
// CHECK-NOT: stablehlo.sort
func.func @what_comes_before_is_counted(%x: tensor<8xf32>, %y: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xi32>
}
