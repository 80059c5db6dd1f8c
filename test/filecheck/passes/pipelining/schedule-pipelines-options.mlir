// RUN: ipu-opt %s --split-input-file --ipu-differentiate-stages --ipu-autodiff --ipu-split-stages --ipu-schedule-pipelines --canonicalize | filecheck %s

// The number of micro-batches is known at run time, results are added up, gradients are means in f32 that lie in remote
// memory, and a stage asks for the number of its micro-batch, and keeps a value.
// CHECK-DAG: "ipu.variable"() {init = dense<0.000000e+00> : tensor<4xf32>, offload, sym_name = "p_gradient_0", type = tensor<4xf32>}
// CHECK-LABEL: func.func private @p_first_gradient_forward(
// CHECK-SAME: tensor<i32>) -> (tensor<4xf16>, tensor<4xf16>, tensor<4xf16>)
// CHECK: "ipu.dequeue"
// CHECK-LABEL: func.func private @p_first_gradient_backward(
// CHECK-NOT: "ipu.dequeue"
// CHECK: return
// CHECK-LABEL: func.func private @run(
// CHECK: cf.assert %{{.*}}, "the pipeline @p takes a multiple of 4 micro-batches: 4, 8, 12 and so on"
// CHECK: "ipu.assign"(%{{.*}}) {variable = @p_gradient_0}
// CHECK: scf.for %[[I:.*]] = %c0 to %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<f16>
// CHECK: func.call @p_first_gradient_backward(
// CHECK: "ipu.read"() {variable = @p_gradient_0} : () -> tensor<4xf32>
// CHECK: arith.extf
// CHECK: "ipu.assign"
// CHECK: func.call @p_last_gradient_backward(
// CHECK: "ipu.read"() {variable = @p_gradient_1} : () -> tensor<4xf16>
// CHECK: %[[N:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK: tensor.from_elements %[[N]]
// CHECK: func.call @p_first_gradient_forward(
// CHECK-NOT: ipu.keep

"ipu.infeed"() {sym_name = "q", types = [tensor<4xf16>]} : () -> ()
"ipu.pipeline"() {sym_name = "p", stages = [@first, @last], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 0, 0>, schedule = "grouped", training, results = ["sum", "none"],
                  accumulators = [f32, f16], offload = ["gradients"], reduction = "running_mean",
                  recompute = "inputs"} : () -> ()

func.func private @first(%w: tensor<4xf16>) -> tensor<4xf16> {
  "ipu.dequeue"() {queue = @q} : () -> ()
  %x = "ipu.element"() {queue = @q, index = 0} : () -> tensor<4xf16>
  %n = "ipu.micro_batch"() : () -> tensor<i32>
  %i = tensor.extract %n[] : tensor<i32>
  %h = arith.sitofp %i : i32 to f16
  %e = tensor.empty() : tensor<4xf16>
  %c = linalg.fill ins(%h : f16) outs(%e : tensor<4xf16>) -> tensor<4xf16>
  %s = arith.mulf %x, %c : tensor<4xf16>
  %t = arith.mulf %s, %w : tensor<4xf16>
  %k = "ipu.keep"(%t) : (tensor<4xf16>) -> tensor<4xf16>
  %y = arith.mulf %k, %k : tensor<4xf16>
  return %y : tensor<4xf16>
}

func.func private @last(%w: tensor<4xf16>, %x: tensor<4xf16>) -> (tensor<f16>, tensor<4xf16>) {
  %y = arith.mulf %x, %w : tensor<4xf16>
  %s = arith.constant dense<0.0> : tensor<f16>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%y : tensor<4xf16>) outs(%s : tensor<f16>) {
  ^bb0(%a: f16, %b: f16):
    %c = arith.addf %a, %b : f16
    linalg.yield %c : f16
  } -> tensor<f16>
  return %r, %y : tensor<f16>, tensor<4xf16>
}

func.func private @run(tensor<4xf16>, tensor<4xf16>, tensor<i32>) -> (tensor<f16>, tensor<4xf32>, tensor<4xf16>)
    attributes {ipu.pipeline = @p}

func.func @main(%a: tensor<4xf16>, %b: tensor<4xf16>, %n: tensor<i32>) -> (tensor<f16>, tensor<4xf32>, tensor<4xf16>) {
  %r:3 = func.call @run(%a, %b, %n) : (tensor<4xf16>, tensor<4xf16>, tensor<i32>)
      -> (tensor<f16>, tensor<4xf32>, tensor<4xf16>)
  return %r#0, %r#1, %r#2 : tensor<f16>, tensor<4xf32>, tensor<4xf16>
}

// -----

// Two functions are one stage: they are given the same values, on IPUs of their own, and their cotangents are added up.
// Two micro-batches go through each stage before the next one begins.
// CHECK-LABEL: func.func private @run(
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK: func.call @p_first_gradient_forward(
// CHECK: scf.for
// CHECK: func.call @p_left_gradient_forward(
// CHECK: scf.for
// CHECK: func.call @p_right_gradient_forward(
// CHECK: scf.for
// CHECK: func.call @p_left_gradient_backward(
// CHECK: scf.for
// CHECK: func.call @p_right_gradient_backward(
// CHECK: scf.for
// CHECK: func.call @p_first_gradient_backward(

"ipu.pipeline"() {sym_name = "p", stages = [@first, @left, @right], devices = array<i64: 0, 0, 0>,
                  groups = array<i64: 0, 1, 1>, parameters = array<i64: 1, 1, 1>, data = array<i64: 1, 0, 0>,
                  count = 6 : i64, serialized = 2 : i64, schedule = "sequential", training} : () -> ()

func.func private @first(%w: tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  %y = arith.mulf %x, %w : tensor<f32>
  return %y : tensor<f32>
}

func.func private @left(%w: tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  %y = arith.mulf %x, %w : tensor<f32>
  return %y : tensor<f32>
}

func.func private @right(%w: tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  %y = arith.addf %x, %w : tensor<f32>
  return %y : tensor<f32>
}

func.func private @run(tensor<f32>, tensor<f32>, tensor<f32>, tensor<6xf32>)
    -> (tensor<6xf32>, tensor<6xf32>, tensor<f32>, tensor<f32>, tensor<f32>) attributes {ipu.pipeline = @p}
