// RUN: ipu-translate --to-kernels --kernels=auto %s | filecheck %s
// RUN: ipu-translate --to-llvm --kernels=auto %s | filecheck %s --check-prefix=LLVM
// RUN: ipu-translate --to-numpy --kernels=auto %s | filecheck %s --check-prefix=NUMPY
// A loop on numbers is one kernel; the number that only it uses is no memory of the program. What is called for
// elements of the host is not in it, and what the loop before asks now and then is whether somebody wants to stop it.

// CHECK:      llvm.func internal @interrupted() -> i64
// CHECK:      llvm.func @loop0(%array0: !llvm.ptr, %array1: !llvm.ptr) attributes {no_inline} {
// CHECK:        llvm.alloca
// CHECK:        scf.while : () -> () {
// CHECK:          arith.cmpf olt, {{.*}} : f32
// CHECK:          llvm.call @interrupted
// CHECK:          scf.condition
// CHECK:        } do {
// CHECK:          arith.mulf {{.*}} : f32
// CHECK:          scf.yield

// LLVM:       llvm.func @loop0(%arg0: !llvm.ptr, %arg1: !llvm.ptr) attributes {no_inline}

// NUMPY:      loop0 = memory.kernel('loop0')
// NUMPY:      def main(arg0, arg1, result0):
// NUMPY:        loop0.run(
func.func @main(%x: memref<f32>, %limit: memref<f32>) -> memref<f32> {
  %factor = arith.constant 1.5 : f32
  %n = memref.alloc() : memref<f32>
  memref.copy %x, %n : memref<f32> to memref<f32>
  scf.while : () -> () {
    %now = memref.load %n[] : memref<f32>
    %end = memref.load %limit[] : memref<f32>
    %more = arith.cmpf olt, %now, %end : f32
    scf.condition(%more)
  } do {
    %now = memref.load %n[] : memref<f32>
    %next = arith.mulf %now, %factor : f32
    memref.store %next, %n[] : memref<f32>
    scf.yield
  }
  return %n : memref<f32>
}
