// RUN: ipu-opt %s --ipu-outline-branches | filecheck %s
// RUN: ipu-opt %s --ipu-import-stablehlo --ipu-normalize | filecheck %s --check-prefix=ONE

// What a branch uses of what is around it are arguments, constants are made anew, the inner branch is a function that
// the outer one calls. Branches that do the same are one function.
// CHECK-LABEL: func.func private @scaled(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>)
// CHECK-LABEL: func.func private @block_1(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK:         call @half(%arg0) {ipu.outlined, no_inline}
// CHECK-LABEL: func.func private @half(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK:         stablehlo.constant dense<5.000000e-01>
// CHECK-LABEL: func.func private @block(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:    %[[TWO:.*]] = stablehlo.constant dense<2.000000e+00>
// CHECK-NEXT:    stablehlo.add %arg0, %arg1
// CHECK-NEXT:    stablehlo.multiply %{{.*}}, %[[TWO]]
// CHECK-NEXT:    return %{{.*}}, %arg0
// CHECK-LABEL: func.func @marked
// CHECK-NOT:     stablehlo.if
// CHECK:         %[[A:.*]]:2 = call @block(%arg0, %arg1) {ipu.outlined, no_inline}
// CHECK:         %[[B:.*]]:2 = call @block(%[[A]]#0, %[[A]]#1)
// CHECK:         call @block_1(%[[B]]#0)
// CHECK-NOT:     stablehlo.case

// What the function passes on is no result of it any more.
// ONE:         %[[A:.*]] = call @[[BLOCK:.*]](%arg0, %arg1)
// ONE:         call @[[BLOCK]](%[[A]], %arg0)
func.func @marked(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %half = stablehlo.constant dense<0.5> : tensor<4xf32>
  %i = stablehlo.custom_call @ipu.is_outlined() {backend_config = "{\"name\": \"block\"}"} : () -> tensor<i1>
  %j = stablehlo.custom_call @ipu.is_outlined() {backend_config = "{\"name\": \"half\"}"} : () -> tensor<i1>
  %a:2 = "stablehlo.if"(%i) ({
    %d = stablehlo.add %x, %w : tensor<4xf32>
    %e = stablehlo.multiply %d, %two : tensor<4xf32>
    stablehlo.return %e, %x : tensor<4xf32>, tensor<4xf32>
  }, {
    stablehlo.return %x, %x : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>)
  %n = stablehlo.convert %i : (tensor<i1>) -> tensor<i32>
  %b:2 = "stablehlo.case"(%n) ({
    stablehlo.return %x, %x : tensor<4xf32>, tensor<4xf32>
  }, {
    %d = stablehlo.add %a#0, %a#1 : tensor<4xf32>
    %e = stablehlo.multiply %d, %two : tensor<4xf32>
    stablehlo.return %e, %a#0 : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
  %c = "stablehlo.if"(%i) ({
    %d = "stablehlo.if"(%j) ({
      %e = stablehlo.multiply %b#0, %half : tensor<4xf32>
      stablehlo.return %e : tensor<4xf32>
    }, {
      stablehlo.return %x : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    stablehlo.return %d : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %c, %b#1 : tensor<4xf32>, tensor<4xf32>
}

// A condition that the program knows nothing of is one.
// CHECK-LABEL: func.func @not_marked
// CHECK:         "stablehlo.if"
func.func @not_marked(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "stablehlo.if"(%p) ({
    %d = stablehlo.add %x, %x : tensor<4xf32>
    stablehlo.return %d : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// Constants of several numbers may be what calls differ in.
// CHECK-LABEL: func.func @weights
// CHECK:         %[[W:.*]] = stablehlo.constant
// CHECK:         call @scaled(%arg0, %[[W]])
func.func @weights(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %i = stablehlo.custom_call @ipu.is_outlined() {backend_config = "{\"name\": \"scaled\"}"} : () -> tensor<i1>
  %a = "stablehlo.if"(%i) ({
    %d = stablehlo.multiply %x, %w : tensor<2xf32>
    stablehlo.return %d : tensor<2xf32>
  }, {
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %a : tensor<2xf32>
}
