// RUN: ipu-translate --to-numpy %s | filecheck %s
// Arguments of f16 become numbers just before they are read first, small ones before large ones. Of a table that is
// only gathered from, what is gathered becomes numbers.

// CHECK:      exp(arg3,
// CHECK:      f16_of_bits(arg1_scalar,
// CHECK:      f16_of_bits(arg0,
// CHECK:      add(
// CHECK:      arg2.take(
// CHECK:      f16_of_bits(
#id = affine_map<(d0) -> (d0)>
#first = affine_map<(d0) -> (0)>
func.func @main(%large: memref<8xf16>, %small: memref<1xf16>, %table: memref<40xf16>, %z: memref<8xf32>, %at: memref<8xi32>)
    -> (memref<8xf32>, memref<8xf16>, memref<8xf32>) {
  %e = memref.alloc() : memref<8xf32>
  %y = memref.alloc() : memref<8xf16>
  %g = memref.alloc() : memref<8xf32>
  linalg.exp ins(%z : memref<8xf32>) outs(%e : memref<8xf32>)
  linalg.generic {indexing_maps = [#id, #first, #id], iterator_types = ["parallel"]}
      ins(%large, %small : memref<8xf16>, memref<1xf16>) outs(%y : memref<8xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %sum = arith.addf %a, %b : f16
    linalg.yield %sum : f16
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%at : memref<8xi32>) outs(%g : memref<8xf32>) {
  ^bb0(%n: i32, %out: f32):
    %i = arith.index_cast %n : i32 to index
    %element = memref.load %table[%i] : memref<40xf16>
    %wide = arith.extf %element : f16 to f32
    linalg.yield %wide : f32
  }
  return %e, %y, %g : memref<8xf32>, memref<8xf16>, memref<8xf32>
}
