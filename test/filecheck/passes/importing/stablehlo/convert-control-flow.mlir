// RUN: ipu-opt %s --ipu-convert-control-flow | filecheck %s

// CHECK-LABEL: @while_carries_tensors
// CHECK: scf.while (%[[X:.*]] = %arg0)
// CHECK: %[[GOES:.*]] = stablehlo.compare LT
// CHECK: %[[SCALAR:.*]] = tensor.extract %[[GOES]][]
// CHECK: scf.condition(%[[SCALAR]]) %[[X]]
// CHECK: do
// CHECK: stablehlo.add
// CHECK: scf.yield
func.func @while_carries_tensors(%x: tensor<i32>, %n: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.while(%i = %x) : tensor<i32>
    cond {
      %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %i, %i : tensor<i32>
      stablehlo.return %1 : tensor<i32>
    }
  return %0 : tensor<i32>
}

// CHECK-LABEL: @if_takes_the_scalar
// CHECK: %[[C:.*]] = tensor.extract %arg0[]
// CHECK: scf.if %[[C]] -> (tensor<2xf32>)
func.func @if_takes_the_scalar(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.if"(%c) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    %1 = stablehlo.negate %x : tensor<2xf32>
    stablehlo.return %1 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @the_last_case_is_the_default
// CHECK: scf.index_switch
// CHECK: case 0
// CHECK: stablehlo.negate
// CHECK: default
// CHECK: stablehlo.abs
func.func @the_last_case_is_the_default(%i: tensor<i32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.case"(%i) ({
    %1 = stablehlo.negate %x : tensor<2xf32>
    stablehlo.return %1 : tensor<2xf32>
  }, {
    %1 = stablehlo.abs %x : tensor<2xf32>
    stablehlo.return %1 : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
