// RUN: ipu-opt %s --ipu-partition --split-input-file | filecheck %s

// CHECK-DAG: #[[HOME:m[0-9]+]] = #ipu.mapping<8, {{\[}}[2, 8, 1, 1]], 0, 0>
// CHECK-DAG: #[[PARTS:p[0-9]+]] = #ipu.parts<{{\[}}[2, 8, 1]], 0>
// CHECK-LABEL: func.func @element_wise_op_runs_on_all_tiles_and_its_operand_lies_there
// CHECK-SAME: tensor<8xf32> {ipu.map = #[[HOME]]}
// CHECK: linalg.exp {{{.*}}ipu.parts = #[[PARTS]]}
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @element_wise_op_runs_on_all_tiles_and_its_operand_lies_there(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
}

// -----

// Two f32 are one word of 8 bytes: three elements stay on two tiles, the last one ragged.
// CHECK-DAG: #[[PARTS:p[0-9]+]] = #ipu.parts<{{\[}}[2, 3, 1]], 0>
// CHECK-DAG: #[[WORDS:p[0-9]+]] = #ipu.parts<{{\[}}[1, 3, 1]], 0>
// CHECK-DAG: #[[BYTES:p[0-9]+]] = #ipu.parts<{{\[}}[8, 9, 1]], 2>
// CHECK-LABEL: func.func @tiles_write_whole_words
// CHECK: linalg.exp {{{.*}}ipu.parts = #[[PARTS]]}
// CHECK: linalg.exp {{{.*}}ipu.parts = #[[WORDS]]}
// CHECK: linalg.max {{{.*}}ipu.parts = #[[BYTES]]}
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @tiles_write_whole_words(%x: tensor<3xf32>, %z: tensor<3xf64>, %b: tensor<9xi8>)
    -> (tensor<3xf32>, tensor<3xf64>, tensor<9xi8>) {
  %e = tensor.empty() : tensor<3xf32>
  %y = linalg.exp ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %f = tensor.empty() : tensor<3xf64>
  %w = linalg.exp ins(%z : tensor<3xf64>) outs(%f : tensor<3xf64>) -> tensor<3xf64>
  %g = tensor.empty() : tensor<9xi8>
  %v = linalg.max ins(%b, %b : tensor<9xi8>, tensor<9xi8>) outs(%g : tensor<9xi8>) -> tensor<9xi8>
  return %y, %w, %v : tensor<3xf32>, tensor<3xf64>, tensor<9xi8>
}
}

// -----

// The initial fill runs in the blocks of the matmul, although it has one loop less; the reduction loop is whole.
// CHECK-DAG: #[[FILL:p[0-9]+]] = #ipu.parts<{{\[}}[16, 64, 1], [64, 64, 0]], 0>
// CHECK-DAG: #[[MATMUL:p[0-9]+]] = #ipu.parts<{{\[}}[16, 64, 1], [64, 64, 0], [48, 48, 0]], 0>
// CHECK-LABEL: func.func @matmul_runs_by_rows_where_only_one_operand_has_to_move
// CHECK: linalg.fill {{{.*}}ipu.parts = #[[FILL]]}
// CHECK: linalg.matmul {{{.*}}ipu.parts = #[[MATMUL]]}
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @matmul_runs_by_rows_where_only_one_operand_has_to_move(%x: tensor<64x48xf32>, %w: tensor<48x64xf32>) -> tensor<64x64xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x48xf32>, tensor<48x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
}

// -----

// CHECK-DAG: #[[ONE:p[0-9]+]] = #ipu.parts<{{\[}}[8, 8, 0]], 0>
// CHECK-DAG: #[[POINT:p[0-9]+]] = #ipu.parts<[], 0>
// CHECK-LABEL: func.func @reduction_to_a_scalar_stays_on_one_tile
// CHECK: linalg.fill {{{.*}}ipu.parts = #[[POINT]]}
// CHECK: linalg.reduce
// CHECK-SAME: {{{.*}}ipu.parts = #[[ONE]]}
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @reduction_to_a_scalar_stays_on_one_tile(%x: tensor<8xf32>) -> tensor<f32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %y = linalg.reduce {arith.addf} ins(%x : tensor<8xf32>) outs(%z : tensor<f32>) dimensions = [0]
  return %y : tensor<f32>
}
}

// -----

// CHECK-DAG: #[[ROW:m[0-9]+]] = #ipu.mapping<8, {{\[}}[2, 8, 1, 1]], 0, 0>
// CHECK-DAG: #[[HALVES:m[0-9]+]] = #ipu.mapping<4, {{\[}}[2, 4, 1, 1]], 0, 0>
// CHECK-LABEL: func.func @tensors_that_no_op_reads_are_placed_as_well
// CHECK-SAME: tensor<4xf32> {ipu.map = #[[HALVES]]}
// CHECK: tensor.empty() {ipu.map = #[[ROW]]}
// CHECK: arith.constant {ipu.map = #[[HALVES]]} dense
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @tensors_that_no_op_reads_are_placed_as_well(%x: tensor<4xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %k = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %a = tensor.insert_slice %x into %e[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %b = tensor.insert_slice %k into %a[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %b : tensor<8xf32>
}
}

// -----

// A scalar operand is part of the code, not of the memory of tiles.
// CHECK-LABEL: func.func @scalar_argument_has_no_place
// CHECK-SAME: (%{{.*}}: f32, %{{.*}}: tensor<4xf32> {ipu.map
// CHECK: linalg.generic
// CHECK-SAME: ipu.parts
func.func @scalar_argument_has_no_place(%c: f32, %x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %c : f32
    linalg.yield %p : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK: func.func private @declaration_stays(tensor<4xf32>)
func.func private @declaration_stays(tensor<4xf32>)

// -----

// CHECK-LABEL: func.func @nothing_to_place
// CHECK-NEXT: return
func.func @nothing_to_place() {
  return
}
