// RUN: ipu-opt %s --ipu-partition --ipu-place-tensors --split-input-file | filecheck %s

// What a loop carries lies where its initial value lies; what the body computes elsewhere moves back.
// CHECK-DAG: #[[TILE:m[0-9]+]] = #ipu.mapping<8, {{\[}}[8, 8, 1, 0]], 0, 3>
// CHECK-DAG: #[[SPREAD:m[0-9]+]] = #ipu.mapping<8, {{\[}}[2, 8, 1, 1]], 0, 0>
// CHECK-LABEL: func.func @carried_value_of_a_for
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %arg0) -> (tensor<8xf32, #[[TILE]]>)
// CHECK: %[[S:.*]] = linalg.exp {{.*}} -> tensor<8xf32, #[[SPREAD]]>
// CHECK: %[[BACK:.*]] = tensor.cast %[[S]] : tensor<8xf32, #[[SPREAD]]> to tensor<8xf32, #[[TILE]]>
// CHECK: scf.yield %[[BACK]] : tensor<8xf32, #[[TILE]]>
// CHECK: return %[[R]] : tensor<8xf32, #[[TILE]]>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @carried_value_of_a_for(%x: tensor<8xf32> {ipu.map = #ipu.mapping<8, [[8, 8, 1, 0]], 0, 3>}, %n: index)
    -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%carried = %x) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %s = linalg.exp {ipu.parts = #ipu.parts<[[2, 8, 1]], 0>}
        ins(%carried : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
}

// -----

// Results of a branch lie where its first arm leaves them.
// CHECK-DAG: #[[TILE:m[0-9]+]] = #ipu.mapping<4, {{\[}}[4, 4, 1, 0]], 0, 3>
// CHECK-DAG: #[[OTHER:m[0-9]+]] = #ipu.mapping<4, {{\[}}[4, 4, 1, 0]], 0, 2>
// CHECK-LABEL: func.func @result_of_an_if
// CHECK: scf.if {{.*}} -> (tensor<4xf32, #[[TILE]]>)
// CHECK: scf.yield %arg1 : tensor<4xf32, #[[TILE]]>
// CHECK: %[[MOVED:.*]] = tensor.cast %arg2 : tensor<4xf32, #[[OTHER]]> to tensor<4xf32, #[[TILE]]>
// CHECK: scf.yield %[[MOVED]] : tensor<4xf32, #[[TILE]]>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @result_of_an_if(%c: i1, %x: tensor<4xf32> {ipu.map = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 3>},
    %y: tensor<4xf32> {ipu.map = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 2>}) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
}

// -----

// CHECK-DAG: #[[TILE:m[0-9]+]] = #ipu.mapping<1, [], 0, 3>
// CHECK-LABEL: func.func @carried_value_of_a_while
// CHECK: scf.while (%{{.*}} = %arg0) : (tensor<i32, #[[TILE]]>) -> tensor<i32, #[[TILE]]>
// CHECK: %[[N:.*]] = tensor.extract %{{.*}}[] : tensor<i32, #[[TILE]]>
// CHECK: ^bb0(%{{.*}}: tensor<i32, #[[TILE]]>):
// CHECK: scf.yield %{{.*}} : tensor<i32, #[[TILE]]>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @carried_value_of_a_while(%x: tensor<i32> {ipu.map = #ipu.mapping<1, [], 0, 3>}) -> tensor<i32> {
  %ten = arith.constant 10 : i32
  %r = scf.while (%carried = %x) : (tensor<i32>) -> tensor<i32> {
    %n = tensor.extract %carried[] : tensor<i32>
    %c = arith.cmpi slt, %n, %ten : i32
    scf.condition(%c) %carried : tensor<i32>
  } do {
  ^bb0(%carried: tensor<i32>):
    %e = tensor.empty() : tensor<i32>
    %s = linalg.add ins(%carried, %carried : tensor<i32>, tensor<i32>) outs(%e : tensor<i32>) -> tensor<i32>
    scf.yield %s : tensor<i32>
  }
  return %r : tensor<i32>
}
}
