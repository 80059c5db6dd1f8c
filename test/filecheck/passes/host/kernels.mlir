// RUN: ipu-opt %s --ipu-kernels=kernels=always | filecheck %s
// RUN: ipu-opt %s --ipu-kernels=kernels=never | filecheck %s --check-prefix=NUMPY

// The kernel, the use that it makes of each array, the ops whose work it does; the memory between them is planned.

// CHECK: func.func private @run0(memref<8xf32> {ipu.use = "read"}, memref<8xf32> {ipu.use = "write"}) attributes {ipu.kernel = @kernels::@run0}
// CHECK: func.func private @loop1(memref<8xf32> {ipu.use = "read"}, memref<8xf32> {ipu.use = "read, write"}) attributes {ipu.kernel = @kernels::@loop1}
// CHECK: func.func @main(%[[W:.*]]: memref<8xf32>, %[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>) {
// CHECK-NEXT: call @run0(%[[X]], %[[Y]]) {ipu.ops = ["memref.copy at
// CHECK-NEXT: call @loop1(%[[W]], %[[Y]]) {ipu.ops = ["scf.for at {{.*}}", "linalg.exp at {{.*}}", "linalg.mul at
// CHECK-NEXT: return
// CHECK: module @kernels {
// CHECK: llvm.func @run0(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK: llvm.func @loop1(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK: scf.for

// Without kernels, each call is a line of NumPy, on memory that is planned.

// NUMPY: memref.global "private" @temporaries : memref<64xi8>
// NUMPY: func.func private @multiply(memref<8xf32>, memref<8xf32>) attributes {ipu.numpy = "multiply({0}, {1}, {0})"}
// NUMPY: func.func @main(%[[W:.*]]: memref<8xf32>, %[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>) {
// NUMPY: %[[E:.*]] = memref.view %{{.*}}[%{{.*}}][] : memref<64xi8> to memref<8xf32>
// NUMPY: call @copyto(%[[X]], %[[Y]])
// NUMPY: scf.for
// NUMPY-NEXT: call @exp(%[[W]], %[[E]])
// NUMPY-NEXT: call @multiply(%[[Y]], %[[E]])
// NUMPY-NOT: module @kernels
func.func @main(%w: memref<8xf32>, %x: memref<8xf32>) -> memref<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %a = memref.alloc() : memref<8xf32>
  %e = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  scf.for %i = %c0 to %c10 step %c1 {
    linalg.exp ins(%w : memref<8xf32>) outs(%e : memref<8xf32>)
    linalg.mul ins(%a, %e : memref<8xf32>, memref<8xf32>) outs(%a : memref<8xf32>)
  }
  return %a : memref<8xf32>
}
