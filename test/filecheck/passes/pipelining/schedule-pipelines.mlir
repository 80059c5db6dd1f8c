// RUN: ipu-opt %s --ipu-differentiate-stages --ipu-autodiff --ipu-split-stages --ipu-schedule-pipelines --canonicalize | filecheck %s
// RUN: sed 's/"grouped"/"interleaved"/' %s | ipu-opt --ipu-differentiate-stages --ipu-autodiff --ipu-split-stages --ipu-schedule-pipelines --canonicalize | filecheck %s --check-prefix=INTER
// RUN: sed 's/"grouped"/"sequential"/' %s | ipu-opt --ipu-differentiate-stages --ipu-autodiff --ipu-split-stages --ipu-schedule-pipelines --canonicalize | filecheck %s --check-prefix=SEQ

// Grouped: 8 micro-batches through 4 positions take 11 slots, and each is an iteration. What the first stage stores waits
// in rings of three rows: the backward part, which comes first, reads the row that is written then, if there is a
// micro-batch at all. What moves between IPUs does so behind all stages.
// CHECK-LABEL: func.func @main(
// CHECK: scf.for %{{.*}} = %c0 to %c11
// CHECK: scf.if
// CHECK: tensor.extract_slice {{.*}} : tensor<3x3x4xf32> to tensor<3x4xf32>
// CHECK: func.call @p_first_gradient_backward({{.*}}) {ipu.outlined, ipu.shard = 0 : i64}
// CHECK: scf.if
// CHECK: func.call @p_last_gradient_backward({{.*}}) {ipu.outlined, ipu.shard = 1 : i64}
// CHECK: scf.if
// CHECK: func.call @p_last_gradient_forward({{.*}}) {ipu.outlined, ipu.shard = 1 : i64}
// CHECK: scf.if
// CHECK: func.call @p_first_gradient_forward({{.*}}) {ipu.outlined, ipu.shard = 0 : i64}
// CHECK: tensor.insert_slice {{.*}} : tensor<3x4xf32> into tensor<3x3x4xf32>
// CHECK: else
// CHECK: "ipu.to_shard"
// CHECK: scf.yield
// CHECK-NOT: ipu.pipeline

// Interleaved: two slots in an iteration, in the first of which IPU 0 goes forwards and IPU 1 backwards.
// INTER-LABEL: func.func @main(
// INTER: scf.for %{{.*}} = %c0 to %c9
// INTER: func.call @p_last_gradient_backward(
// INTER: func.call @p_first_gradient_forward(
// INTER: tensor<2x3x4xf32>
// INTER: "ipu.to_shard"
// INTER: func.call @p_first_gradient_backward(
// INTER: func.call @p_last_gradient_forward(

// Sequential: one stage after the other, and nothing waits.
// SEQ-LABEL: func.func @main(
// SEQ: scf.for %{{.*}} = %c0 to %c8
// SEQ-NOT: scf.if
// SEQ: func.call @p_first_gradient_forward(
// SEQ: func.call @p_last_gradient_forward(
// SEQ: func.call @p_last_gradient_backward(
// SEQ: func.call @p_first_gradient_backward(

"ipu.pipeline"() {sym_name = "p", stages = [@first, @last], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 8 : i64, schedule = "grouped", training} : () -> ()

func.func private @first(%w: tensor<4x4xf32>, %x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %z = arith.constant dense<0.0> : tensor<3x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x4xf32>) outs(%z : tensor<3x4xf32>) -> tensor<3x4xf32>
  %t = math.tanh %y : tensor<3x4xf32>
  return %t : tensor<3x4xf32>
}

func.func private @last(%w: tensor<4x4xf32>, %x: tensor<3x4xf32>) -> tensor<f32> {
  %z = arith.constant dense<0.0> : tensor<3x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x4xf32>) outs(%z : tensor<3x4xf32>) -> tensor<3x4xf32>
  %s = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
                       iterator_types = ["reduction", "reduction"]}
      ins(%y : tensor<3x4xf32>) outs(%s : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %a : f32
    %c = arith.addf %m, %b : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

func.func private @run(tensor<4x4xf32>, tensor<4x4xf32>, tensor<8x3x4xf32>)
    -> (tensor<8xf32>, tensor<4x4xf32>, tensor<4x4xf32>) attributes {ipu.pipeline = @p}

func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %x: tensor<8x3x4xf32>)
    -> (tensor<8xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %r:3 = func.call @run(%a, %b, %x) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<8x3x4xf32>)
      -> (tensor<8xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
  return %r#0, %r#1, %r#2 : tensor<8xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
