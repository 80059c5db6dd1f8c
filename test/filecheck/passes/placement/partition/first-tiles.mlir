// RUN: ipu-opt %s --ipu-partition --split-input-file | filecheck %s

module attributes {ipu.target = #ipu.target<{tiles_per_ipu=16}>} {
// Ops that take few tiles and have nothing to do with each other begin behind one another; what reads them begins where
// they do.
// CHECK-DAG: #[[AT0:p[0-9]*]] = #ipu.parts<{{\[}}[2, 8, 1]], 0>
// CHECK-DAG: #[[AT4:p[0-9]*]] = #ipu.parts<{{\[}}[2, 8, 1]], 4>
// CHECK-LABEL: func.func @apart
// CHECK: linalg.exp {{{.*}}ipu.parts = #[[AT0]]}
// CHECK: linalg.log {{{.*}}ipu.parts = #[[AT4]]}
// CHECK: linalg.abs {{{.*}}ipu.parts = #[[AT4]]}
func.func @apart(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = tensor.empty() : tensor<8xf32>
  %b = tensor.empty() : tensor<8xf32>
  %c = tensor.empty() : tensor<8xf32>
  %e = linalg.exp ins(%x : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  %l = linalg.log ins(%y : tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
  %m = linalg.abs ins(%l : tensor<8xf32>) outs(%c : tensor<8xf32>) -> tensor<8xf32>
  return %e, %m : tensor<8xf32>, tensor<8xf32>
}
}

// -----

module attributes {ipu.target = #ipu.target<{tiles_per_ipu=16}>} {
// What is used together begins in one place.
// CHECK-DAG: #[[ONE:p[0-9]*]] = #ipu.parts<{{\[}}[2, 8, 1]], 0>
// CHECK-LABEL: func.func @together
// CHECK: linalg.exp {{{.*}}ipu.parts = #[[ONE]]}
// CHECK: linalg.log {{{.*}}ipu.parts = #[[ONE]]}
// CHECK: linalg.add {{{.*}}ipu.parts = #[[ONE]]}
func.func @together(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %a = tensor.empty() : tensor<8xf32>
  %b = tensor.empty() : tensor<8xf32>
  %c = tensor.empty() : tensor<8xf32>
  %e = linalg.exp ins(%x : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  %l = linalg.log ins(%y : tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
  %m = linalg.add ins(%e, %l : tensor<8xf32>, tensor<8xf32>) outs(%c : tensor<8xf32>) -> tensor<8xf32>
  return %m : tensor<8xf32>
}
}

// -----

module attributes {ipu.target = #ipu.target<{tiles_per_ipu=16}>} {
// What takes more than half of the tiles begins at the first one.
// CHECK-DAG: #[[WIDE:p[0-9]*]] = #ipu.parts<{{\[}}[2, 32, 1]], 0>
// CHECK-LABEL: func.func @wide
// CHECK: linalg.exp {{{.*}}ipu.parts = #[[WIDE]]}
// CHECK: linalg.log {{{.*}}ipu.parts = #[[WIDE]]}
func.func @wide(%x: tensor<32xf32>, %y: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %a = tensor.empty() : tensor<32xf32>
  %b = tensor.empty() : tensor<32xf32>
  %e = linalg.exp ins(%x : tensor<32xf32>) outs(%a : tensor<32xf32>) -> tensor<32xf32>
  %l = linalg.log ins(%y : tensor<32xf32>) outs(%b : tensor<32xf32>) -> tensor<32xf32>
  return %e, %l : tensor<32xf32>, tensor<32xf32>
}
}
