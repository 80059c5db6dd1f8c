// RUN: ipu-translate --to-numpy %s | filecheck %s
// An argument, a slice, and a buffer that is given back twice are copied.

// CHECK:      def main(arg0, result0, result1, result2, result3):
// CHECK-DAG:    exp(arg0, result2)
// CHECK-DAG:    copyto(result0, arg0
// CHECK-DAG:    copyto(result1, result2
// CHECK-DAG:    copyto(result3, result2
func.func @main(%x: memref<8xf32>) -> (memref<8xf32>, memref<2xf32, strided<[4], offset: 1>>, memref<8xf32>, memref<8xf32>) {
  %y = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
  %s = memref.subview %y[1] [2] [4] : memref<8xf32> to memref<2xf32, strided<[4], offset: 1>>
  return %x, %s, %y, %y : memref<8xf32>, memref<2xf32, strided<[4], offset: 1>>, memref<8xf32>, memref<8xf32>
}
