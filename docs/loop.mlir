// x times exp(w), ten times.
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
