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

// -----

module attributes {ipu.target = #ipu.target<{tiles_per_ipu=16}>} {
// Four ops or more that are the last on tensors of their own, as updates of weights are, have a share of the tiles each:
// on all of them, each tile would begin a vertex for each op. Twice as many elements take twice as many tiles.
// CHECK-DAG: #[[A:p[0-9]*]] = #ipu.parts<{{\[}}[134, 400, 1]], 0>
// CHECK-DAG: #[[B:p[0-9]*]] = #ipu.parts<{{\[}}[134, 400, 1]], 3>
// CHECK-DAG: #[[C:p[0-9]*]] = #ipu.parts<{{\[}}[134, 800, 1]], 6>
// CHECK-LABEL: func.func @updates
// CHECK: linalg.sub {{{.*}}ipu.parts = #[[A]]}
// CHECK: linalg.sub {{{.*}}ipu.parts = #[[B]]}
// CHECK: linalg.sub {{{.*}}ipu.parts = #[[C]]}
// CHECK: linalg.exp
func.func @updates(%w: tensor<400xf32>, %g: tensor<400xf32>, %b: tensor<400xf32>, %h: tensor<400xf32>, %v: tensor<800xf32>, %f: tensor<800xf32>, %x: tensor<8xf32>) -> (tensor<400xf32>, tensor<400xf32>, tensor<800xf32>, tensor<8xf32>) {
  %a = tensor.empty() : tensor<400xf32>
  %z = tensor.empty() : tensor<400xf32>
  %c = tensor.empty() : tensor<800xf32>
  %d = tensor.empty() : tensor<8xf32>
  %n = linalg.sub ins(%w, %g : tensor<400xf32>, tensor<400xf32>) outs(%a : tensor<400xf32>) -> tensor<400xf32>
  %m = linalg.sub ins(%b, %h : tensor<400xf32>, tensor<400xf32>) outs(%z : tensor<400xf32>) -> tensor<400xf32>
  %o = linalg.sub ins(%v, %f : tensor<800xf32>, tensor<800xf32>) outs(%c : tensor<800xf32>) -> tensor<800xf32>
  %e = linalg.exp ins(%x : tensor<8xf32>) outs(%d : tensor<8xf32>) -> tensor<8xf32>
  return %n, %m, %o, %e : tensor<400xf32>, tensor<400xf32>, tensor<800xf32>, tensor<8xf32>
}
}

// -----

module attributes {ipu.target = #ipu.target<{tiles_per_ipu=16}>} {
// Ops that share an operand, and one whose result is read, are none of them.
// CHECK-DAG: #[[ALL:p[0-9]*]] = #ipu.parts<{{\[}}[26, 400, 1]], 0>
// CHECK-LABEL: func.func @not_apart
// CHECK-COUNT-5: linalg.{{[a-z]+}} {{{.*}}ipu.parts = #[[ALL]]}
func.func @not_apart(%w: tensor<400xf32>, %g: tensor<400xf32>, %h: tensor<400xf32>, %v: tensor<400xf32>) -> (tensor<400xf32>, tensor<400xf32>, tensor<400xf32>, tensor<400xf32>) {
  %a = tensor.empty() : tensor<400xf32>
  %n = linalg.sub ins(%w, %g : tensor<400xf32>, tensor<400xf32>) outs(%a : tensor<400xf32>) -> tensor<400xf32>
  %m = linalg.exp ins(%h : tensor<400xf32>) outs(%a : tensor<400xf32>) -> tensor<400xf32>
  %o = linalg.sub ins(%w, %m : tensor<400xf32>, tensor<400xf32>) outs(%a : tensor<400xf32>) -> tensor<400xf32>
  %p = linalg.sub ins(%w, %v : tensor<400xf32>, tensor<400xf32>) outs(%a : tensor<400xf32>) -> tensor<400xf32>
  %q = linalg.abs ins(%g : tensor<400xf32>) outs(%a : tensor<400xf32>) -> tensor<400xf32>
  return %n, %o, %p, %q : tensor<400xf32>, tensor<400xf32>, tensor<400xf32>, tensor<400xf32>
}
}
