// RUN: ipu-opt %s --ipu-autodiff --canonicalize | filecheck %s
// RUN: ipu-opt %s --ipu-autodiff='of=product by=1' | filecheck %s --check-prefix=ENTRY

// The adjoint of a product is a product with transposed maps: dx = dy w^T, dw = x^T dy.
func.func private @product(%x: tensor<4x3xf32>, %w: tensor<3x5xf32>, %y: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<4x3xf32>, tensor<3x5xf32>) outs(%y : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

// CHECK: #[[ROWS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #[[WEIGHTS:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #[[RESULTS:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func private @of_product(
// CHECK-SAME: %[[X:.*]]: tensor<4x3xf32>, %[[W:.*]]: tensor<3x5xf32>, %{{.*}}: tensor<4x5xf32>, %[[DY:.*]]: tensor<4x5xf32>
// CHECK: %[[DX:.*]] = linalg.generic {indexing_maps = [#[[WEIGHTS]], #[[RESULTS]], #[[ROWS]]], iterator_types = ["parallel", "reduction", "parallel"]}
// CHECK-SAME: ins(%[[W]], %[[DY]] :
// CHECK: %[[DW:.*]] = linalg.generic {indexing_maps = [#[[ROWS]], #[[RESULTS]], #[[WEIGHTS]]], iterator_types = ["reduction", "parallel", "parallel"]}
// CHECK-SAME: ins(%[[X]], %[[DY]] :
// CHECK: return %{{.*}}, %[[DX]], %[[DW]], %[[DY]] :
func.func private @of_product(tensor<4x3xf32>, tensor<3x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>)
    -> (tensor<4x5xf32>, tensor<4x3xf32>, tensor<3x5xf32>, tensor<4x5xf32>)
    attributes {ipu.gradient = {of = @product, by = array<i64: 0, 1, 2>}}

// ENTRY: func.func @product_gradient(%{{.*}}: tensor<4x3xf32>, %{{.*}}: tensor<3x5xf32>, %{{.*}}: tensor<4x5xf32>, %{{.*}}: tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<3x5xf32>)

// The result of tanh is read, and not computed again.
func.func private @tanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func private @of_tanh(
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK: math.tanh
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[Y]] :
// CHECK-NOT: math.tanh
// CHECK: return
func.func private @of_tanh(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ipu.gradient = {of = @tanh, by = array<i64: 0>}}

// A loop stores what each iteration takes from the one before; the backward loop reads it from the last to the first.
func.func private @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%c = %x) -> tensor<4xf32> {
    %s = math.sin %c : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func private @of_loop(
// CHECK: %[[FORWARD:.*]]:2 = scf.for {{.*}} -> (tensor<4xf32>, tensor<3x4xf32>)
// CHECK: tensor.insert_slice
// CHECK: scf.for {{.*}} -> (tensor<4xf32>)
// CHECK: tensor.extract_slice %[[FORWARD]]#1
// CHECK: math.cos
func.func private @of_loop(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ipu.gradient = {of = @loop, by = array<i64: 0>}}

// A loop that ends on a condition has a counter beside it, which is a bound of what it stores and says how far it came.
func.func private @bounded(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %limit = arith.constant 1.0 : f32
  %r:2 = scf.while (%i = %c0, %s = %x) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>) {
    %first = arith.constant 0 : index
    %e = tensor.extract %s[%first] : tensor<4xf32>
    %less = arith.cmpf olt, %e, %limit : f32
    %left = arith.cmpi slt, %i, %c5 : i32
    %go = arith.andi %less, %left : i1
    scf.condition(%go) %i, %s : i32, tensor<4xf32>
  } do {
  ^bb0(%i: i32, %s: tensor<4xf32>):
    %n = math.exp %s : tensor<4xf32>
    %j = arith.addi %i, %c1 : i32
    scf.yield %j, %n : i32, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func private @of_bounded(
// CHECK: %[[FORWARD:.*]]:3 = scf.while {{.*}} -> (i32, tensor<4xf32>, tensor<5x4xf32>)
// CHECK: tensor.insert_slice
// CHECK: arith.index_cast %[[FORWARD]]#0
// CHECK: scf.for {{.*}} -> (tensor<4xf32>)
// CHECK: tensor.extract_slice %[[FORWARD]]#2
func.func private @of_bounded(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ipu.gradient = {of = @bounded, by = array<i64: 0>}}

// A branch is taken again; where nothing comes between, both are one.
func.func private @branch(%x: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
  %r = scf.if %p -> tensor<4xf32> {
    %s = math.sin %x : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func private @of_branch(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[P:.*]]: i1, %[[DY:.*]]: tensor<4xf32>
// CHECK: scf.if %[[P]] -> (tensor<4xf32>, tensor<4xf32>)
// CHECK: math.sin
// CHECK: math.cos
// CHECK: else
// CHECK: scf.yield %[[X]], %[[DY]]
func.func private @of_branch(tensor<4xf32>, i1, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ipu.gradient = {of = @branch, by = array<i64: 0>}}

// What is stopped is a constant.
func.func private @stopped(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = "ipu.stop_gradient"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = arith.mulf %s, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func private @of_stopped(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[DY:.*]]: tensor<4xf32>
// CHECK-NOT: ipu.stop_gradient
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[DY]] :
// CHECK: return %{{.*}}, %[[DX]] :
func.func private @of_stopped(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ipu.gradient = {of = @stopped, by = array<i64: 0>}}

// An outlined function has a gradient of its own, once for all calls; a function that says how it is differentiated is.
func.func private @layer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.sin %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @own(%x: tensor<4xf32>) -> tensor<4xf32> attributes {ipu.derivative = {forward = @there, backward = @back}} {
  return %x : tensor<4xf32>
}
func.func private @there(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
func.func private @back(%kept: tensor<4xf32>, %ct: tensor<4xf32>) -> tensor<4xf32> {
  return %kept : tensor<4xf32>
}
func.func private @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @layer(%x) {ipu.outlined} : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @layer(%a) {ipu.outlined} : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @own(%b) : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// CHECK: func.func private @layer_gradient(
// CHECK-NOT: func.func private @layer_gradient_1
// CHECK-LABEL: func.func private @of_calls(
// CHECK: %[[A:.*]] = call @layer(
// CHECK: %[[B:.*]] = call @layer(%[[A]])
// CHECK: %[[DA:.*]]:2 = call @layer_gradient(%[[A]], %[[B]])
// CHECK: %[[DX:.*]]:2 = call @layer_gradient(%{{.*}}, %[[DA]]#1)
// CHECK: return %[[B]], %[[DX]]#1
func.func private @of_calls(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ipu.gradient = {of = @calls, by = array<i64: 0>}}

// The slope of 1 / (1 + exp(-x)) is one of its value, and of nothing on the way to it.

func.func private @logistic(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %n = arith.negf %x : tensor<4xf32>
  %e = math.exp %n : tensor<4xf32>
  %s = arith.addf %one, %e : tensor<4xf32>
  %y = arith.divf %one, %s : tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK-LABEL: func.func private @of_logistic(
// CHECK: arith.divf
// CHECK-NOT: arith.divf
// CHECK: arith.subf
// CHECK-NOT: arith.divf
// CHECK: return
func.func private @of_logistic(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ipu.gradient = {of = @logistic, by = array<i64: 0>}}
