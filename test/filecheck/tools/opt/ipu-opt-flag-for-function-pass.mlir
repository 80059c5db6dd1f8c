// A pass that runs on functions needs no func.func(...) when it is given as a flag.
// RUN: ipu-opt %s --buffer-loop-hoisting | filecheck %s
// RUN: not ipu-opt %s --pass-pipeline='buffer-loop-hoisting' 2>&1 | filecheck %s --check-prefix=NESTED
// NESTED: ipu-opt: error: pass 'buffer-loop-hoisting' runs on func.func, not on builtin.module; write func.func(buffer-loop-hoisting)

// CHECK-LABEL: func.func @allocation_leaves_the_loop
func.func @allocation_leaves_the_loop(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: memref.alloc
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<4xf32>
    memref.store %x, %a[%c0] : memref<4xf32>
  }
  return
}
