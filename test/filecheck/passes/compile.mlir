// RUN: ipu-opt %s --ipu-compile --split-input-file | filecheck %s
// RUN: ipu-opt %s --ipu-compile --split-input-file | ipu-opt --split-input-file --ipu-check-supersteps | filecheck %s
// RUN: ipu-opt %s --ipu-set-target --ipu-normalize --ipu-place --ipu-lower --split-input-file | filecheck %s

// CHECK-LABEL: func.func @matmul
// CHECK-SAME: (%[[X:.*]]: memref<64x48xf32, #{{.*}}>, %[[W:.*]]: memref<48x64xf32, #{{.*}}>) -> memref<64x64xf32, #[[GRID:.*]]>
// CHECK: "ipu.exchange"(%[[W]], %[[W1:[a-z0-9_]+]])
// CHECK: linalg.matmul {{.*}}outs(%[[Y:.*]] : memref<64x64xf32, #[[GRID]]>)
// CHECK: codelet = "matmul_f32"
// CHECK: return %[[Y]]
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @matmul(%x: tensor<64x48xf32>, %w: tensor<48x64xf32>) -> tensor<64x64xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x48xf32>, tensor<48x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
}

// -----

// One pass over the data, in place of three.
// CHECK-LABEL: func.func @bias_and_relu
// CHECK-COUNT-1: "ipu.vertices"
// CHECK-NOT: "ipu.vertices"
// CHECK: return
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @bias_and_relu(%x: tensor<4x3xf32>, %bias: tensor<3xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %zeros = arith.constant dense<0.0> : tensor<4x3xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %bias : tensor<4x3xf32>, tensor<3xf32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x3xf32>
  %r = arith.maximumf %s, %zeros : tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}
}

// -----

// The rows of a softmax stay on their tiles: no exchange between its steps.
// CHECK-LABEL: func.func @softmax
// CHECK: codelet = "reduce_f32"
// CHECK-NOT: "ipu.exchange"
// CHECK: codelet = "reduce_f32"
// CHECK-NOT: "ipu.exchange"
// CHECK: return
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @softmax(%x: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = tensor.empty() : tensor<8x6xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %m = linalg.reduce {arith.maximumf} ins(%x : tensor<8x6xf32>) outs(%m0 : tensor<8xf32>) dimensions = [1]
  %mb = linalg.broadcast ins(%m : tensor<8xf32>) outs(%f : tensor<8x6xf32>) dimensions = [1]
  %d = arith.subf %x, %mb : tensor<8x6xf32>
  %p = math.exp %d : tensor<8x6xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<8x6xf32>) outs(%s0 : tensor<8xf32>) dimensions = [1]
  %sb = linalg.broadcast ins(%s : tensor<8xf32>) outs(%f : tensor<8x6xf32>) dimensions = [1]
  %y = arith.divf %p, %sb : tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}
}

// -----

// CHECK-LABEL: func.func @sum_of_all
// CHECK-SAME: -> memref<f32, #{{.*}}>
// CHECK: linalg.fill
// CHECK: codelet = "reduce_f32"
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @sum_of_all(%x: tensor<4x6xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<4x6xf32>) outs(%s0 : tensor<f32>) dimensions = [0, 1]
  return %s : tensor<f32>
}
}

// -----

// CHECK-LABEL: func.func @pad
// CHECK-SAME: (%[[X:.*]]: memref<2x3xf32
// CHECK: %[[Y:.*]] = memref.alloc() : memref<4x5xf32
// CHECK: linalg.fill {{.*}}outs(%[[Y]]
// CHECK: %[[INNER:.*]] = memref.subview %[[Y]][1, 1] [2, 3] [1, 1]
// CHECK: "ipu.exchange"(%[[X]], %[[INNER]])
// CHECK: return %[[Y]]
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @pad(%x: tensor<2x3xf32>) -> tensor<4x5xf32> {
  %c = arith.constant 0.5 : f32
  %y = tensor.pad %x low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<2x3xf32> to tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}
}

// -----

