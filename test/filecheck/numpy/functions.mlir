// RUN: ipu-translate --to-numpy %s | filecheck %s
// A function is there once, however often it is called; what it is handed lies row by row, so that a copy of rows is
// not made, but one of columns is.

// CHECK:      def double([[T:.*]], [[U:.*]]):
// CHECK:        add([[T]], [[T]], [[U]])
// CHECK:      def main(arg0, result0, result1):
// CHECK-NEXT:   # func.call
// CHECK-NEXT:   arg0_2x4 = strided(arg0, 4, (2, 4), (4, 1))
// CHECK-NEXT:   double(arg0_2x4, result0)
// CHECK:        copyto(alloc_0, arg0_2x4t, 'unsafe')
// CHECK:        double(alloc_0, result1)
func.func private @double(%t: memref<2x4xf32>) -> memref<2x4xf32> {
  %u = memref.alloc() : memref<2x4xf32>
  linalg.add ins(%t, %t : memref<2x4xf32>, memref<2x4xf32>) outs(%u : memref<2x4xf32>)
  return %u : memref<2x4xf32>
}
func.func @main(%x: memref<4x4xf32>) -> (memref<2x4xf32>, memref<2x4xf32>) {
  %rows = memref.alloc() : memref<2x4xf32>
  %columns = memref.alloc() : memref<2x4xf32>
  %low = memref.subview %x[1, 0] [2, 4] [1, 1] : memref<4x4xf32> to memref<2x4xf32, strided<[4, 1], offset: 4>>
  %left = memref.subview %x[0, 0] [4, 2] [1, 1] : memref<4x4xf32> to memref<4x2xf32, strided<[4, 1]>>
  memref.copy %low, %rows : memref<2x4xf32, strided<[4, 1], offset: 4>> to memref<2x4xf32>
  %0 = func.call @double(%rows) {ipu.outlined} : (memref<2x4xf32>) -> memref<2x4xf32>
  linalg.transpose ins(%left : memref<4x2xf32, strided<[4, 1]>>) outs(%columns : memref<2x4xf32>) permutation = [1, 0]
  %1 = func.call @double(%columns) {ipu.outlined} : (memref<2x4xf32>) -> memref<2x4xf32>
  return %0, %1 : memref<2x4xf32>, memref<2x4xf32>
}
