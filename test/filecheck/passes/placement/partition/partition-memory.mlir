// RUN: ipu-opt %s --ipu-partition | filecheck %s --check-prefix=WHOLE
// RUN: ipu-opt %s --ipu-partition=available-memory-proportion=0.04 | filecheck %s --check-prefix=STEPS
// RUN: ipu-opt %s --ipu-partition=matmul-memory-proportion=0.04 | filecheck %s --check-prefix=STEPS
// RUN: ipu-opt %s --ipu-partition=conv-memory-proportion=0.04 | filecheck %s --check-prefix=WHOLE
// RUN: ipu-opt %s --ipu-partition='plan=balanced explain' 2>&1 | filecheck %s --check-prefix=BALANCED
// RUN: ipu-opt %s --ipu-partition=explain 2>&1 >%t | filecheck %s --check-prefix=EXPLAINED
// RUN: ipu-opt %s --ipu-partition='explain matmul-memory-proportion=0.04' 2>&1 >%t | filecheck %s --check-prefix=INSTEPS

// With little memory for operands, the sum runs in steps over slices of them; each adds to what the last one left, and
// is marked with the loop and where it begins in it.
// WHOLE-LABEL: func.func @main
// WHOLE-NOT: tensor.extract_slice
// WHOLE-LABEL: func.func @of_its_own
// WHOLE: tensor.extract_slice
// WHOLE-LABEL: func.func @named_by_a_scope
// WHOLE: tensor.extract_slice
// WHOLE-LABEL: func.func @named_by_no_proportion
// WHOLE-NOT: tensor.extract_slice

// STEPS-LABEL: func.func @main
// STEPS-SAME: (%[[X:.*]]: tensor<256x768xf32> {{.*}}, %[[W:.*]]: tensor<768x256xf32>
// STEPS: %[[ZERO:.*]] = linalg.fill
// STEPS: %[[X0:.*]] = tensor.extract_slice %[[X]][0, 0] [256, [[N:[0-9]+]]] [1, 1]
// STEPS: %[[W0:.*]] = tensor.extract_slice %[[W]][0, 0] {{\[}}[[N]], 256] [1, 1]
// STEPS: %[[FIRST:.*]] = linalg.generic
// STEPS-SAME: ins(%[[X0]], %[[W0]] : {{.*}} outs(%[[ZERO]] :
// STEPS-SAME: attrs = {{{.*}}ipu.parts = #[[PARTS:p[0-9]+]], ipu.step = array<i64: 2, 0>}
// STEPS: %[[X1:.*]] = tensor.extract_slice %[[X]][0, [[N]]] [256, [[N]]] [1, 1]
// STEPS: linalg.generic
// STEPS-SAME: ins(%[[X1]], %{{.*}} outs(%[[FIRST]] :
// STEPS-SAME: attrs = {{{.*}}ipu.parts = #[[PARTS]], ipu.step = array<i64: 2, [[N]]>}

// BALANCED-NOT: temporary
// BALANCED-LABEL: func.func @main
// BALANCED: linalg.matmul
// BALANCED-NOT: tensor.extract_slice

// EXPLAINED: partition-memory.mlir:[[#]]:[[#]]: linalg.matmul (matmul_f32), 256 x 256 x 768, 383,385 B for temporaries
// EXPLAINED-NEXT: compute brought combined total temporary resident parts
// EXPLAINED-NEXT: * {{[0-9,]+}} {{[0-9,]+}} {{[0-9,]+}} {{[0-9,]+}} {{[0-9,]+}} {{[0-9,]+}} {{[0-9]+}} x {{[0-9]+}} x {{[0-9]+}} = 16 tiles (grid)
// EXPLAINED: linalg.generic (reduce_f32)

// INSTEPS: linalg.matmul (matmul_f32), 256 x 256 x 768, 25,559 B for temporaries
// INSTEPS: (grid, too large)
// INSTEPS: * in {{[0-9]+}} steps over {{[0-9]+}} iterations of loop d2 each
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 16}>} {
func.func @main(%x: tensor<256x768xf32>, %w: tensor<768x256xf32>) -> tensor<256x256xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %y = linalg.matmul ins(%x, %w : tensor<256x768xf32>, tensor<768x256xf32>) outs(%z : tensor<256x256xf32>)
    -> tensor<256x256xf32>
  return %y : tensor<256x256xf32>
}

func.func @of_its_own(%x: tensor<256x768xf32>, %w: tensor<768x256xf32>) -> tensor<256x256xf32>
    attributes {ipu.available_memory_proportion = 0.04 : f64} {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %y = linalg.matmul ins(%x, %w : tensor<256x768xf32>, tensor<768x256xf32>) outs(%z : tensor<256x256xf32>)
    -> tensor<256x256xf32>
  return %y : tensor<256x256xf32>
}

func.func @named_by_a_scope(%x: tensor<256x768xf32>, %w: tensor<768x256xf32>) -> tensor<256x256xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %y = linalg.matmul ins(%x, %w : tensor<256x768xf32>, tensor<768x256xf32>) outs(%z : tensor<256x256xf32>)
    -> tensor<256x256xf32> loc("ipu.available_memory_proportion.0.5/ipu.available_memory_proportion.0.04_1/MatMul")
  return %y : tensor<256x256xf32>
}

func.func @named_by_no_proportion(%x: tensor<256x768xf32>, %w: tensor<768x256xf32>) -> tensor<256x256xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %y = linalg.matmul ins(%x, %w : tensor<256x768xf32>, tensor<768x256xf32>) outs(%z : tensor<256x256xf32>)
    -> tensor<256x256xf32> loc("ipu.available_memory_proportion.0/MatMul")
  return %y : tensor<256x256xf32>
}
}