// CHECK-LABEL: func.func @concat
// CHECK-SAME: (%[[X:.*]]: memref<2x3xi32, {{.*}}>, %[[Y:.*]]: memref<1x3xi32
// CHECK: %[[Z:.*]] = memref.alloc() : memref<3x3xi32
// CHECK-DAG: %[[FIRST:.*]] = memref.subview %[[Z]][0, 0] [2, 3]
// CHECK-DAG: %[[LAST:.*]] = memref.subview %[[Z]][2, 0] [1, 3]
// CHECK-DAG: "ipu.exchange"(%[[X]], %[[FIRST]])
// CHECK-DAG: "ipu.exchange"(%[[Y]], %[[LAST]])
// CHECK: return %[[Z]]
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @concat(%x: tensor<2x3xi32>, %y: tensor<1x3xi32>) -> tensor<3x3xi32> {
  %z = tensor.concat dim(0) %x, %y : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<3x3xi32>
  return %z : tensor<3x3xi32>
}
}

// -----

// CHECK-LABEL: func.func @slice
// CHECK: %[[S:.*]] = memref.subview %{{.*}}[1, 0] [2, 3] [1, 2]
// CHECK: "ipu.exchange"(%[[S]], %{{.*}})
// CHECK: return
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @slice(%x: tensor<4x6xf64>) -> tensor<2x3xf64> {
  %s = tensor.extract_slice %x[1, 0] [2, 3] [1, 2] : tensor<4x6xf64> to tensor<2x3xf64>
  return %s : tensor<2x3xf64>
}
}

// -----

// CHECK-LABEL: func.func @transpose
// CHECK-SAME: -> memref<6x4xf32
// CHECK-COUNT-1: "ipu.vertices"
// CHECK: return
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @transpose(%x: tensor<4x6xf32>) -> tensor<6x4xf32> {
  %e = tensor.empty() : tensor<6x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x6xf32>) outs(%e : tensor<6x4xf32>) permutation = [1, 0]
  return %t : tensor<6x4xf32>
}
}

// -----

// CHECK-LABEL: func.func @column_times_row
// CHECK: codelet = "mulf_f32"
// CHECK-NOT: "ipu.vertices"
// CHECK: return
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @column_times_row(%x: tensor<4xf32>, %y: tensor<6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4xf32>, tensor<6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<4x6xf32>
  return %z : tensor<4x6xf32>
}
}

// -----

// CHECK-LABEL: func.func @rank_zero
// CHECK-SAME: (%{{.*}}: memref<f32, #[[POINT:.*]]>) -> memref<f32, #[[POINT]]>
// CHECK: "ipu.vertices"
// CHECK: parts = #{{p[0-9]+}}
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @rank_zero(%x: tensor<f32>) -> tensor<f32> {
  %y = math.exp %x : tensor<f32>
  return %y : tensor<f32>
}
}

// -----

// CHECK: memref.global "private" constant @[[WEIGHTS:.*]] : memref<4xf32, #{{.*}}> = dense<[1.0
// CHECK-LABEL: func.func @constant
// CHECK: memref.get_global @[[WEIGHTS]]
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = arith.addf %x, %w : tensor<4xf32>
  return %y : tensor<4xf32>
}
}

// -----

// Neither result depends on the other: one synchronisation is enough.
// CHECK-LABEL: func.func @independent_ops_share_a_superstep
// CHECK-COUNT-1: "ipu.compute_set"
// CHECK-NOT: "ipu.compute_set"
// CHECK: return
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @independent_ops_share_a_superstep(%x: tensor<8xf32>, %y: tensor<4x4xf32>)
    -> (tensor<8xf32>, tensor<4x4xf32>) {
  %a = math.exp %x : tensor<8xf32>
  %b = math.log %y : tensor<4x4xf32>
  return %a, %b : tensor<8xf32>, tensor<4x4xf32>
}
}

// -----

// CHECK-LABEL: func.func @argument_comes_back
// CHECK-SAME: (%[[X:.*]]: memref
// CHECK-NEXT: return %[[X]]
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @argument_comes_back(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
}

// -----

// CHECK-LABEL: func.func @branch_on_data
// CHECK: "ipu.read_control"
// CHECK: scf.if
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @branch_on_data(%flag: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c = tensor.extract %flag[] : tensor<i1>
  %r = scf.if %c -> tensor<4xf32> {
    %y = arith.addf %x, %x : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
}
