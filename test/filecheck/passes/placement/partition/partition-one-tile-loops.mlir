// RUN: ipu-opt %s --ipu-partition --split-input-file | filecheck %s

// A recurrence of a few elements: one tile has all of it.
// CHECK-DAG: #[[PARTS:p[0-9]+]] = #ipu.parts<{{\[}}[8, 8, 0]], 0>
// CHECK-LABEL: func.func @little_work
// CHECK: linalg.exp {{.*}}ipu.parts = #[[PARTS]]
func.func @little_work(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 100 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %y = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// All tiles are faster.
// CHECK-DAG: #[[PARTS:p[0-9]+]] = #ipu.parts<{{\[}}[{{[0-9]+}}, 100000, 1]], 0>
// CHECK-LABEL: func.func @much_work
// CHECK: linalg.exp {{.*}}ipu.parts = #[[PARTS]]
func.func @much_work(%x: tensor<100000xf32>) -> tensor<100000xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 100 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> tensor<100000xf32> {
    %e = tensor.empty() : tensor<100000xf32>
    %y = linalg.exp ins(%a : tensor<100000xf32>) outs(%e : tensor<100000xf32>) -> tensor<100000xf32>
    scf.yield %y : tensor<100000xf32>
  }
  return %r : tensor<100000xf32>
}
