// RUN: ipu-opt %s | filecheck %s
// RUN: ipu-opt %s | ipu-opt | filecheck %s
// RUN: ipu-opt %s --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

#home = #ipu.mapping<12, [[2, 3, 4, 1], [4, 4, 1, 0]], 0, 0>
#one = #ipu.mapping<12, [[12, 12, 1, 0]], 0, 0>

// CHECK:      #t0 = #ipu.target<{tiles_per_ipu = 4}>
// CHECK-NEXT: #m0 = #ipu.mapping<12, {{\[\[2, 3, 4, 1\], \[4, 4, 1, 0\]\]}}, 0, 0>
// CHECK-NEXT: #m1 = #ipu.mapping<12, {{\[\[12, 12, 1, 0\]\]}}, 0, 0>
// CHECK-NEXT: module attributes {ipu.note = "#ipu.mapping<0>", ipu.target = #t0}
module attributes {ipu.note = "#ipu.mapping<0>", ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
  // CHECK: func.func @main(%[[X:.*]]: memref<3x4xf32, #m0>) -> memref<3x4xf32, #m1>
  func.func @main(%x: memref<3x4xf32, #home>) -> memref<3x4xf32, #one> {
    // CHECK: memref.alloc() : memref<3x4xf32, #m1>
    %a = memref.alloc() : memref<3x4xf32, #one>
    // CHECK: "ipu.exchange"(%[[X]], %{{.*}}) : (memref<3x4xf32, #m0>, memref<3x4xf32, #m1>) -> ()
    "ipu.exchange"(%x, %a) : (memref<3x4xf32, #home>, memref<3x4xf32, #one>) -> ()
    // GENERIC: "func.return"(%{{.*}}) : (memref<3x4xf32, #m1>) -> ()
    return %a : memref<3x4xf32, #one>
  }
}
