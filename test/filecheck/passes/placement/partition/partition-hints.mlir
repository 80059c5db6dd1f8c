// RUN: ipu-opt %s --ipu-partition --split-input-file | filecheck %s
// RUN: ipu-opt %s --ipu-partition --ipu-partition --split-input-file | filecheck %s

// CHECK-DAG: #[[HINT:m[0-9]+]] = #ipu.mapping<8, {{\[}}[4, 8, 1, 1]], 0, 2>
// CHECK-DAG: #[[PARTS:p[0-9]+]] = #ipu.parts<{{\[}}[4, 8, 1]], 2>
// CHECK-LABEL: func.func @argument_lies_where_its_hint_says_and_ops_follow
// CHECK-SAME: {ipu.map = #[[HINT]], my.own}
// CHECK: linalg.exp {{{.*}}ipu.parts = #[[PARTS]]}
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @argument_lies_where_its_hint_says_and_ops_follow(
    %x: tensor<8xf32> {ipu.map = #ipu.mapping<8, [[4, 8, 1, 1]], 0, 2>, my.own}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
}

// -----

// CHECK-DAG: #[[HOME:m[0-9]+]] = #ipu.mapping<8, {{\[}}[4, 8, 1, 1]], 0, 1>
// CHECK-DAG: #[[HINT:p[0-9]+]] = #ipu.parts<{{\[}}[4, 8, 1]], 1>
// CHECK-LABEL: func.func @op_runs_as_its_hint_says_and_its_neighbours_follow
// CHECK-SAME: {ipu.map = #[[HOME]]}
// CHECK: linalg.exp {{{.*}}ipu.parts = #[[HINT]]}
// CHECK: linalg.log {{{.*}}ipu.parts = #[[HINT]]}
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @op_runs_as_its_hint_says_and_its_neighbours_follow(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %f = tensor.empty() : tensor<8xf32>
  %y = linalg.exp {ipu.parts = #ipu.parts<[[4, 8, 1]], 1>}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %z = linalg.log ins(%y : tensor<8xf32>) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}
}

// -----

// CHECK-DAG: #[[TILE:p[0-9]+]] = #ipu.parts<{{\[}}[8, 8, 0]], 3>
// CHECK-LABEL: func.func @op_runs_where_its_result_is_placed
// CHECK: linalg.exp {{{.*}}ipu.parts = #[[TILE]]}
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @op_runs_where_its_result_is_placed(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %z = "ipu.place"(%y) {mapping = #ipu.mapping<8, [[8, 8, 1, 0]], 0, 3>} : (tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}
}

// -----

// CHECK-DAG: #[[HINT:m[0-9]+]] = #ipu.mapping<8, {{\[}}[8, 8, 1, 0]], 0, 3>
// CHECK-LABEL: func.func @placed_argument_lies_there
// CHECK-SAME: {ipu.map = #[[HINT]]}
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @placed_argument_lies_there(%x: tensor<8xf32>) -> tensor<8xf32> {
  %z = "ipu.place"(%x) {mapping = #ipu.mapping<8, [[8, 8, 1, 0]], 0, 3>} : (tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}
}
