// RUN: ipu-translate --to-numpy %s | filecheck %s
// What reads a copy reads its source, through the transposition; what reads a fill computes with the number.

// CHECK:      def main(arg0, result0):
// CHECK-NOT:  copyto
// CHECK:      add([[X:.*]], f_1, result0)
// CHECK-NOT:  exp
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: memref<3x4xf32>) -> memref<4x3xf32> {
  %one = arith.constant 1.0 : f32
  %copy = memref.alloc() : memref<4x3xf32>
  %ones = memref.alloc() : memref<4x3xf32>
  %y = memref.alloc() : memref<4x3xf32>
  %dead = memref.alloc() : memref<4x3xf32>
  linalg.transpose ins(%x : memref<3x4xf32>) outs(%copy : memref<4x3xf32>) permutation = [1, 0]
  linalg.fill ins(%one : f32) outs(%ones : memref<4x3xf32>)
  linalg.exp ins(%copy : memref<4x3xf32>) outs(%dead : memref<4x3xf32>)
  linalg.add ins(%copy, %ones : memref<4x3xf32>, memref<4x3xf32>) outs(%y : memref<4x3xf32>)
  return %y : memref<4x3xf32>
}
