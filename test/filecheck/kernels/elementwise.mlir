// RUN: ipu-translate --to-kernels %s | filecheck %s
// RUN: ipu-translate --to-numpy --kernels=always %s | filecheck %s --check-prefix=NUMPY
// RUN: ipu-translate --to-numpy %s | filecheck %s --check-prefix=NEVER
// Statements over the same points are one nest: what only it uses is not stored, and loops that act as one are one.

// CHECK:      llvm.func internal @[[NEST:nest_[0-9a-f]+]](%array0: !llvm.ptr, %array1: !llvm.ptr, %array2: !llvm.ptr)
// CHECK:      scf.for %[[I:.*]] = {{.*}} : i64 {
// CHECK:        %[[A:.*]] = llvm.load {{.*}} -> vector<16xf32>
// CHECK:        %[[B:.*]] = llvm.load {{.*}} -> vector<16xf32>
// CHECK-NEXT:   %[[S:.*]] = arith.mulf %[[A]], %[[B]] : vector<16xf32>
// CHECK-NOT:    llvm.store
// CHECK:        arith.addf %[[S]], %{{.*}} : vector<16xf32>
// CHECK:        llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
// CHECK-NEXT: } {loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
// the last four points have a mask
// CHECK:      arith.cmpi slt, {{.*}} : vector<16xi64>
// CHECK:      llvm.intr.masked.store
// CHECK:      llvm.func @run0(%array0: !llvm.ptr, %array1: !llvm.ptr, %array2: !llvm.ptr) attributes {no_inline} {
// CHECK:        llvm.call @[[NEST]](
// CHECK:      llvm.func @table

// NUMPY:      run0 = memory.kernel('run0')
// NUMPY:      def main(arg0, arg1, result0):
// NUMPY:        run0.run(arg0, arg1, result0)

// NEVER-NOT:  kernel
// NEVER:      multiply(
func.func @main(%a: memref<5x20xf32>, %b: memref<5x20xf32>) -> memref<5x20xf32> {
  %s = memref.alloc() : memref<5x20xf32>
  %c = memref.alloc() : memref<5x20xf32>
  linalg.mul ins(%a, %b : memref<5x20xf32>, memref<5x20xf32>) outs(%s : memref<5x20xf32>)
  linalg.add ins(%s, %a : memref<5x20xf32>, memref<5x20xf32>) outs(%c : memref<5x20xf32>)
  return %c : memref<5x20xf32>
}
