// RUN: ipu-opt %s --ipu-check-stablehlo --ipu-convert-program-calls | filecheck %s
// RUN: ipu-run %s --entry calls --seed 1 | filecheck %s --check-prefix=VALUE
// RUN: ipu-run %s --entry calls --seed 1 --per-tile --tiles 4 | filecheck %s --check-prefix=VALUE

// Of a number from a normal distribution, 512 times as much.
// VALUE: out0: float32[4] min -667.216 mean 24.8937 max 420.668
func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.add %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @is_small(%n: tensor<ui32>, %x: tensor<4xf32>) -> tensor<i1> {
  %most = stablehlo.constant dense<3> : tensor<ui32>
  %p = stablehlo.compare LT, %n, %most : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  return %p : tensor<i1>
}
func.func private @round(%n: tensor<ui32>, %x: tensor<4xf32>) -> (tensor<ui32>, tensor<4xf32>) {
  %one = stablehlo.constant dense<1> : tensor<ui32>
  %m = stablehlo.add %n, %one : tensor<ui32>
  %y = func.call @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %m, %y : tensor<ui32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @calls
// CHECK:         call @double(%arg0) {ipu.outlined, no_inline}
// CHECK:         %[[N:.*]] = arith.constant 5 : index
// CHECK:         %[[R:.*]] = scf.for {{.*}} to %[[N]] step {{.*}} iter_args(%[[X:.*]] = %{{.*}}) -> (tensor<4xf32>) {
// CHECK-NEXT:      %[[Y:.*]] = func.call @double(%[[X]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      scf.yield %[[Y]]
// CHECK:         scf.while (%[[I:.*]] = %{{.*}}, %[[C:.*]] = %[[R]]) : (tensor<ui32>, tensor<4xf32>)
// CHECK-NEXT:      %[[P:.*]] = func.call @is_small(%[[I]], %[[C]])
// CHECK-NEXT:      %[[Q:.*]] = tensor.extract %[[P]][]
// CHECK-NEXT:      scf.condition(%[[Q]]) %[[I]], %[[C]]
// CHECK:           func.call @round
// CHECK-NEXT:      scf.yield
// CHECK:         arith.constant dense<true> : tensor<i1>
func.func @calls(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i1>) {
  %zero = stablehlo.constant dense<0> : tensor<ui32>
  %a = stablehlo.custom_call @ipu.outlined(%x) {called_computations = [@double]} : (tensor<4xf32>) -> tensor<4xf32>
  %b = stablehlo.custom_call @ipu.repeat(%a) {called_computations = [@double], backend_config = "{\"count\": 5}"} : (tensor<4xf32>) -> tensor<4xf32>
  %c:2 = stablehlo.custom_call @ipu.while_loop(%zero, %b) {called_computations = [@is_small, @round]} : (tensor<ui32>, tensor<4xf32>) -> (tensor<ui32>, tensor<4xf32>)
  %p = stablehlo.custom_call @ipu.is_outlined() : () -> tensor<i1>
  return %c#1, %p : tensor<4xf32>, tensor<i1>
}

func.func private @forward(%x: tensor<4xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<i1>) {
  %kept = stablehlo.constant dense<true> : tensor<i1>
  return %x, %kept : tensor<4xf32>, tensor<i1>
}
func.func private @backward(%kept: tensor<i1>, %ct: tensor<4xf32>) -> tensor<4xf32> {
  return %ct : tensor<4xf32>
}
// CHECK-LABEL: func.func private @plain
// CHECK-SAME:    ipu.derivative = {backward = @backward, forward = @forward}
func.func private @plain(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// CHECK-LABEL: func.func @derivative
// CHECK:         call @plain(%arg0, %arg1) {no_inline}
func.func @derivative(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %y = stablehlo.custom_call @ipu.derivative(%x, %n) {called_computations = [@plain, @forward, @backward]} : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
